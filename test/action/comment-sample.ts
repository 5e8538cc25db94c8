import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeComment } from '../../src/action/comment.ts';
import type { CommentSettings, Settings } from '../../src/action/settings.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import { type GitHubServer, place } from '../rig/github-server.ts';
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

export const commit = '0123456789abcdef0123456789abcdef01234567';

export const pullRequestEvent = { pull_request: { number: place.number, head: { sha: commit } } };

/** What differs from a first attempt at run 100 of a workflow on a pull request, with a token that may write. */
export interface Case {
  readonly comment?: Partial<CommentSettings>;
  readonly suites?: readonly string[];
  readonly record?: RunRecord;
  readonly event?: object;
  readonly variables?: Readonly<Record<string, string>>;
}

export interface Told extends FakeRunner {
  readonly clock: TestClock;
}

/** Writes the comment of a run on this GitHub, as a step of a job does. */
export async function comment(github: Pick<GitHubServer, 'api'>, given: Case = {}): Promise<Told> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'event.json');
  await writeFile(path, JSON.stringify(given.event ?? pullRequestEvent));
  const runner = fakeRunner(
    {},
    {
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: path,
      GITHUB_API_URL: github.api,
      GITHUB_REPOSITORY: place.repository,
      GITHUB_WORKFLOW: 'Publish',
      GITHUB_JOB: 'publish',
      GITHUB_ACTION: '__apt-publish',
      GITHUB_RUN_ID: '100',
      GITHUB_RUN_ATTEMPT: '1',
      ...given.variables,
    },
  );
  const clock = new TestClock();
  await writeComment(settings(given), given.record ?? sampleRecord, clock, runner);
  return Object.assign(runner, { clock });
}

function settings({ comment: given, suites = ['bookworm'] }: Case): Settings {
  return {
    request: {
      suites: suites.map((suite) => ({ suite, uploads: [] })),
      release: {},
      allowReleaseInfoChange: false,
      adopt: false,
      compression: ['gz'],
      contents: false,
      onConflict: 'error',
      renameConcurrency: 'auto',
      uploadConcurrency: 'auto',
      requireConditionalWrites: false,
      dryRun: false,
    },
    store: { kind: 'directory', path: './site' },
    signing: 'unsigned',
    comment: { when: 'auto', token: 'workflow-token', ...given },
    temporaryFolder: '/tmp',
  };
}

/** A run by its number, of the first attempt unless said. */
export function run(id: number, attempt = 1): { variables: Record<string, string> } {
  return { variables: { GITHUB_RUN_ID: String(id), GITHUB_RUN_ATTEMPT: String(attempt) } };
}
