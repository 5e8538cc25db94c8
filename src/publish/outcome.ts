import type { SuiteOutcome } from '../timing/record.ts';
import type { BuiltIndex } from './build-indexes.ts';
import type { Claim } from './claim-guard.ts';
import type { Prepared } from './prepare.ts';

/** A suite that this run has published, or would publish (`claim` absent: a dry run). */
export function outcomeOf(prepared: Prepared, built: readonly BuiltIndex[], claim: Claim | undefined): SuiteOutcome {
  const { suite, published, plan } = prepared;
  const before = new Map((published?.release.files ?? []).map(({ path, size }) => [path, size]));
  return {
    suite,
    changed: true,
    generation: (claim?.record ?? published?.record)?.generation.number ?? 0,
    packages: plan.packages,
    indexes: built.flatMap(({ stored }) =>
      stored.map(({ path, bytes }) => {
        const previousSize = before.get(path);
        return { path, size: bytes.length, ...(previousSize === undefined ? {} : { previousSize }) };
      }),
    ),
  };
}

/** A suite that already holds everything that came in. */
export function unchanged({ suite, published }: Prepared): SuiteOutcome {
  return { suite, changed: false, generation: published?.record.generation.number ?? 0, packages: [], indexes: [] };
}
