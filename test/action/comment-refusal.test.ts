import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { GitHubServer } from '../rig/github-server.ts';
import { workflowBot } from '../rig/github-server-comments.ts';
import {
  type Case,
  comment,
  github,
  once,
  pullRequestEvent,
  run,
  shownRuns,
  withComment,
  writesOf,
} from './comment-sample.ts';

let folder = '';
let summary = '';
const outside = process.env['GITHUB_STEP_SUMMARY'];
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apt-publish-test-'));
  summary = join(folder, 'summary.md');
  process.env['GITHUB_STEP_SUMMARY'] = summary;
});
beforeEach(() => writeFile(summary, ''));
after(async () => {
  if (outside === undefined) delete process.env['GITHUB_STEP_SUMMARY'];
  else process.env['GITHUB_STEP_SUMMARY'] = outside;
  await rm(folder, { recursive: true });
});

/** Why there is no comment, as the log says it; the summary must say it too, and no step may fail of it. */
async function reason(server: Pick<GitHubServer, 'api'>, given: Case): Promise<string> {
  const runner = await comment(server, given);
  const lines = runner.told.filter((line) => !line.startsWith('debug|'));
  assert.equal(lines.length, 1, lines.join('\n'));
  const line = lines[0] ?? '';
  assert.match(line, /^info\|no comment on a pull request: /);
  assert.equal(runner.code(), undefined);
  assert.match(await readFile(summary, 'utf8'), /^\n\*\*No comment on a pull request:\*\* \S/);
  return line.slice('info|no comment on a pull request: '.length);
}

describe('a comment that cannot be written is explained, and fails nothing,', () => {
  it('when the token may only read, as for a fork', async () => {
    await using server = await github();
    const why = await reason(server, { token: 'fork-token' });
    assert.match(
      why,
      /may not .* pull request 7 \(403: Resource not accessible by integration\).*pull-requests: write/,
    );
    assert.equal(server.comments.all.length, 0);
  });

  it('when the token may not even read', async () => {
    await using server = await github();
    assert.match(await reason(server, { token: 'bare-token' }), /may not .* \(403: /);
  });

  it('when the token cannot see the pull request', async () => {
    await using server = await github();
    const event = { pull_request: { ...pullRequestEvent.pull_request, number: 8 } };
    assert.match(await reason(server, { event }), /comments on pull request 8 \(404: Not Found/);
  });

  it('when the token is unknown', async () => {
    await using server = await github();
    assert.match(await reason(server, { token: 'gone' }), /does not know the token/);
  });

  it('when there is no token', async () => {
    await using server = await github();
    assert.match(await reason(server, { token: '' }), /`github-token` is empty/);
    assert.deepEqual(server.operations, []);
  });

  it('when GitHub asks to wait longer than a job should', async () => {
    await using server = await github();
    server.hook = () => ({ do: 'answer', status: 429, message: 'Too many requests', retryAfter: 3600 });
    assert.match(await reason(server, {}), /too many requests\. The next run tries again\.$/);
    assert.deepEqual((await comment(server)).clock.sleeps, []);
  });

  it('when GitHub asks to wait a second time', async () => {
    await using server = await github();
    const limited = { do: 'answer', status: 403, message: 'You have exceeded a secondary rate limit.' } as const;
    const asked = new Set<string>();
    server.hook = ({ operation }) => {
      if (operation === 'graphql' || asked.has(operation)) return undefined;
      asked.add(operation);
      return { ...limited, retryAfter: 5 };
    };
    assert.match(await reason(server, {}), /too many requests/);
    asked.clear();
    assert.deepEqual((await comment(server)).clock.sleeps, [5000]);
    assert.deepEqual(writesOf(server), ['issues/create-comment', 'issues/create-comment']);
    assert.equal(server.comments.all.length, 0);
  });

  it('when GitHub fails', async () => {
    await using server = await github();
    server.hook = () => ({ do: 'answer', status: 502, message: 'Bad\n::error::gateway' });
    assert.match(await reason(server, {}), /refused the comment on pull request 7 \(502: Bad ::error::gateway/);
  });

  it('when the network fails', async () => {
    await using server = await github();
    server.hook = () => ({ do: 'drop', when: 'before' });
    assert.match(await reason(server, {}), /gave no answer about the comments of pull request 7/);
  });

  it('when nobody listens at GITHUB_API_URL', async () => {
    const server = await github();
    await server[Symbol.asyncDispose]();
    assert.match(await reason(server, {}), /gave no answer .*ECONNREFUSED/);
  });

  it('when other runs change it all the time', async () => {
    await using server = await github();
    const body = await withComment(server);
    server.hook = ({ operation }) => {
      if (operation === 'issues/list-comments') server.comments.add(workflowBot, body);
      return undefined;
    };
    assert.match(await reason(server, {}), /had changed its comment again/);
  });

  it('when `always` meets a run of no pull request', async () => {
    await using server = await github();
    const variables = { GITHUB_EVENT_NAME: 'push' };
    assert.match(await reason(server, { when: 'always', variables }), /about no pull request/);
    assert.deepEqual(server.operations, []);
  });

  it('when the event cannot be read', async () => {
    await using server = await github();
    assert.match(await reason(server, { event: { pull_request: {} } }), /does not hold the `pull_request` event/);
  });
});

describe('a comment', () => {
  it('waits once, as long as GitHub says, and is written then', async () => {
    await using server = await github();
    server.hook = once('issues/create-comment', () => ({
      do: 'answer',
      status: 403,
      message: 'You have exceeded a secondary rate limit.',
      retryAfter: 30,
    }));
    const { clock, told } = await comment(server);
    assert.deepEqual(clock.sleeps, [30_000]);
    assert.equal(told.at(-1), 'info|comment on pull request 7: written');
    assert.equal(server.comments.all.length, 1);
    assert.equal(await readFile(summary, 'utf8'), '');
  });

  it('that took effect without an answer is the one that the next run renews', async () => {
    await using server = await github();
    server.hook = once('issues/create-comment', () => ({ do: 'drop', when: 'after' }));
    await reason(server, {});
    await comment(server, run(101));
    assert.deepEqual(shownRuns(server), ['101.1']);
  });

  it('is not written, and nothing is said, where it is not asked for', async () => {
    await using server = await github();
    const variables = { GITHUB_EVENT_NAME: 'push' };
    for (const given of [{ when: 'never' }, { variables }] as const) {
      assert.deepEqual((await comment(server, given)).told, []);
    }
    assert.deepEqual(server.operations, []);
  });
});
