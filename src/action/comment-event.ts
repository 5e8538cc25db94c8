import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { Problem } from '../problem.ts';
import type { InputSource } from './input-reader.ts';

/** A pull request that a run belongs to. */
export interface PullRequest {
  readonly number: number;
  /** The 40 hex digits of the commit that the run is about: its newest one, not the merge that GitHub checks out. */
  readonly commit: string;
}

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const commit = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));
const repository = v.object({ id: whole });

const pullRequestEvent = v.object({
  pull_request: v.object({ number: whole, head: v.object({ sha: commit }) }),
});

const workflowRunEvent = v.object({
  repository,
  workflow_run: v.object({
    head_sha: commit,
    pull_requests: v.array(v.object({ number: whole, base: v.object({ repo: repository }) })),
  }),
});

/**
 * The pull requests that the event which started this run is about: one for `pull_request` and `pull_request_target`, those of the run
 * that ended for `workflow_run` (none when it came from a fork: GitHub leaves them out), none for every other event.
 *
 * Throws the `Problem` `event-unreadable` when the file that the runner names is not there or is none of such an event.
 */
export async function readPullRequests(source: Pick<InputSource, 'variable'>): Promise<readonly PullRequest[]> {
  const name = source.variable('GITHUB_EVENT_NAME') ?? '';
  switch (name) {
    case 'pull_request':
    case 'pull_request_target': {
      const { pull_request: pull } = await readEvent(source, name, pullRequestEvent);
      return [{ number: pull.number, commit: pull.head.sha }];
    }
    case 'workflow_run': {
      const { workflow_run: run, repository: own } = await readEvent(source, name, workflowRunEvent);
      // GitHub finds pull requests by their commit, so those that forks opened among themselves are in the list too.
      return run.pull_requests
        .filter(({ base }) => base.repo.id === own.id)
        .map(({ number }) => ({ number, commit: run.head_sha }));
    }
    default:
      return [];
  }
}

async function readEvent<S extends v.GenericSchema>(
  source: Pick<InputSource, 'variable'>,
  name: string,
  schema: S,
): Promise<v.InferOutput<S>> {
  try {
    return v.parse(schema, JSON.parse(await readFile(source.variable('GITHUB_EVENT_PATH') ?? '', 'utf8')));
  } catch (cause) {
    throw new Problem({
      code: 'event-unreadable',
      title: 'The event of this run cannot be read',
      what: `The file that GITHUB_EVENT_PATH names does not hold the \`${name}\` event that GITHUB_EVENT_NAME promises.`,
      advice: 'Leave both variables as the runner sets them, or write `comment: never`.',
      cause,
    });
  }
}
