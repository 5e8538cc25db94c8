/**
 * The publish transaction.
 *
 * ## What is assumed of the store
 * An object appears whole or not at all; a read that begins after a write was acknowledged sees it; a conditional write has one
 * winner (probed, not believed: a store that ignores conditions is used in a weaker way, and said to be). Nothing is assumed of
 * several objects together, of listings, of ETags beyond equality, of deletes, or of who else is writing.
 *
 * ## Words
 * The *head* of a suite is `dists/<suite>/InRelease`: what readers follow. Its *record* is `.apt-publish/<suite>.json`: what writers
 * follow. An *index* has a *canonical name* and a *by-hash name*. A *generation* is one published state.
 *
 * ## Invariants
 * 1. Before claim, no object that a live head or a canonical name stands for is changed or removed; between claim and commit only
 *    canonical names change, to what the claimed generation says.
 * 2. At every instant, every by-hash object named by the head, by the record and by each kept generation exists and matches its
 *    hash, and every pool file that the head and each kept generation name exists; those of a claimed generation do from its second
 *    look at the pool on, which comes before its commit.
 * 3. A crash at any request leaves 1 and 2 true. The next run of anybody that reads the suite finds record and head apart and
 *    finishes the claimed generation first; a rerun with the same inputs ends in the state of a run without a crash.
 * 4. Two publishers never lose each other's packages, and the head never goes back. The loser of a claim reads and plans again, a
 *    bounded number of times. No lock exists, so none can be left behind.
 * 5. Nothing is signed that was not verified.
 * 6. Only "not found" means "new suite".
 * 7. Publishing needs no delete permission; only clean does.
 * 8. Same inputs, same published state, same SOURCE_DATE_EPOCH and same version give the same bytes on every machine.
 * 9. `Date` is strictly newer than the published one and never ahead of the clock by more than clients forgive.
 *
 * ## What a crash in each phase leaves, and who repairs it
 * | phase | writes | a crash leaves | repaired by |
 * |---|---|---|---|
 * | read, scan, plan, index, sign | nothing | nothing | |
 * | probe | `.apt-publish/probe` | that object | nobody: the next probe uses it |
 * | upload | pool files that nothing names; a new suite's entry in `.apt-publish/suites` | those files | a rerun finds them; one that was built anew, with other bytes, takes another name |
 * | stage | by-hash objects that nothing names | those objects | a rerun writes them again; the next sweep finds them |
 * | claim | the record | record and head apart | anybody, after the claim's time limit |
 * | rename | canonical names, Release.gpg | some names ahead of the head | the same |
 * | commit | InRelease, Release; the times of the run | nothing, or Release one generation late | the same; the next publish |
 * | clean | deletes what nothing reaches | objects that nothing reaches | the next claim, the next sweep |
 */
import { Problem, throwProblems } from '../problem.ts';
import { buildSuite } from './build-indexes.ts';
import { claimGeneration } from './claim.ts';
import { clean } from './clean.ts';
import { digest } from './digest.ts';
import { finish } from './finish.ts';
import type { SuitePlan, TakenName } from './list-changes.ts';
import { publishedResult, type SuiteResult, unchangedResult } from './outcome.ts';
import { requirePoolFiles, secondLook } from './pool-look.ts';
import type { Prepare, Prepared } from './prepare.ts';
import { keepMethod, stagedBytes } from './rename-method.ts';
import type { GenerationSettings } from './request.ts';
import { mendRelease } from './restore.ts';
import type { Phase, RunContext } from './run-context.ts';
import { signGeneration } from './sign.ts';
import { stage } from './stage.ts';
import type { Conditions } from './suite-record.ts';
import { takenNames } from './taken-names.ts';
import { keepTimes } from './timings.ts';
import { NamesTaken, type Uploads, uploadAgain } from './upload.ts';
import { together } from './wave.ts';

/** What the suites of one run do once for all of them. */
export interface SharedWork {
  readonly prepare: Prepare;
  readonly uploads: Uploads;
  /** Enters the suites of the run in the register, before the first of them that is new is claimed. */
  readonly register: (conditions: Conditions) => Promise<void>;
  /** What the store does with conditions: asked once, and only when no record tells. */
  readonly conditions: () => Promise<Conditions>;
}

/** How often a suite is read and planned again after somebody else's claim came first. */
const claims = 50;

/**
 * Publishes one prepared suite: the phases from index to clean, again from read when another publisher's claim came first.
 * What it resolves to has happened; what it throws has left the invariants true.
 */
export async function transact(
  run: RunContext,
  settings: GenerationSettings,
  first: Prepared,
  shared: SharedWork,
): Promise<SuiteResult> {
  const { suite } = first;
  let prepared = first;
  let claimed: Claimed | undefined;
  const taken: TakenName[] = [];
  for (let attempt = 1; attempt <= claims; attempt += 1) {
    if (!prepared.changed) {
      if (prepared.published !== undefined) await mendRelease(run, suite, prepared.published);
      return resultOf(run, claimed, prepared);
    }
    const { plan, published, pool, adopted, expectedHead } = prepared;
    const known = adopted === undefined ? published?.record.conditions : undefined;
    const conditions = known ?? (await shared.conditions());
    judgeConditions(run, settings, conditions);
    run.expectRequests?.(Math.min(run.requests.concurrency, requestsAtOnce(settings, plan)));
    const made = await together(
      makeGeneration(run, settings, prepared),
      shared.uploads.ensure(suite, plan, pool.version, conditions),
      published === undefined || adopted !== undefined ? shared.register(conditions) : undefined,
    ).catch((error: unknown) => {
      if (error instanceof NamesTaken) return error;
      throw error;
    });
    if (made instanceof NamesTaken) {
      taken.push(...(await takenNames(run, suite, made.files, taken)));
      prepared = await shared.prepare(suite, taken);
      throwProblems(prepared.plan.problems);
      continue;
    }
    const [generation] = made;
    const claim = await claimGeneration(run, prepared, generation, conditions);
    if (claim !== undefined) {
      const { number, added } = claim.record.generation;
      const renames = (renaming: Phase) =>
        secondLook(run, renaming, conditions, pool.version, added, async () => {
          await uploadAgain(renaming, plan.poolFiles, conditions);
          await requirePoolFiles(renaming, suite, plan.referenced);
        });
      const commit = () => keepTimes(run, suite, { command: prepared.command, generation: number });
      const finished = await finish(run, claim, expectedHead, { renames, commit }, stagedBytes(generation.built));
      if (finished === 'committed') {
        await clean(run, claim);
        await keepMethod(run, claim);
        return publishedResult(prepared, generation, { number, conditions });
      }
      // Somebody else finishes this very generation: what follows only makes sure of it.
    }
    claimed = { prepared, generation };
    await run.clock.sleep(run.random() * 100 * Math.min(attempt, 10));
    prepared = await shared.prepare(suite, taken);
    throwProblems(prepared.plan.problems);
  }
  throw busy(suite);
}

/** What the widest wave to come is likely to hold: one request for each stored form and each new file. */
function requestsAtOnce({ compression }: GenerationSettings, { lists, contents, poolFiles }: SuitePlan): number {
  return lists.size * compression.length + contents.length + poolFiles.length + 2;
}

/** A generation that this run has tried to claim. */
interface Claimed {
  readonly prepared: Prepared;
  readonly generation: Awaited<ReturnType<typeof makeGeneration>>;
}

/**
 * What there is to tell when nothing is left to do: a claim whose answer was lost may have taken effect, and been finished and followed
 * by others since. The records of what became of it tell.
 */
function resultOf(run: RunContext, claimed: Claimed | undefined, now: Prepared): SuiteResult {
  if (claimed === undefined || now.published === undefined) return unchangedResult(now);
  const { record } = now.published;
  const newest = { ...record.generation, headSha256: digest(record.generation.head) };
  const head = digest(claimed.generation.head);
  // The same head alone would not do: somebody else may have published the same in the same second.
  const mine = [newest, ...record.kept].find(({ headSha256, made }) => headSha256 === head && made?.run === run.run);
  if (mine === undefined) return unchangedResult(now);
  return publishedResult(claimed.prepared, claimed.generation, { number: mine.number, conditions: record.conditions });
}

/** The phases index, sign and stage. */
async function makeGeneration(run: RunContext, settings: GenerationSettings, prepared: Prepared) {
  const built = await buildSuite(run, settings, prepared);
  const signed = await signGeneration(run, settings, prepared, built);
  await stage(run, prepared, built);
  return { ...signed, built };
}

/** A store that does not hold conditions is used in a weaker way, never in silence. */
function judgeConditions(run: RunContext, settings: GenerationSettings, { kind }: Conditions): void {
  if (kind === 'enforced') return;
  const what =
    kind === 'none'
      ? 'The store does not hold conditional writes (If-None-Match, If-Match).'
      : 'The store does not hold If-Match on writes.';
  if (settings.requireConditionalWrites) {
    throw new Problem({
      code: 'conditions-required',
      title: 'The store does not hold conditional writes',
      what,
      advice:
        'Use a store that does, or leave `require-conditional-writes` out and let only one job publish at a time.',
    });
  }
  run.warn(
    `${what} Two jobs that publish at the same time may lose each other's packages: let only one run at a time.`,
  );
}

function busy(suite: string): Problem {
  return new Problem({
    code: 'suite-busy',
    title: 'Other publishers came first every time',
    what: `Suite ${suite} was claimed by others ${claims} times while this run tried to publish into it.`,
    advice: 'Run the job again, or publish into this suite from fewer jobs at once.',
  });
}
