import { Problem } from '../problem.ts';
import { type Condition, type ObjectStore, TransientStoreError } from '../store/object-store.ts';
import { canonicalAttributes } from './attributes.ts';
import { putName } from './canonical-name.ts';
import { type Claim, Overtaken } from './claim-guard.ts';
import { byHashKey, headKey } from './layout.ts';
import { type RenameHints, type StagedBytes, writeCanonical } from './rename-method.ts';
import { restore } from './restore.ts';
import { type Phase, type PhaseGuard, phase, type RunContext } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';
import { swap } from './swap.ts';
import { together, wave } from './wave.ts';

/** How a claim ended: committed, or taken over by somebody who finishes it in this run's place. */
export type Finished = 'committed' | 'overtaken';

/** How often a commit is repeated on a head that changed although the claim is still this run's. */
const commits = 10;

/** What there is to do at the same time. */
export interface Beside {
  /** The second look at the pool: it must have ended before the commit. */
  readonly renames: (renaming: Phase) => Promise<void>;
  /** What nothing depends on, so that it costs no round trip of its own. Never throws. */
  readonly commit?: () => Promise<void>;
}

/**
 * Everything between a claim and its end: rename, then commit. It follows from the record alone, so that the claimer does it and,
 * after a crash, anybody else who has taken the claim over (invariant 3).
 *
 * `expected` is the head that was read together with the record; `staged` is what this run has at hand of what it claims.
 * Nothing here can make the head go back (invariant 4).
 */
export async function finish(
  run: RunContext,
  claim: Claim,
  expected: Condition,
  beside: Beside,
  staged?: StagedBytes,
): Promise<Finished> {
  const guard: PhaseGuard = { before: (store) => claim.assertMine(run, store), after: () => claim.writeEnded(run) };
  const { slowCopies = false } = claim.record;
  const hints = { staged, slowCopies, first: isFirst(claim, expected) };
  try {
    const rename = (renaming: Phase) => renameAll(run, claim, renaming, beside.renames, hints);
    await phase(run, 'rename', claim.suite, rename, guard);
    const committing = (phase: Phase) => commit(run, claim, expected, phase);
    const [outcome] = await together(phase(run, 'commit', claim.suite, committing, guard), beside.commit?.());
    if (outcome === 'release late') {
      await phase(run, 'rename', claim.suite, (restoring) => restore(run, claim.suite, [], restoring));
    }
    if (outcome !== 'overtaken') return 'committed';
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
  }
  // What was written in time was written before anybody else could have begun.
  if (claim.late) {
    const paths = claim.record.generation.renames.map(({ path }) => path);
    await phase(run, 'rename', claim.suite, (restoring) => restore(run, claim.suite, paths, restoring));
  }
  return 'overtaken';
}

async function renameAll(
  run: RunContext,
  claim: Claim,
  renaming: Phase,
  beside: (phase: Phase) => Promise<void>,
  hints: RenameHints,
): Promise<void> {
  const { renames, releaseGpg } = claim.record.generation;
  renaming.scope.expect(renames.length + 2);
  await together(
    wave(renames, (index) => rename(run, claim, renaming, index, hints)),
    releaseGpg === undefined ? undefined : putName(renaming.store, claim.suite, 'Release.gpg', releaseGpg, hints),
    beside(renaming),
  );
}

/** A canonical name becomes a copy of the by-hash object: there is nothing to delete after it. */
async function rename(
  run: RunContext,
  claim: Claim,
  { store }: Phase,
  index: StoredIndex,
  hints: RenameHints,
): Promise<void> {
  const { suite } = claim;
  if (await writeCanonical(run, store, suite, index, hints)) return;
  // Whoever took the claim over may have given it up, and removed what it had staged.
  if (!(await claim.isMine(store))) throw new Overtaken(`The claim on suite ${suite} was taken over.`);
  throw new Problem({
    code: 'by-hash-missing',
    title: 'A staged index is gone',
    what: `${index.path} of suite ${suite} was staged as ${byHashKey(suite, index.path, index.sha256)}, and now that object does not exist.`,
    advice: 'Look for a lifecycle rule or a script that deletes objects under dists/, then run the job again.',
  });
}

/**
 * Writes the head by compare-and-swap, and Release beside it. `release late`: Release may have come after somebody else's whole publish.
 * `overtaken`: the claim turns out to be somebody else's by now.
 */
async function commit(
  run: RunContext,
  claim: Claim,
  expected: Condition,
  { store }: Phase,
): Promise<Finished | 'release late'> {
  const { suite, record } = claim;
  const { head, releaseGpg } = record.generation;
  const signed = releaseGpg !== undefined;
  const key = headKey(suite, signed);
  const object = { key, body: Buffer.from(head), attributes: canonicalAttributes(key) };
  const first = isFirst(claim, expected);
  let condition = expected;
  for (let attempt = 1; attempt <= commits; attempt += 1) {
    const sent = run.clock.monotonic();
    let headEnded: number | undefined;
    const [releaseEnded, swapped] = await together(
      signed
        ? writeRelease(run, claim, store, first).then(() => ({ at: run.clock.monotonic(), headEnded }))
        : undefined,
      swap(store, run.clock, record.conditions, { ...object, expected: condition }).finally(() => {
        headEnded = run.clock.monotonic();
      }),
    );
    if (swapped.swapped && swapped.answered) {
      return isLate(sent, releaseEnded) && !(await claim.isMine(store)) ? 'release late' : 'committed';
    }
    // The head first, the record second: only then may that head be replaced.
    const now = await store.get(key);
    if (!(await claim.isMine(store))) return 'overtaken';
    if (swapped.swapped) return 'committed';
    condition = now.found ? { etag: now.etag } : { absent: true };
  }
  throw new Problem({
    code: 'commit-refused',
    title: 'The head cannot be replaced',
    what: `The head of suite ${suite} changed ${commits} times under a claim that is still this run's.`,
    advice: 'Find out what else writes into this repository and stop it, then run the job again.',
  });
}

/** Whether there are no canonical names yet, as far as was seen, and the store can be told to write only such. */
function isFirst({ record }: Claim, expected: Condition): boolean {
  return 'absent' in expected && record.conditions.kind !== 'none';
}

/** A head whose answer takes longer than this may have been followed by a whole publish of somebody else before it came: milliseconds. */
const slowHead = 1000;

/**
 * Whether a whole publish of somebody else fits between the head and a Release that came after it: that takes several requests one after
 * the other, so not when Release was late by less than the head itself took, unless that was long.
 */
function isLate(sent: number, release: { at: number; headEnded: number | undefined } | undefined): boolean {
  if (release?.headEnded === undefined) return false;
  const headTook = release.headEnded - sent;
  return headTook >= slowHead || release.at - release.headEnded >= headTook;
}

/** The head is what counts: a run whose head was written has published, also when Release beside it was not. */
async function writeRelease(
  run: RunContext,
  { suite, releaseText }: Claim,
  store: ObjectStore,
  first: boolean,
): Promise<void> {
  try {
    await putName(store, suite, 'Release', releaseText, { first });
  } catch (error) {
    if (!(error instanceof Problem || error instanceof TransientStoreError)) throw error;
    run.warn(
      `Release of suite ${suite} could not be written; the next run puts it right. Readers of InRelease are not concerned.`,
    );
  }
}
