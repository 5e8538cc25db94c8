import { publicKeys } from '../signing/verify.ts';
import { poolConflict } from './conflict.ts';
import type { PoolFile, TakenName } from './list-changes.ts';
import { reachedBy } from './reach.ts';
import { phase, type RunContext } from './run-context.ts';
import { enteredSuites } from './suite-register.ts';

/**
 * What is to be known of names that turned out to hold other bytes, to plan without them: which suites list them. None does when an
 * interrupted run has left the object: a package that is built once more is rarely the same to the byte, and must not be locked out.
 *
 * Throws `pool-conflict` for a name that was known to be taken before: then the command has no other name for the file.
 */
export async function takenNames(
  run: RunContext,
  suite: string,
  files: readonly PoolFile[],
  known: readonly TakenName[],
): Promise<TakenName[]> {
  const again = files.find(({ key }) => known.some(({ filename }) => filename === key));
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  const keys = files.map(({ key }) => key);
  const reached = await phase(run, 'read', suite, async ({ store }) =>
    reachedBy(store, trusted, await enteredSuites(store, suite), keys),
  );
  // What this suite itself lists under the name was judged when it was planned.
  const suitesOf = (key: string) => [...(reached.get(key) ?? [])].filter((each) => each !== suite).sort();
  if (again !== undefined) throw poolConflict(again, suitesOf(again.key));
  return files.map(({ key }) => ({ filename: key, suites: suitesOf(key) }));
}
