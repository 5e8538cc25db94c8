import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeComment } from '../../src/action/comment.ts';
import { readSettings } from '../../src/action/inputs.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import { type GitHubServer, type Hook, place, startGitHub } from '../rig/github-server.ts';
import { workflowBot } from '../rig/github-server-comments.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { TestClock } from '../store/clocks.ts';
import { sampleRecord } from '../timing/record-samples.ts';
import { type FakeRunner, fakeRunner } from './fake-runner.ts';

/** The tokens that the GitHub of these tests knows. */
export const tokens = {
  'workflow-token': { account: workflowBot, pullRequests: 'write' },
  'fork-token': { account: workflowBot, pullRequests: 'read' },
  'bare-token': { account: workflowBot, pullRequests: 'none' },
  'person-token': { account: { login: 'octocat', id: 583_231, type: 'User' }, pullRequests: 'write' },
} as const;

const commit = '0123456789abcdef0123456789abcdef01234567';

export const pullRequestEvent = { pull_request: { number: place.number, head: { sha: commit } } };

/** What differs from a first attempt at run 100 of a workflow on a pull request, with a token that may write. */
export interface Case {
  readonly when?: 'auto' | 'always' | 'never';
  /** Empty for none. */
  readonly token?: string;
  readonly suites?: readonly string[];
  readonly record?: RunRecord;
  readonly event?: object;
  readonly variables?: Readonly<Record<string, string>>;
}

interface Told extends FakeRunner {
  readonly clock: TestClock;
}

/** Writes the comment of a run on this GitHub, as a step of a job does. */
export async function comment(github: Pick<GitHubServer, 'api'>, given: Case = {}): Promise<Told> {
  await using folder = await temporaryFolder();
  const file = (name: string) => join(folder.path, name);
  await writeFile(file('a.deb'), '');
  await writeFile(file('event.json'), JSON.stringify(given.event ?? pullRequestEvent));
  const suites = given.suites ?? ['bookworm'];
  const inputs = {
    suites: suites.map((suite) => `${suite}/main: a.deb`).join('\n'),
    bucket: './site',
    unsigned: 'true',
    comment: given.when ?? '',
    'github-token': given.token ?? 'workflow-token',
  };
  const runner = fakeRunner(inputs, {
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: file('event.json'),
    GITHUB_API_URL: github.api,
    GITHUB_REPOSITORY: place.repository,
    GITHUB_WORKFLOW: 'Publish',
    GITHUB_JOB: 'publish',
    GITHUB_ACTION: '__apt-publish',
    GITHUB_RUN_ID: '100',
    GITHUB_RUN_ATTEMPT: '1',
    ...given.variables,
  });
  const surroundings = { source: runner, secrets: runner.secrets, folder: folder.path, temporaryFolder: folder.path };
  const settings = await readSettings(surroundings);
  const clock = new TestClock();
  await writeComment(settings, given.record ?? sampleRecord, clock, runner);
  return Object.assign(runner, { clock });
}

/** A run by its number, of the first attempt unless said. */
export function run(id: number, attempt = 1): { variables: Record<string, string> } {
  return { variables: { GITHUB_RUN_ID: String(id), GITHUB_RUN_ATTEMPT: String(attempt) } };
}

/** A GitHub with these tokens. */
export const github = () => startGitHub({ tokens });

/** A comment by the workflow that shows this run: one that an earlier run made. */
export async function withComment(server: GitHubServer, id = 50): Promise<string> {
  await comment(server, run(id));
  server.operations.splice(0);
  const [made] = server.comments.all;
  assert.ok(made);
  return made.body;
}

/** Which run each comment shows: `100.1` for the first attempt at run 100. */
export function shownRuns(server: GitHubServer): string[] {
  return server.comments.all.map(({ body }) => /run=(\S+)/.exec(body)?.[1] ?? '');
}

/** Does something once, when the first request of this kind comes. */
export function once(operation: string, action: () => ReturnType<Hook>): Hook {
  let done = false;
  return (request) => {
    if (done || request.operation !== operation) return undefined;
    done = true;
    return action();
  };
}

const writes: readonly string[] = ['issues/create-comment', 'issues/update-comment', 'issues/delete-comment'];
/** The requests that were to change something, in order. */
export function writesOf(server: GitHubServer): string[] {
  return server.operations.filter((name) => writes.includes(name));
}
