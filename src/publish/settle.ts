import { Problem } from '../problem.ts';
import { ownAttributes } from './attributes.ts';
import type { Claim } from './claim-guard.ts';
import { finish } from './finish.ts';
import { recordKey } from './layout.ts';
import { look, type Sight, type Trusted } from './look.ts';
import { requirePoolFiles, secondLook } from './pool-look.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { renderSuiteRecord } from './suite-record.ts';
import { swap } from './swap.ts';

type Apart = Extract<Sight, { state: 'apart' }>;
/** A suite on which nobody is at work. */
export type Settled = Exclude<Sight, Apart>;

/** How long between two looks at a claim that somebody else is finishing, milliseconds. */
const lookAgainAfter = 250;
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
    if (last.published.recordEtag === sight.published.recordEtag) await takeOver(run, suite, last);
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
  for (;;) {
    const rest = until - run.clock.monotonic();
    await run.clock.sleep(Math.max(0, Math.min(rest, lookAgainAfter)));
    const sight = await look(store, suite, trusted, false);
    if (sight.state !== 'apart' || sight.published.recordEtag !== recordEtag || rest <= 0) return sight;
  }
}

async function takeOver(run: RunContext, suite: string, sight: Apart): Promise<void> {
  const { published, headEtag } = sight;
  const limitSeconds = Math.ceil(run.claimLimit / 1000);
  const record = { ...published.record, claim: { run: run.run, limitSeconds } };
  const claim: Claim = { suite, record, releaseText: published.releaseText, at: run.clock.monotonic() };
  const swapped = await phase(run, 'claim', suite, ({ store }) =>
    swap(store, run.clock, record.conditions, {
      key: recordKey(suite),
      body: renderSuiteRecord(record),
      attributes: ownAttributes,
      expected: { etag: published.recordEtag },
    }),
  );
  if (!swapped.swapped) return;
  run.warn(
    `Suite ${suite} was left between claim and commit by another run; this run has finished generation ${record.generation.number}.`,
  );
  const expected = headEtag === undefined ? ({ absent: true } as const) : { etag: headEtag };
  await finish(run, claim, expected, (renaming) =>
    secondLook(run, renaming, record.conditions, record.generation.poolVersion, () =>
      requirePoolFiles(renaming, suite, record.generation.added),
    ),
  );
}
