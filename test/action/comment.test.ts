import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startGitHub } from '../rig/github-server.ts';
import { workflowBot } from '../rig/github-server-comments.ts';
import { sampleRecord } from '../timing/record-samples.ts';
import { comment, github, once, run, shownRuns, tokens, withComment, writesOf } from './comment-sample.ts';

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
    await comment(server, { token: 'person-token', ...run(101) });
    await comment(server, { token: 'person-token', ...run(102) });
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

  it('is made anew even when GitHub goes on listing the deleted one', async () => {
    await using server = await github();
    await withComment(server);
    let lag = false;
    server.hook = ({ operation }) => {
      if (operation === 'issues/update-comment' && !lag) {
        lag = true;
        server.comments.remove(server.comments.all[0]?.id ?? 0);
      }
      return operation === 'issues/list-comments' && lag ? { do: 'lag' } : undefined;
    };
    await comment(server);
    assert.deepEqual(shownRuns(server), ['100.1']);
    assert.deepEqual(writesOf(server), ['issues/update-comment', 'issues/create-comment']);
  });

  it('is that of the later of two reports of one run', async () => {
    await using server = await github();
    await comment(server);
    await comment(server, { record: { ...sampleRecord, outcome: 'dry-run' } });
    assert.match(server.comments.all[0]?.body ?? '', /apt-publish: would change/);
    assert.equal(server.comments.all.length, 1);
  });

  it('is one even where GraphQL calls its author by another name than its comments do', async () => {
    const token = { ...tokens['workflow-token'], viewer: 'github-actions' };
    await using server = await startGitHub({ tokens: { 'workflow-token': token } });
    await comment(server, run(100));
    await comment(server, run(101));
    assert.deepEqual(shownRuns(server), ['101.1']);
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
    const change = {
      change: 'added',
      package: wide,
      version: wide,
      architecture: wide,
      component: wide,
      size: 1,
    } as const;
    const packages = Array.from({ length: 500 }, () => change);
    await comment(server, { record: { ...sampleRecord, suites: [{ ...suite, packages }] } });
    assert.equal(server.comments.all.length, 1);
    assert.match(server.comments.all[0]?.body ?? '', /Left out for the size of this comment: packages/);
  });

  it('shows no secret, however a warning or an error got hold of it', async () => {
    const problem = { code: 'odd', title: 'Odd', what: 'The token ghs_secret_secret is odd.', advice: 'Hide it.' };
    await using server = await startGitHub({ tokens: { ghs_secret_secret: tokens['workflow-token'] } });
    const record = { ...sampleRecord, outcome: 'failed', problems: [problem], warnings: [problem.what] } as const;
    await comment(server, { token: 'ghs_secret_secret', record });
    const body = server.comments.all[0]?.body ?? '';
    assert.equal(body.match(/The token \*{3}|The token (&#42;){3}/g)?.length, 2, body);
    assert.doesNotMatch(body, /secret/);
  });
});
