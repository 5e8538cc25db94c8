import { Problem } from '../problem.ts';
import { type Condition, type ObjectStore, TransientStoreError } from '../store/object-store.ts';
import { canonicalAttributes } from './attributes.ts';
import { assertMine, type Claim, isMine, Overtaken } from './claim-guard.ts';
import { byHashKey, canonicalKey, headKey } from './layout.ts';
import { putName, restore } from './restore.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';
import { swap } from './swap.ts';
import { together, wave } from './wave.ts';

/** How a claim ended: committed, or taken over by somebody who finishes it in this run's place. */
export type Finished = 'committed' | 'overtaken';

/** How often a commit is repeated on a head that changed although the claim is still this run's. */
const commits = 10;

/**
 * Everything between a claim and its end: rename, then commit. It follows from the record alone, so that the claimer does it and,
 * after a crash, anybody else who has taken the claim over (invariant 3).
 *
 * `expected` is the head that was read together with the record; `beside` runs beside the renames and must have ended before the
 * commit (the second look at the pool). Nothing here can make the head go back (invariant 4).
 */
export async function finish(
  run: RunContext,
  claim: Claim,
  expected: Condition,
  beside: (phase: Phase) => Promise<void>,
): Promise<Finished> {
  try {
    await phase(run, 'rename', claim.suite, async (renaming) => {
      const { renames } = claim.record.generation;
      renaming.scope.expect(renames.length + 2);
      await together(
        wave(renames, (index) => rename(run, claim, renaming, index)),
        writeReleaseGpg(run, claim, renaming),
        beside(renaming),
      );
    });
    if (await commit(run, claim, expected)) return 'committed';
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
  }
  await phase(run, 'rename', claim.suite, (restoring) => {
    const paths = claim.record.generation.renames.map(({ path }) => path);
    return restore(run, claim.suite, paths, restoring);
  });
  return 'overtaken';
}

/** A canonical name becomes a server-side copy of the by-hash object: there is nothing to delete after it. */
async function rename(run: RunContext, claim: Claim, { store }: Phase, index: StoredIndex): Promise<void> {
  await assertMine(claim, store, run.clock);
  const { suite } = claim;
  const from = byHashKey(suite, index.path, index.sha256);
  const answer = await store.copy(from, canonicalKey(suite, index.path), canonicalAttributes(index.path, index.sha256));
  if ('written' in answer) return;
  throw new Problem({
    code: 'by-hash-missing',
    title: 'A staged index is gone',
    what: `${index.path} of suite ${suite} was staged as ${from}, and now that object does not exist.`,
    advice: 'Look for a lifecycle rule or a script that deletes objects under dists/, then run the job again.',
  });
}

async function writeReleaseGpg(run: RunContext, claim: Claim, { store }: Phase): Promise<void> {
  const { releaseGpg } = claim.record.generation;
  if (releaseGpg === undefined) return;
  await assertMine(claim, store, run.clock);
  await putName(store, claim.suite, 'Release.gpg', releaseGpg);
}

/** Writes the head by compare-and-swap, and Release beside it. False when the claim turns out to be somebody else's by now. */
function commit(run: RunContext, claim: Claim, expected: Condition): Promise<boolean> {
  const { suite, record } = claim;
  const { head, releaseGpg } = record.generation;
  const signed = releaseGpg !== undefined;
  return phase(run, 'commit', suite, async ({ store }) => {
    const key = headKey(suite, signed);
    const object = { key, body: Buffer.from(head), attributes: canonicalAttributes(key) };
    let condition = expected;
    for (let attempt = 1; attempt <= commits; attempt += 1) {
      await assertMine(claim, store, run.clock);
      const [swapped] = await together(
        swap(store, run.clock, record.conditions, { ...object, expected: condition }),
        signed ? writeRelease(run, claim, store) : undefined,
      );
      if (swapped.swapped && swapped.answered) return true;
      // The head first, the record second: only then may that head be replaced.
      const now = await store.get(key);
      if (!(await isMine(claim, store))) return false;
      if (swapped.swapped) return true;
      condition = now.found ? { etag: now.etag } : { absent: true };
    }
    throw new Problem({
      code: 'commit-refused',
      title: 'The head cannot be replaced',
      what: `The head of suite ${suite} changed ${commits} times under a claim that is still this run's.`,
      advice: 'Find out what else writes into this repository and stop it, then run the job again.',
    });
  });
}

/** The head is what counts: a run whose head was written has published, also when Release beside it was not. */
async function writeRelease(run: RunContext, { suite, releaseText }: Claim, store: ObjectStore): Promise<void> {
  try {
    await putName(store, suite, 'Release', releaseText);
  } catch (error) {
    if (!(error instanceof Problem || error instanceof TransientStoreError)) throw error;
    run.warn(
      `Release of suite ${suite} could not be written; the next run puts it right. Readers of InRelease are not concerned.`,
    );
  }
}
