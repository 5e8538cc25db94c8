import { suiteOfRecordKey } from '../../src/publish/layout.ts';
import { parseSuiteRecord, renderSuiteRecord, type SuiteRecord } from '../../src/publish/suite-record.ts';
import { differences, unlisted } from '../crash/same-state.ts';
import type { RepositoryCheck, Snapshot } from '../publish/repository-check.ts';
import type { Objects } from '../race/object-model.ts';

/** The records of all suites. */
export function recordsOf(snapshot: Snapshot): [key: string, record: SuiteRecord][] {
  return [...snapshot].flatMap(([key, body]) => {
    const suite = suiteOfRecordKey(key);
    return suite === undefined ? [] : [[key, parseSuiteRecord(body, suite)] as [string, SuiteRecord]];
  });
}

/** How the state after a rerun differs from that of a run that nobody has killed; what the records still have to remove may be left over. */
export async function differencesOf(check: RepositoryCheck, left: Snapshot, undisturbed: Snapshot): Promise<string[]> {
  const explained = new Set([...(await check.explained(left)), ...unlisted(asObjects(left))]);
  return differences(asObjects(left), asObjects(undisturbed), explained);
}

/** With records that do not tell which objects have just been deleted, and until when that counts: the objects themselves are compared. */
function asObjects(snapshot: Snapshot): Objects {
  const timeless = recordsOf(snapshot).map(([key, record]): [string, Uint8Array] => [
    key,
    renderSuiteRecord({ ...record, fading: [] }),
  ]);
  const attributes = { contentType: '', cacheControl: '' };
  return new Map(
    [...snapshot, ...timeless].map(([key, body]) => [key, { body, etag: '', attributes, modified: 0 }] as const),
  );
}

/** How far a run had come when it died, as its traces in the store tell. */
export const moments = ['nothing written', 'before the claim', 'between claim and commit', 'after the commit'] as const;
export type Moment = (typeof moments)[number];

export function momentOf(before: Snapshot, left: Snapshot): Moment {
  const records = recordsOf(left);
  const isApart = ([, { suite, generation }]: (typeof records)[number]) => {
    const head = left.get(`dists/${suite}/InRelease`);
    return head === undefined || Buffer.from(generation.head).compare(head) !== 0;
  };
  if (records.some(isApart)) return 'between claim and commit';
  const isChanged = (key: string) => Buffer.compare(left.get(key) ?? empty, before.get(key) ?? empty) !== 0;
  if (records.some(([key]) => isChanged(key))) return 'after the commit';
  return [...left.keys()].some(isChanged) ? 'before the claim' : 'nothing written';
}

const empty = Buffer.alloc(0);
