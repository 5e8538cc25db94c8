import { throwProblems } from '../problem.ts';
import { probe } from '../store/probe.ts';
import { buildSuite } from './build-indexes.ts';
import { dryResult, type SuiteResult, unchangedResult } from './outcome.ts';
import type { Prepare } from './prepare.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { transact } from './transaction.ts';
import { uploads } from './upload.ts';
import { wave } from './wave.ts';

/**
 * Carries a command out on these suites, side by side. The whole batch is judged before anything is written: a problem with one file
 * or one suite, and none of them changes.
 */
export async function carryOut(
  run: RunContext,
  settings: GenerationSettings & { readonly dryRun: boolean },
  suites: readonly string[],
  prepare: Prepare,
): Promise<SuiteResult[]> {
  const prepared = await wave(suites, prepare);
  throwProblems(prepared.flatMap(({ plan }) => plan.problems));
  for (const warning of prepared.flatMap(({ plan }) => plan.warnings)) run.warn(warning);
  if (settings.dryRun) {
    return wave(prepared, async (suite) =>
      suite.changed ? dryResult(suite, await buildSuite(run, settings, suite)) : unchangedResult(suite),
    );
  }
  let probing: Promise<Conditions> | undefined;
  const shared = {
    prepare,
    uploads: uploads(run),
    conditions: () => {
      probing ??= phase(run, 'probe', undefined, ({ store }) => probe(store));
      return probing;
    },
  };
  return wave(prepared, (suite) => transact(run, settings, suite, shared));
}
