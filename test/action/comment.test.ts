import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type GitHubServer, type Hook, startGitHub } from '../rig/github-server.ts';
import { workflowBot } from '../rig/github-server-comments.ts';
import { sampleRecord } from '../timing/record-samples.ts';
import { type Case, comment, pullRequestEvent, run, tokens } from './comment-sample.ts';

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

const github = () => startGitHub({ tokens });

/** A comment by the workflow that shows this run: one that an earlier run made. */
async function withComment(server: GitHubServer, id = 50): Promise<string> {
  await comment(server, run(id));
  server.operations.splice(0);
  const [made] = server.comments.all;
  assert.ok(made);
  return made.body;
}

function shownRuns(server: GitHubServer): string[] {
  return server.comments.all.map(({ body }) => /run=(\S+)/.exec(body)?.[1] ?? '');
}

/** Does something once, when the first request of this kind comes. */
function once(operation: string, action: () => ReturnType<Hook>): Hook {
  let done = false;
  return (request) => {
    if (done || request.operation !== operation) return undefined;
    done = true;
    return action();
  };
}

const writes = ['issues/create-comment', 'issues/update-comment', 'issues/delete-comment'];
const writesOf = (server: GitHubServer) => server.operations.filter((name) => writes.includes(name));

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

describe('the comment on a pull request', () => {
  it('is made by the first run and renewed by the next, in two looks and one write', async () => {
    await using server = await github();
    const runner = await comment(server);
    assert.deepEqual(runner.told, ['info|comment on pull request 7: written']);
    const looked = ['graphql', 'issues/list-comments'];
    assert.deepEqual(server.operations.slice(0, 2).sort(), looked);
    assert.deepEqual(server.operations.slice(2), ['issues/create-comment', 'issues/list-comments']);
    assert.match(server.comments.all[0]?.body ?? '', /^<!-- .* -->\n### apt-publish: published 2 packages/);
    server.operations.splice(0);
    await comment(server, run(101));
    assert.deepEqual(server.operations.slice(2), ['issues/update-comment', 'issues/list-comments']);
    assert.deepEqual(shownRuns(server), ['101.1']);
    assert.equal(await readFile(summary, 'utf8'), '');
  });

  it('is not written when it has the same text already', async () => {
    await using server = await github();
    await withComment(server, 100);
    const runner = await comment(server);
    assert.deepEqual(writesOf(server), []);
    assert.deepEqual(runner.told, ['info|comment on pull request 7: has this report already']);
  });

  it('is found behind more than a hundred others', async () => {
    await using server = await github();
    for (let index = 0; index < 230; index += 1) server.comments.add(tokens['person-token'].account, `remark ${index}`);
    await withComment(server);
    await comment(server);
    assert.equal(server.comments.all.length, 231);
    assert.equal(server.comments.all[230]?.body.includes('run=100.1'), true);
    assert.equal(server.operations.filter((name) => name === 'issues/list-comments').length, 6);
  });

  it('is one for each configuration', async () => {
    await using server = await github();
    await comment(server);
    await comment(server, { suites: ['trixie'] });
    await comment(server, { variables: { GITHUB_JOB: 'mirror' } });
    await comment(server, { suites: ['trixie'], ...run(101) });
    assert.deepEqual(shownRuns(server), ['100.1', '101.1', '100.1']);
  });

  it('is not taken from somebody who copies or quotes its mark, though the token could write there', async () => {
    await using server = await github();
    const body = await withComment(server);
    server.comments.remove(server.comments.all[0]?.id ?? 0);
    const quoted = `> ${body.replaceAll('\n', '\n> ')}\n\nNice.`;
    const foreign = [
      server.comments.add(tokens['person-token'].account, body),
      server.comments.add(workflowBot, quoted),
    ];
    await comment(server);
    assert.equal(server.comments.all.length, 3);
    assert.deepEqual(server.comments.all.slice(0, 2), foreign);
  });

  it('belongs to whom the token belongs to', async () => {
    await using server = await github();
    await withComment(server);
    await comment(server, { comment: { token: 'person-token' }, ...run(101) });
    await comment(server, { comment: { token: 'person-token' }, ...run(102) });
    assert.deepEqual(shownRuns(server), ['50.1', '102.1']);
  });

  it('keeps the report of a newer run when an older one comes late, and that of a newer attempt', async () => {
    await using server = await github();
    const body = await withComment(server, 200);
    const runner = await comment(server, run(199, 3));
    assert.deepEqual(writesOf(server), []);
    assert.deepEqual(runner.told, ['info|comment on pull request 7: left alone, as it shows a newer run']);
    assert.equal(server.comments.all[0]?.body, body);
    await comment(server, run(200, 2));
    await comment(server, run(200, 1));
    assert.deepEqual(shownRuns(server), ['200.2']);
  });

  it('is made anew when it is deleted between finding and writing it', async () => {
    await using server = await github();
    await withComment(server);
    server.hook = once('issues/update-comment', () => void server.comments.remove(server.comments.all[0]?.id ?? 0));
    await comment(server);
    assert.deepEqual(shownRuns(server), ['100.1']);
    assert.deepEqual(writesOf(server), ['issues/update-comment', 'issues/create-comment']);
  });

  it('is one when GitHub lists comments as they were a moment ago', async () => {
    await using server = await github();
    server.hook = ({ operation }) =>
      operation === 'issues/list-comments' && server.comments.all.length > 0 ? { do: 'lag' } : undefined;
    await comment(server);
    assert.deepEqual(writesOf(server), ['issues/create-comment']);
  });

  it('is one, with the newest report, after a run that ended before it could tidy up', async () => {
    await using server = await github();
    await withComment(server, 10);
    const oldest = server.comments.all[0]?.id;
    for (const id of [12, 11]) {
      server.comments.add(workflowBot, (server.comments.all[0]?.body ?? '').replace('run=10.1', `run=${id}.1`));
    }
    await comment(server, run(9));
    assert.deepEqual(shownRuns(server), ['12.1']);
    assert.equal(server.comments.all[0]?.id, oldest);
  });

  for (const [first, second] of [
    [100, 101],
    [101, 100],
  ] as const) {
    it(`is one when runs ${first} and ${second} make theirs at once`, async () => {
      await using server = await github();
      const both = Promise.withResolvers<void>();
      let looks = 0;
      server.hook = async ({ operation }) => {
        if (operation !== 'issues/create-comment') return undefined;
        looks += 1;
        if (looks === 2) both.resolve();
        await both.promise;
        return undefined;
      };
      await Promise.all([comment(server, run(first)), comment(server, run(second))]);
      assert.deepEqual(shownRuns(server), ['101.1']);
      assert.equal(writesOf(server).filter((name) => name === 'issues/create-comment').length, 2);
    });
  }

  it('is where an Enterprise Server has its API', async () => {
    await using server = await startGitHub({ tokens, base: '/api/v3' });
    await comment(server);
    assert.match(server.api, /\/api\/v3$/);
    assert.deepEqual(shownRuns(server), ['100.1']);
    await comment({ api: `${server.api}/` }, run(101));
    assert.deepEqual(shownRuns(server), ['101.1']);
  });

  it('has room under GitHub’s limit for a run whose report is far larger', async () => {
    await using server = await github();
    const wide = '@'.repeat(400);
    const [suite] = sampleRecord.suites;
    assert.ok(suite);
    const packages = Array.from({ length: 500 }, () => ({
      ...{ change: 'added', package: wide, version: wide, architecture: wide, component: wide, size: 1 },
      ...{ change: 'added' as const },
    }));
    await comment(server, { record: { ...sampleRecord, suites: [{ ...suite, packages }] } });
    assert.equal(server.comments.all.length, 1);
    assert.match(server.comments.all[0]?.body ?? '', /Left out for the size of this comment: packages/);
  });

  it('shows no secret', async () => {
    await using server = await github();
    const runner = await comment(server, {
      record: { ...sampleRecord, warnings: ['The token workflow-token is a secret.'] },
    });
    assert.equal(runner.masked.length, 0);
    assert.match(server.comments.all[0]?.body ?? '', /workflow-token/);
  });
});

describe('a comment that cannot be written is explained, and fails nothing,', () => {
  it('when the token may only read, as for a fork', async () => {
    await using server = await github();
    const why = await reason(server, { comment: { token: 'fork-token' } });
    assert.match(why, /may not .* pull request 7 \(403: Resource not accessible by integration.*pull-requests: write/);
    assert.equal(server.comments.all.length, 0);
  });

  it('when the token may not even read', async () => {
    await using server = await github();
    assert.match(await reason(server, { comment: { token: 'bare-token' } }), /may not .* \(403: /);
  });

  it('when the token cannot see the pull request', async () => {
    await using server = await github();
    const event = { pull_request: { ...pullRequestEvent.pull_request, number: 8 } };
    assert.match(await reason(server, { event }), /comments on pull request 8 \(404: Not Found/);
  });

  it('when the token is unknown', async () => {
    await using server = await github();
    assert.match(await reason(server, { comment: { token: 'gone' } }), /does not know the token/);
  });

  it('when there is no token', async () => {
    await using server = await github();
    assert.match(await reason(server, { comment: { token: undefined } as never }), /`github-token` is empty/);
    assert.deepEqual(server.operations, []);
  });

  it('when GitHub asks to wait longer than a job should', async () => {
    await using server = await github();
    server.hook = () => ({ do: 'answer', status: 429, message: 'Too many requests', retryAfter: 3600 });
    assert.match(await reason(server, {}), /too many requests\. The next run tries again\.$/);
  });

  it('when GitHub asks to wait a second time', async () => {
    await using server = await github();
    server.hook = ({ operation }) =>
      operation === 'issues/create-comment'
        ? { do: 'answer', status: 403, message: 'You have exceeded a secondary rate limit.', retryAfter: 5 }
        : undefined;
    assert.match(await reason(server, {}), /too many requests/);
    assert.equal(writesOf(server).length, 2);
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
    assert.match(await reason(server, { comment: { when: 'always' }, variables }), /about no pull request/);
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
    for (const given of [{ comment: { when: 'never' } }, { variables }] as const) {
      assert.deepEqual((await comment(server, given)).told, []);
    }
    assert.deepEqual(server.operations, []);
  });
});
