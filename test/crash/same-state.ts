import { recordKey, suiteOfRecordKey } from '../../src/publish/layout.ts';
import { parseSuiteRecord, type SuiteRecord } from '../../src/publish/suite-record.ts';
import { contentHash, type Objects } from '../race/object-model.ts';

/**
 * Compares the state that a run and a rerun have come to with the state of a run that nothing disturbed. Objects are the same when
 * their bytes are; records may differ in who claimed and when. What `explained` names may be left over.
 */
export function differences(left: Objects, undisturbed: Objects, explained: ReadonlySet<string>): string[] {
  const keys = new Set([...left.keys(), ...undisturbed.keys()].filter((key) => !ownAlone.has(key)));
  return [...keys].sort().flatMap((key) => {
    const is = left.get(key);
    const was = undisturbed.get(key);
    if (is === undefined) return [`${key} is missing`];
    if (was === undefined) return explained.has(key) ? [] : [`${key} is left over`];
    return essence(key, is.body) === essence(key, was.body) ? [] : [`${key} differs`];
  });
}

/** Pool files that a suite's record still has to remove: nobody lists them, and their name is not forgotten. */
export function unlisted(objects: Objects): string[] {
  return [...objects].flatMap(([key, { body }]) => {
    const suite = suiteOfRecordKey(key);
    return suite === undefined ? [] : parseSuiteRecord(body, suite).unlisted.map(({ filename }) => filename);
  });
}

/** Objects that say how far a probe or a cleaning has come, not what is published. */
const ownAlone = new Set(['.apt-publish/probe', recordKey('pool')]);

function essence(key: string, body: Uint8Array): string {
  const suite = suiteOfRecordKey(key);
  if (suite === undefined) return contentHash(body);
  const record = parseSuiteRecord(body, suite);
  const timeless: SuiteRecord = {
    ...record,
    claim: { ...record.claim, run: 'any-run-' },
    generation: anybodys({ ...record.generation, poolVersion: 0 }),
    kept: record.kept.map((kept) => anybodys({ ...kept, until: '' })),
    fading: record.fading.map((index) => ({ ...index, until: '' })),
    unlisted: record.unlisted.map((file) => ({ ...file, since: '' })),
  };
  return JSON.stringify(timeless);
}

/** Without the name of the run that has made it. */
function anybodys<T extends Pick<SuiteRecord['generation'], 'made'>>(generation: T): T {
  const { made } = generation;
  return made === undefined ? generation : { ...generation, made: { ...made, run: 'any-run-' } };
}
