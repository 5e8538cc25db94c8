import { publicKeys } from '../signing/verify.ts';
import type { Claim } from './claim-guard.ts';
import { lookAtPool, type PoolSight, replacePoolRecord, settledPool } from './pool-look.ts';
import { reachedBy } from './reach.ts';
import type { Phase, RunContext } from './run-context.ts';

/** How many settled files the record of the pool remembers, so that the suites can forget them. */
const remembered = 5000;

/**
 * Removes pool files that one suite no longer lists and whose grace is over. They are condemned in the record of the pool first;
 * only then are the suites read, so that a publisher who lists one of them either is seen here, or sees it condemned. What some
 * suite still reaches is taken back.
 *
 * `due`: at most 1000 names, one batch delete.
 */
export async function cleanPool(
  run: RunContext,
  { store }: Phase,
  claim: Claim,
  due: readonly string[],
): Promise<void> {
  const { suite, record } = claim;
  const { conditions } = record;
  const quiet = await settledPool(run, store, conditions);
  const already = new Set(quiet.record?.settled ?? []);
  const files = due.filter((file) => !already.has(file));
  if (files.length === 0) return;
  const at = run.clock.monotonic();
  const settled = quiet.record?.settled ?? [];
  const condemned = await replacePoolRecord(run, store, conditions, quiet, { condemned: files, settled });
  if (!condemned.swapped) return;
  const mine: PoolSight = { version: quiet.version + 1, etag: condemned.etag };
  let done: string[] = [];
  try {
    const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
    const reached = await reachedBy(store, trusted, files);
    const unreached = files.filter((file) => !reached.has(file));
    if (!(await stillMine(run, store, mine, at))) return;
    if (unreached.length > 0) await store.delete(unreached);
    // A file that another suite lists is that suite's to remove; one of a kept generation of this suite is asked for again.
    done = files.filter((file) => reached.get(file)?.has(suite) !== true);
  } finally {
    const all = [...settled, ...done].slice(-remembered);
    await replacePoolRecord(run, store, conditions, mine, { condemned: [], settled: all });
  }
}

/** Past its time limit a cleaner may have been taken over, and what it condemned may be listed again. */
async function stillMine(run: RunContext, store: Phase['store'], mine: PoolSight, at: number): Promise<boolean> {
  if (run.clock.monotonic() - at < run.claimLimit) return true;
  return (await lookAtPool(store)).version === mine.version;
}
