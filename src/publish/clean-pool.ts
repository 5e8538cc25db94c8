import { publicKeys } from '../signing/verify.ts';
import { type Claim, Overtaken } from './claim-guard.ts';
import { type PoolSight, replacePoolRecord, settledPool } from './pool-look.ts';
import { isSettled, type PoolRecord } from './pool-record.ts';
import { reachedBy } from './reach.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import type { SuiteRecord } from './suite-record.ts';
import { enteredSuites } from './suite-register.ts';

/**
 * What is due waits until there is one file for so many suites, since each suite is asked whether it still reaches them: so the requests
 * grow with what is removed, whatever the number of suites, and where there are few nothing waits.
 */
const suitesPerFile = 16;
/** But no longer than this past its grace: milliseconds. */
const patience = 30 * 24 * 3600_000;

/** How many settled files the record of the pool remembers, so that the suites can forget them. */
const remembered = 5000;

/**
 * Removes pool files that one suite no longer lists and whose grace is over. They are condemned in the record of the pool first;
 * only then are the suites read, so that a publisher who lists one of them either is seen here, or sees it condemned. What some
 * suite still reaches is taken back.
 *
 * `due`: files past their grace, at most 1000: one batch delete. `overdue`: by how much the oldest is, milliseconds.
 */
export async function cleanPool(
  run: RunContext,
  claim: Claim,
  due: SuiteRecord['unlisted'],
  overdue: number,
): Promise<void> {
  const { suite, record } = claim;
  const { conditions } = record;
  await phase(run, 'clean', suite, async (cleaning) => {
    if (overdue < patience && due.length * suitesPerFile < (await enteredSuites(cleaning.store, suite)).length) return;
    const quiet = await settledPool(run, cleaning.store, conditions);
    const files = due.filter((file) => !isSettled(quiet.record, suite, file)).map(({ filename }) => filename);
    if (files.length === 0) return;
    const settled = quiet.record?.settled ?? [];
    const at = run.clock.monotonic();
    const condemned = await replacePoolRecord(run, cleaning.store, conditions, quiet, { condemned: files, settled });
    if (!condemned.swapped) return;
    const mine: PoolSight = { version: quiet.version + 1, etag: condemned.etag };
    let done: PoolRecord['settled'] = [];
    try {
      done = await removeUnreached(run, cleaning, suite, files, at);
    } finally {
      const all = [...settled, ...done].slice(-remembered);
      await replacePoolRecord(run, cleaning.store, conditions, mine, { condemned: [], settled: all });
    }
  });
}

/** Deletes what no suite reaches, and tells which of the files this suite may forget. */
async function removeUnreached(
  run: RunContext,
  { store }: Phase,
  suite: string,
  files: readonly string[],
  condemnedAt: number,
): Promise<PoolRecord['settled']> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  const reached = await reachedBy(store, trusted, await enteredSuites(store, suite), files);
  const unreached = files.filter((file) => !reached.has(file));
  // Past its time limit a cleaner may have been taken over, and what it condemned may be listed again.
  const inTime = async () => {
    if (run.clock.monotonic() - condemnedAt >= run.claimLimit)
      throw new Overtaken('The time for cleaning the pool is over.');
  };
  if (unreached.length > 0) {
    await phase(run, 'clean', suite, (removing) => removing.store.delete(unreached), { before: inTime });
  }
  const at = new Date(run.clock.now()).toISOString();
  // One that a kept generation of this suite reaches is asked for again.
  return files
    .filter((file) => reached.get(file)?.has(suite) !== true)
    .map((filename) => ({ filename, ...(reached.has(filename) ? { suite } : {}), at }));
}
