import { type Problem, Problems, throwProblems } from '../problem.ts';
import { probe } from '../store/probe.ts';
import { buildSuite } from './build-indexes.ts';
import { dryResult, type SuiteResult, unchangedResult } from './outcome.ts';
import type { Prepare, Prepared } from './prepare.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { type Timings, timings } from './timings.ts';
import { transact } from './transaction.ts';
import { uploads } from './upload.ts';
import { together, wave } from './wave.ts';

/** What a publish would fail of, as a dry run has found it, and what it would do besides. */
export class DryRunProblems extends Problems {
  readonly results: readonly SuiteResult[];

  constructor(all: readonly Problem[], results: readonly SuiteResult[]) {
    super(all);
    this.results = results;
  }
}

/**
 * Carries a command out on these suites, side by side. The whole batch is judged before anything is written: a problem with one file
 * or one suite, and none of them changes. A dry run goes on to tell what would be done without them: it throws `DryRunProblems` at its end.
 */
export async function carryOut(
  run: RunContext,
  settings: GenerationSettings,
  suites: readonly string[],
  prepare: Prepare,
): Promise<SuiteResult[]> {
  const earlier = timings(run);
  const prepared = await wave(suites, async (suite) => {
    const [ready] = await together(prepare(suite), settings.dryRun ? earlier.begin(suite) : undefined);
    return ready;
  });
  const problems = prepared.flatMap(({ plan }) => plan.problems);
  if (!settings.dryRun) throwProblems(problems);
  for (const warning of prepared.flatMap(({ plan }) => plan.warnings)) run.warn(warning);
  if (settings.dryRun) {
    const results = await wave(prepared, async (suite) => {
      const result = suite.changed ? dryResult(suite, await buildSuite(run, settings, suite)) : unchangedResult(suite);
      return besideEarlier(result, suite, earlier);
    });
    if (problems.length > 0) throw new DryRunProblems(problems, results);
    return results;
  }
  let probing: Promise<Conditions> | undefined;
  const shared = {
    prepare,
    uploads: uploads(run),
    timings: earlier,
    conditions: () => {
      probing ??= phase(run, 'probe', undefined, ({ store }) => probe(store));
      return probing;
    },
  };
  return wave(prepared, async (suite) => {
    if (!suite.changed) return transact(run, settings, suite, shared);
    const [result] = await together(transact(run, settings, suite, shared), earlier.begin(suite.suite));
    return besideEarlier(result, suite, earlier);
  });
}

async function besideEarlier(
  result: SuiteResult,
  { suite, command }: Prepared,
  earlier: Timings,
): Promise<SuiteResult> {
  const before = await earlier.before(suite, command);
  return before === undefined ? result : { ...result, outcome: { ...result.outcome, before } };
}
