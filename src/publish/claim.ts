import { ownAttributes } from './attributes.ts';
import type { BuiltIndex } from './build-indexes.ts';
import { Claim } from './claim-guard.ts';
import { recordKey } from './layout.ts';
import { makingOf } from './making.ts';
import { nextRecord } from './next-record.ts';
import type { Prepared } from './prepare.ts';
import { phase, type RunContext } from './run-context.ts';
import type { SignedGeneration } from './sign.ts';
import { type Conditions, renderSuiteRecord } from './suite-record.ts';
import { swap } from './swap.ts';

/**
 * The phase claim: the record is replaced by compare-and-swap, so of two publishers exactly one goes on. Undefined when somebody
 * else came first; nothing that a client reads has been touched then.
 */
export function claimGeneration(
  run: RunContext,
  prepared: Prepared,
  generation: SignedGeneration & { readonly built: readonly BuiltIndex[] },
  conditions: Conditions,
): Promise<Claim | undefined> {
  const { suite, published, plan, pool } = prepared;
  const record = nextRecord({
    suite,
    published,
    replacesHead: 'etag' in prepared.expectedHead,
    release: generation.release,
    head: generation.head,
    releaseGpg: generation.releaseGpg,
    built: generation.built,
    added: [...plan.poolFiles.map(({ key }) => key), ...plan.referenced],
    unlisted: plan.unlisted,
    versions: plan,
    pool,
    abandoned: prepared.abandoned,
    orphans: prepared.orphans,
    conditions,
    // Whoever names a method has it learnt anew afterwards.
    slowCopies: run.renameMethod === undefined && published?.record.slowCopies === true,
    claim: { run: run.run, limitSeconds: Math.ceil(run.claimLimit / 1000) },
    made: makingOf(run, prepared),
    now: run.clock.now(),
  });
  return phase(run, 'claim', suite, async ({ store }) => {
    const at = run.clock.monotonic();
    const swapped = await swap(store, run.clock, conditions, {
      key: recordKey(suite),
      body: renderSuiteRecord(record),
      attributes: ownAttributes,
      expected: prepared.expectedRecord,
    });
    if (!swapped.swapped) return undefined;
    return new Claim({ suite, record, releaseText: generation.releaseText, etag: swapped.etag, at });
  });
}
