import { throwProblems } from '../problem.ts';
import { probe } from '../store/probe.ts';
import { buildSuite } from './build-indexes.ts';
import { incomingOf } from './incoming.ts';
import { dryResult, type SuiteResult, unchangedResult } from './outcome.ts';
import { prepare } from './prepare.ts';
import type { PublishRequest } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { transact } from './transaction.ts';
import { uploads } from './upload.ts';
import { wave } from './wave.ts';

/**
 * Publishes what was asked for into every suite, the suites side by side. The whole batch is judged before anything is written:
 * a problem with one file or one suite, and none of them changes.
 */
export async function publish(run: RunContext, request: PublishRequest): Promise<SuiteResult[]> {
  const incoming = incomingOf(run, request);
  const prepared = await wave(request.suites, ({ suite }) => prepare(run, request, suite, incoming));
  throwProblems(prepared.flatMap(({ plan }) => plan.problems));
  for (const warning of prepared.flatMap(({ plan }) => plan.warnings)) run.warn(warning);
  if (request.dryRun) {
    return wave(prepared, async (suite) =>
      suite.changed ? dryResult(suite, await buildSuite(run, request, suite)) : unchangedResult(suite),
    );
  }
  let probing: Promise<Conditions> | undefined;
  const shared = {
    incoming,
    uploads: uploads(run),
    conditions: () => {
      probing ??= phase(run, 'probe', undefined, ({ store }) => probe(store));
      return probing;
    },
  };
  return wave(prepared, (suite) => transact(run, request, suite, shared));
}
