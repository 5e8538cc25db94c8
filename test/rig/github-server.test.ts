import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GitHubServer, place, startGitHub } from './github-server.ts';
import { workflowBot } from './github-server-comments.ts';

const tokens = { writer: { account: workflowBot, pullRequests: 'write' } } as const;
const issue = `/repos/${place.repository}/issues/${place.number}`;

async function ask(server: GitHubServer, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${server.api}${path}`, {
    method,
    headers: { authorization: 'token writer' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** What the server throws at its end about this one request. */
async function breach(method: string, path: string, body?: unknown): Promise<string> {
  const server = await startGitHub({ tokens });
  const { status } = await ask(server, method, path, body);
  assert.equal(status, 500);
  return server[Symbol.asyncDispose]().then(
    () => assert.fail('the request passed'),
    (error: Error) => error.message,
  );
}

describe('the GitHub of the tests', () => {
  it('lists comments in pages that are linked, thirty a page unless asked', async () => {
    await using server = await startGitHub({ tokens });
    for (let index = 0; index < 31; index += 1) server.comments.add(workflowBot, `${index}`);
    const first = await ask(server, 'GET', `${issue}/comments`);
    assert.equal(((await first.json()) as unknown[]).length, 30);
    const [, next = ''] = /<([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await fetch(next, { headers: { authorization: 'token writer' } });
    assert.deepEqual(
      ((await second.json()) as { body: string }[]).map(({ body }) => body),
      ['30'],
    );
    assert.equal(second.headers.get('link'), null);
  });

  it('refuses a body that is too long, as GitHub does', async () => {
    await using server = await startGitHub({ tokens });
    const post = (length: number) => ask(server, 'POST', `${issue}/comments`, { body: 'x'.repeat(length) });
    assert.equal((await post(65_536)).status, 201);
    assert.equal((await post(65_537)).status, 422);
  });

  const undescribed: readonly (readonly [what: string, method: string, path: string, body: unknown, says: RegExp])[] = [
    ['path', 'GET', '/repos/octo/packages/issue/7/comments', undefined, /describes no GET/],
    ['method', 'PUT', `${issue}/comments`, { body: 'x' }, /describes no PUT/],
    ['path parameter', 'GET', '/repos/octo/packages/issues/seven/comments', undefined, /issue_number.*integer/],
    ['query parameter', 'GET', `${issue}/comments?pageSize=100`, undefined, /no query parameter pageSize/],
    ['value of one', 'GET', `${issue}/comments?per_page=all`, undefined, /per_page.*integer/],
    ['body', 'POST', `${issue}/comments`, { text: 'x' }, /must have required property 'body'/],
    ['field of a body', 'POST', `${issue}/comments`, { body: 'x', event: 'y' }, /additional properties/],
    ['type in a body', 'PATCH', '/repos/octo/packages/issues/comments/1', { body: 1 }, /body must be string/],
    ['body of a delete', 'DELETE', '/repos/octo/packages/issues/comments/1', { body: 'x' }, /has no body/],
    ['query of GraphQL', 'POST', '/graphql', { query: 'query { viewer { email } }' }, /not the query/],
  ];
  for (const [what, method, path, body, says] of undescribed) {
    it(`throws at its end what had a ${what} that GitHub does not describe`, async () => {
      assert.match(await breach(method, path, body), says);
    });
  }

  it('holds its own answers against the description too', async () => {
    const server = await startGitHub({ tokens });
    server.comments.add({ ...workflowBot, id: 1.5 }, 'by half a bot');
    assert.equal((await ask(server, 'GET', `${issue}/comments`)).status, 500);
    await assert.rejects(
      async () => server[Symbol.asyncDispose](),
      /answer 200 to GET .* is none that GitHub describes.*user\/id/,
    );
  });
});
