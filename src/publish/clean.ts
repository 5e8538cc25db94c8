import { Problem } from '../problem.ts';
import { type Claim, Overtaken } from './claim-guard.ts';
import { cleanPool } from './clean-pool.ts';
import { byHashKey } from './layout.ts';
import { phase, type RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/** What one DeleteObjects request takes. */
const batchSize = 1000;
/** How long a pool file stays after the last suite stopped listing it: clients fetch with lists of days ago. Milliseconds. */
const poolGrace = 7 * 24 * 3600_000;

/**
 * After the commit: deletes the by-hash objects that this claim has condemned, and pool files whose grace is over. A run that may
 * not delete has published all the same (invariant 7): it says so, and the next one that may will find them.
 */
export async function clean(run: RunContext, claim: Claim): Promise<void> {
  const { suite, record } = claim;
  const now = run.clock.now();
  const due = record.unlisted.filter(({ since }) => now - Date.parse(since) > poolGrace);
  if (record.condemned.length === 0 && due.length === 0) return;
  try {
    if (record.condemned.length > 0) {
      const keys = record.condemned.map(({ path, sha256 }) => byHashKey(suite, path, sha256));
      // Past the limit a publisher may have staged one of them again; the next claim condemns them once more.
      const inTime = { before: () => claim.assertInTime(run) };
      await phase(run, 'clean', suite, ({ store }) => wave(batches(keys), (batch) => store.delete(batch)), inTime);
    }
    if (due.length > 0) {
      const oldest = Math.min(...due.map(({ since }) => Date.parse(since)));
      await cleanPool(run, claim, due.slice(0, batchSize), now - oldest - poolGrace);
    }
  } catch (error) {
    if (error instanceof Overtaken) return;
    if (!(error instanceof Problem)) throw error;
    run.warn(`Suite ${suite} is published; old files were not removed: ${error.what}`);
  }
}

function batches(keys: readonly string[]): string[][] {
  const count = Math.ceil(keys.length / batchSize);
  return Array.from({ length: count }, (_, index) => keys.slice(index * batchSize, (index + 1) * batchSize));
}
