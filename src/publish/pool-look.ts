import { Problem } from '../problem.ts';
import { ownAttributes } from './attributes.ts';
import { poolRecordKey } from './layout.ts';
import { type PoolRecord, parsePoolRecord, renderPoolRecord } from './pool-record.ts';
import type { Phase, RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { type Swapped, swap } from './swap.ts';
import { wave } from './wave.ts';

/** The record of the pool as it was read; version 0 when nothing was ever removed. */
export interface PoolSight {
  readonly version: number;
  readonly record?: PoolRecord;
  readonly etag?: string;
  /** Seconds since it was written, by the store's clock. */
  readonly age?: number | undefined;
}

export async function lookAtPool(store: Phase['store']): Promise<PoolSight> {
  const object = await store.get(poolRecordKey);
  if (!object.found) return { version: 0 };
  const record = parsePoolRecord(object.body);
  return { version: record.version, record, etag: object.etag, age: object.age };
}

/** Writes the next version of the record of the pool by compare-and-swap. */
export function replacePoolRecord(
  run: RunContext,
  store: Phase['store'],
  conditions: Conditions,
  seen: PoolSight,
  change: Pick<PoolRecord, 'condemned' | 'settled'>,
): Promise<Swapped> {
  const record: PoolRecord = {
    schema: 'apt-publish/pool/1',
    version: seen.version + 1,
    cleaner: { run: run.run, limitSeconds: Math.ceil(run.claimLimit / 1000) },
    ...change,
  };
  return swap(store, run.clock, conditions, {
    key: poolRecordKey,
    body: renderPoolRecord(record),
    attributes: ownAttributes,
    expected: seen.etag === undefined ? { absent: true } : { etag: seen.etag },
  });
}

/** How long between two looks at a record that somebody else is working on, at first and at most: milliseconds. */
export const firstPause = 250;
export const longestPause = 3000;
/** Added to somebody else's limit: stores tell the age of an object in whole seconds. */
const margin = 2000;

/**
 * Waits until nobody is removing pool files. A cleaner past its time limit is taken over: what it condemned is taken back, which
 * loses nothing, since the suites that no longer list a file still say so in their records.
 */
export async function settledPool(run: RunContext, store: Phase['store'], conditions: Conditions): Promise<PoolSight> {
  let waitingFor: { version: number; until: number } | undefined;
  let pause = firstPause;
  for (;;) {
    const sight = await lookAtPool(store);
    if (sight.record === undefined || sight.record.condemned.length === 0) return sight;
    const limit = sight.record.cleaner.limitSeconds * 1000 + margin;
    const now = run.clock.monotonic();
    if (waitingFor?.version !== sight.version) {
      waitingFor = { version: sight.version, until: now + Math.max(0, limit - (sight.age ?? 0) * 1000) };
    }
    if (now < waitingFor.until) {
      await run.clock.sleep(Math.min(pause, waitingFor.until - now));
      pause = Math.min(longestPause, pause * 1.5);
      continue;
    }
    await replacePoolRecord(run, store, conditions, sight, { condemned: [], settled: sight.record.settled });
  }
}

/** How often files may have to be put again because somebody cleaned in between. */
const rounds = 20;

/**
 * The publisher's second look, after its claim: a cleaner has either seen the claim, or is seen here. If anything was removed
 * since `seen`, or one of the new files stands condemned, they are put again (`putAgain`) once the cleaning is settled, and it is
 * looked at once more (invariant 2).
 */
export async function secondLook(
  run: RunContext,
  { store }: Phase,
  conditions: Conditions,
  seen: number,
  files: readonly string[],
  putAgain: () => Promise<void>,
): Promise<void> {
  const mine = new Set(files);
  let version = seen;
  for (let round = 1; round <= rounds; round += 1) {
    const now = await lookAtPool(store);
    const condemned = now.record?.condemned ?? [];
    if (now.version === version && !condemned.some((file) => mine.has(file))) return;
    version = condemned.length === 0 ? now.version : (await settledPool(run, store, conditions)).version;
    await putAgain();
  }
  throw new Problem({
    code: 'pool-unsettled',
    title: 'The pool is being cleaned all the time',
    what: `Pool files were removed ${rounds} times while this run tried to commit.`,
    advice: 'Run the job again when less is going on.',
  });
}

/** Of the problem that a file which is to be named is not there. */
export const poolFileGone = 'pool-file-gone';

/** For files that a run names without having them: what was removed meanwhile cannot be put again. */
export async function requirePoolFiles({ store }: Phase, suite: string, filenames: readonly string[]): Promise<void> {
  const found = await wave(filenames, async (filename) => (await store.head(filename)).found);
  const gone = filenames.filter((_, index) => found[index] === false);
  const [first] = gone;
  if (first === undefined) return;
  throw new Problem({
    code: poolFileGone,
    title: 'A pool file was removed in the meantime',
    what: `Suite ${suite} is to list ${gone.length} pool files, ${first} first, that were removed since they were looked at.`,
    advice: 'Publish those packages again, from their files.',
  });
}
