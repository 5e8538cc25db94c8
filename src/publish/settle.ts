import { Problem } from '../problem.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { ownAttributes } from './attributes.ts';
import { Claim } from './claim-guard.ts';
import { finish } from './finish.ts';
import { headKey, recordKey } from './layout.ts';
import { type Abandoned, type Baseline, look, type Published, readRecord, type Sight, type Trusted } from './look.ts';
import { firstPause, longestPause, poolFileGone, requirePoolFiles, secondLook } from './pool-look.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { renderSuiteRecord } from './suite-record.ts';
import { swap } from './swap.ts';

type Apart = Extract<Sight, { state: 'apart' }>;
/** A suite on which nobody is at work. */
export type Settled =
  | Exclude<Sight, Apart>
  /** The newest claim cannot be committed: what is published is the generation before it, and the next claim replaces both. */
  | {
      readonly state: 'abandoned';
      readonly published: Baseline;
      readonly abandoned: Abandoned;
      readonly recordEtag: string;
      readonly headEtag: string;
    };

/** Added to the claimer's limit: stores tell the age of an object in whole seconds. */
const margin = 2000;
/** How many claims of others are waited for, or finished, before giving up. */
const rounds = 100;

/**
 * Looks at a suite until record and head agree. A claim that is not committed yet gets longer than its own time limit; after that
 * it is taken over by compare-and-swap, with the same content, and finished (invariant 3).
 */
export async function settle(run: RunContext, suite: string, trusted: Trusted, adopt: boolean): Promise<Settled> {
  for (let round = 1; round <= rounds; round += 1) {
    const sight = await phase(run, 'read', suite, ({ store }) => look(store, suite, trusted, adopt));
    if (sight.state !== 'apart') return sight;
    const last = await phase(run, 'wait', suite, (waiting) => outlast(run, suite, trusted, sight, waiting));
    if (last.state !== 'apart') return last;
    // Another claim, or this one renewed: it has a time of its own.
    if (last.published.recordEtag !== sight.published.recordEtag) continue;
    const givenUp = await takeOver(run, suite, trusted, last);
    if (givenUp !== undefined) return givenUp;
  }
  throw new Problem({
    code: 'suite-busy',
    title: 'Other publishers came too fast',
    what: `Suite ${suite} was claimed by others ${rounds} times while this run waited for its turn.`,
    advice: 'Run the job again, or publish into this suite from fewer jobs at once.',
  });
}

/** Looks again until the claim is committed, or replaced, or past its time limit. */
async function outlast(
  run: RunContext,
  suite: string,
  trusted: Trusted,
  first: Apart,
  { store }: Phase,
): Promise<Sight> {
  const { record, recordAge = 0, recordEtag } = first.published;
  const limit = record.claim.limitSeconds * 1000 + margin;
  const until = run.clock.monotonic() + Math.max(0, limit - recordAge * 1000);
  for (let pause = firstPause; ; pause = Math.min(longestPause, pause * 1.5)) {
    const rest = until - run.clock.monotonic();
    await run.clock.sleep(Math.max(0, Math.min(rest, pause)));
    const sight = await look(store, suite, trusted, false);
    if (sight.state !== 'apart' || sight.published.recordEtag !== recordEtag || rest <= 0) return sight;
  }
}

/**
 * Takes a claim over and finishes it. Undefined when that is done, or when somebody else was faster; otherwise what is left to build on,
 * since pool files of the claimed generation were removed and only its own publisher had them.
 */
async function takeOver(run: RunContext, suite: string, trusted: Trusted, sight: Apart): Promise<Settled | undefined> {
  const { published, headEtag } = sight;
  const limitSeconds = Math.ceil(run.claimLimit / 1000);
  const record = { ...published.record, claim: { run: run.run, limitSeconds } };
  const at = run.clock.monotonic();
  const swapped = await phase(run, 'claim', suite, ({ store }) =>
    swap(store, run.clock, record.conditions, {
      key: recordKey(suite),
      body: renderSuiteRecord(record),
      attributes: ownAttributes,
      expected: { etag: published.recordEtag },
    }),
  );
  if (!swapped.swapped) return undefined;
  const claim = new Claim({ suite, record, releaseText: published.releaseText, etag: swapped.etag, at });
  const { number, added, poolVersion } = record.generation;
  try {
    const expected = headEtag === undefined ? ({ absent: true } as const) : { etag: headEtag };
    const renames = (renaming: Phase) =>
      secondLook(run, renaming, record.conditions, poolVersion, added, () => requirePoolFiles(renaming, suite, added));
    await finish(run, claim, expected, { renames });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== poolFileGone) throw error;
    run.warn(
      `Generation ${number} of suite ${suite} was left unfinished by another run, and pool files of it have been removed since: it is given up. Run the job again that published it.`,
    );
    return phase(run, 'read', suite, ({ store }) => beforeAbandoned(store, suite, trusted, claim, published));
  }
  run.warn(
    `Suite ${suite} was left between claim and commit by another run; this run has finished generation ${number}.`,
  );
  return undefined;
}

/** What the head says while the record names a generation that will never be committed. */
async function beforeAbandoned(
  store: ObjectStore,
  suite: string,
  trusted: Trusted,
  { record, recordEtag }: Claim,
  claimed: Published,
): Promise<Settled> {
  const head = await store.get(headKey(suite, trusted !== undefined));
  const [previous, ...kept] = record.kept;
  if (!head.found || previous === undefined) return { state: 'new', recordEtag };
  const text = Buffer.from(head.body).toString();
  const { made: _, ...generation } = record.generation;
  const earlier = { ...generation, number: previous.number, head: text, renames: [], added: [] };
  const object = {
    found: true,
    body: renderSuiteRecord({ ...record, generation: earlier, kept, embedded: {} }),
    etag: '',
  } as const;
  const published = await readRecord(object, suite, trusted);
  const abandoned = { release: claimed.release, added: record.generation.added };
  return { state: 'abandoned', published, abandoned, recordEtag, headEtag: head.etag };
}
