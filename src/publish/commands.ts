import { carryOut } from './carry-out.ts';
import { history } from './history.ts';
import type { SuiteResult } from './outcome.ts';
import type { Prepare } from './prepare.ts';
import { prepareImport } from './prepare-import.ts';
import { preparePromote } from './prepare-promote.ts';
import { prepareRemove } from './prepare-remove.ts';
import { prepareRepublish } from './prepare-republish.ts';
import { prepareRollback } from './prepare-rollback.ts';
import { prepareTakeover } from './prepare-takeover.ts';
import { publish } from './publish.ts';
import type { CommandRequest, HistoryRequest, PublishRequest, VerifyRequest } from './request.ts';
import type { RunContext } from './run-context.ts';
import { verify } from './verify.ts';

/**
 * Does what a run is asked for. A command that changes suites is nothing but its way to prepare them: how the change is carried out, and what
 * holds if it is cut short, is the transaction's business and the same for all.
 */
export function perform(run: RunContext, request: CommandRequest): Promise<SuiteResult[]> {
  const suites = request.suites.map(({ suite }) => suite);
  switch (request.command) {
    case 'publish':
      return publish(run, request);
    case 'history':
      return history(run, suites);
    case 'verify':
      return verify(run, request);
    default:
      return carryOut(run, request, suites, preparationOf(run, request));
  }
}

function preparationOf(
  run: RunContext,
  request: Exclude<CommandRequest, PublishRequest | HistoryRequest | VerifyRequest>,
): Prepare {
  switch (request.command) {
    case 'republish':
      return prepareRepublish(run, request);
    case 'remove':
      return prepareRemove(run, request, request.selection);
    case 'promote':
      return preparePromote(run, request);
    case 'rollback':
      return prepareRollback(run, request, request.to);
    case 'import': {
      const origin = run.origin?.store;
      return origin === undefined ? prepareTakeover(run, request) : prepareImport(run, request, origin);
    }
  }
}
