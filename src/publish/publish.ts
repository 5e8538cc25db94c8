import { carryOut } from './carry-out.ts';
import { incomingOf } from './incoming.ts';
import type { SuiteResult } from './outcome.ts';
import { preparePublish } from './prepare-publish.ts';
import type { PublishRequest } from './request.ts';
import type { RunContext } from './run-context.ts';

/** Publishes the packages that were asked for into every suite. */
export function publish(run: RunContext, request: PublishRequest): Promise<SuiteResult[]> {
  const suites = request.suites.map(({ suite }) => suite);
  return carryOut(run, request, suites, preparePublish(run, request, incomingOf(run, request)));
}
