import { prepareToCompress } from '../codec/codecs.ts';
import { type Problem, Problems, throwProblems } from '../problem.ts';
import { probe } from '../store/probe.ts';
import type { TimedRun } from '../timing/record.ts';
import { buildSuite } from './build-indexes.ts';
import type { TakenName } from './list-changes.ts';
import { dryResult, type SuiteResult, unchangedResult } from './outcome.ts';
import type { Prepare, Prepared } from './prepare.ts';
import type { CommandName, GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { enterSuites } from './suite-register.ts';
import { timesBefore } from './timings.ts';
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
  settings: GenerationSettings & { readonly command: CommandName },
  suites: readonly string[],
  prepare: Prepare,
): Promise<SuiteResult[]> {
  // While the first answers of the store are on their way.
  prepareToCompress(settings.compression);
  const [prepared, before] = await together(
    wave(suites, (suite) => prepare(suite, [])),
    settings.dryRun ? wave(suites, (suite) => timesBefore(run, suite, settings.command)) : undefined,
  );
  const problems = prepared.flatMap(({ plan }) => plan.problems);
  if (!settings.dryRun) throwProblems(problems);
  const told = new Set<string>();
  const tell = ({ plan }: Prepared) => {
    for (const warning of plan.warnings.filter((each) => !told.has(each))) run.warn(warning);
    for (const warning of plan.warnings) told.add(warning);
  };
  for (const suite of prepared) tell(suite);
  if (settings.dryRun) {
    const shown = await wave(prepared, async (suite) =>
      suite.changed ? dryResult(suite, await buildSuite(run, settings, suite)) : unchangedResult(suite),
    );
    const results = shown.map((result, index) => besideEarlier(result, before?.[index]));
    if (problems.length > 0) throw new DryRunProblems(problems, results);
    return results;
  }
  let probing: Promise<Conditions> | undefined;
  let registering: Promise<void> | undefined;
  const shared = {
    prepare: async (suite: string, taken: readonly TakenName[]) => {
      const again = await prepare(suite, taken);
      tell(again);
      return again;
    },
    uploads: uploads(run),
    register: (conditions: Conditions) => {
      registering ??= phase(run, 'upload', undefined, (entering) => enterSuites(run, entering, suites, conditions));
      return registering;
    },
    conditions: () => {
      probing ??= phase(run, 'probe', undefined, ({ store }) => probe(store));
      return probing;
    },
  };
  return wave(prepared, (suite) => transact(run, settings, suite, shared));
}

function besideEarlier(result: SuiteResult, before: TimedRun | undefined): SuiteResult {
  return before === undefined ? result : { ...result, outcome: { ...result.outcome, before } };
}
