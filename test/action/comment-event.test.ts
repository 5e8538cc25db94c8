import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type PullRequest, readPullRequests } from '../../src/action/comment-event.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const sha = 'a'.repeat(40);

async function pullRequestsOf(name: string, event: unknown): Promise<readonly PullRequest[]> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'event.json');
  await writeFile(path, typeof event === 'string' ? event : JSON.stringify(event));
  const variables: Record<string, string> = { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: path };
  return await readPullRequests({ variable: (variable) => variables[variable] });
}

function workflowRun(...pulls: { number: number; base: { repo: { id: number } } }[]): object {
  return { repository: { id: 1 }, workflow_run: { head_sha: sha, pull_requests: pulls } };
}

describe('the pull requests of a run', () => {
  for (const name of ['pull_request', 'pull_request_target']) {
    it(`are that of the event ${name}, at its own newest commit`, async () => {
      const event = { number: 5, pull_request: { number: 5, head: { sha }, merge_commit_sha: 'b'.repeat(40) } };
      assert.deepEqual(await pullRequestsOf(name, event), [{ number: 5, commit: sha }]);
    });
  }

  it('are those into this repository of the run that ended, for workflow_run', async () => {
    const event = workflowRun(
      { number: 5, base: { repo: { id: 1 } } },
      { number: 2, base: { repo: { id: 99 } } },
      { number: 6, base: { repo: { id: 1 } } },
    );
    const expected = [5, 6].map((number) => ({ number, commit: sha }));
    assert.deepEqual(await pullRequestsOf('workflow_run', event), expected);
  });

  it('are none for a workflow_run that a fork caused', async () => {
    assert.deepEqual(await pullRequestsOf('workflow_run', workflowRun()), []);
  });

  it('are none for other events, whatever is in them', async () => {
    const event = { pull_request: { number: 5, head: { sha } } };
    for (const name of ['push', 'merge_group', 'issue_comment', 'schedule', ''])
      assert.deepEqual(await pullRequestsOf(name, event), []);
  });

  const broken = ['', '{', '[]', { pull_request: { number: '5', head: { sha } } }, { pull_request: { number: 5 } }];
  for (const event of [...broken, { pull_request: { number: -1, head: { sha: '@everyone' } } }]) {
    it(`are not guessed from ${JSON.stringify(event)}`, async () => {
      await assert.rejects(pullRequestsOf('pull_request', event), { code: 'event-unreadable' });
    });
  }

  it('are not guessed without an event', async () => {
    const variable = (name: string) => (name === 'GITHUB_EVENT_NAME' ? 'pull_request' : undefined);
    await assert.rejects(readPullRequests({ variable }), { code: 'event-unreadable' });
  });
});
