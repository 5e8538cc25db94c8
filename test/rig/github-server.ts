import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Account, Comments, issueComment } from './github-server-comments.ts';
import { type Operation, readContract } from './github-server-contract.ts';
import { closeServer, listenLocally } from './listener.ts';

/** A token: whose it is, and what its permission `pull-requests` says. */
export interface Token {
  readonly account: Account;
  readonly pullRequests: 'write' | 'read' | 'none';
  /** What GraphQL calls the account; as its comments do unless given. */
  readonly viewer?: string;
}

export interface GitHubRequest {
  readonly method: string;
  /** Below the base of the API, without the query. */
  readonly path: string;
  /** `issues/list-comments` …, or `graphql`. */
  readonly operation: string;
  readonly token: string;
}

export type Fault =
  | { readonly do: 'answer'; readonly status: number; readonly message: string; readonly retryAfter?: number }
  /** Closes the connection, before or after the request has taken effect. */
  | { readonly do: 'drop'; readonly when: 'before' | 'after' }
  /** Lists comments as they were before the last change. */
  | { readonly do: 'lag' };

/** Sees every request before it takes effect. It may change the comments, and may take its time: the request waits. */
export type Hook = (request: GitHubRequest) => Fault | undefined | Promise<Fault | undefined>;

export interface GitHubServer extends AsyncDisposable {
  /** What GITHUB_API_URL is on a runner of this GitHub. */
  readonly api: string;
  readonly comments: Comments;
  /** `issues/create-comment` …, of every request, in order. */
  readonly operations: string[];
  hook: Hook;
}

export interface GitHubOptions {
  /** Where the API is: nowhere for github.com, `/api/v3` for an Enterprise Server. */
  readonly base?: '' | '/api/v3';
  readonly tokens: Readonly<Record<string, Token>>;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The repository and pull request that this GitHub has. */
export const place = { repository: 'octo/packages', number: 7 } as const;
const issue = `/repos/${place.repository}/issues/${place.number}`;
const longestBody = 65_536;
const contract = await readContract();

/**
 * As much of GitHub as writes comments on one pull request, on a free port of 127.0.0.1. Every request and every answer is held against the
 * description that GitHub publishes; disposing of the server throws what was not as described.
 */
export async function startGitHub({ base = '', tokens }: GitHubOptions): Promise<GitHubServer> {
  const comments = new Comments();
  const operations: string[] = [];
  const breaches: unknown[] = [];
  const state: { hook: Hook; api: string } = { hook: () => undefined, api: '' };

  async function serve(request: IncomingMessage): Promise<Answer | 'drop'> {
    const url = new URL(request.url ?? '', 'http://github');
    const method = request.method ?? '';
    const text = Buffer.concat(await request.toArray()).toString();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const token = (request.headers.authorization ?? '').replace(/^(?:token|bearer) /i, '');
    if (url.pathname === (base === '' ? '/graphql' : '/api/graphql')) {
      if (method !== 'POST') throw new Error('GraphQL is asked by POST');
      return answered({ method, path: url.pathname, operation: 'graphql', token }, undefined, () =>
        viewer(body, tokens[token]),
      );
    }
    if (!url.pathname.startsWith(`${base}/`)) throw new Error(`${url.pathname} is outside of the API`);
    const path = url.pathname.slice(base.length);
    for (const operation of contract) {
      const fields = operation.matches(method, path);
      if (fields === undefined) continue;
      operation.checkRequest(fields, url.searchParams, body);
      return answered({ method, path, operation: operation.id, token }, operation, (lag) =>
        rest(operation.id, fields, url.searchParams, body, tokens[token], lag),
      );
    }
    throw new Error(`GitHub describes no ${method} ${path}`);
  }

  async function answered(
    request: GitHubRequest,
    operation: Operation | undefined,
    handle: (lag: boolean) => Answer,
  ): Promise<Answer | 'drop'> {
    operations.push(request.operation);
    const fault = await state.hook(request);
    if (fault?.do === 'drop' && fault.when === 'before') return 'drop';
    const answer = fault?.do === 'answer' ? faultAnswer(fault) : handle(fault?.do === 'lag');
    operation?.checkAnswer(answer.status, answer.body);
    return fault?.do === 'drop' ? 'drop' : answer;
  }

  function rest(
    id: string,
    fields: ReadonlyMap<string, string>,
    query: URLSearchParams,
    body: unknown,
    token: Token | undefined,
    lag: boolean,
  ): Answer {
    if (token === undefined) return { status: 401, body: { message: 'Bad credentials', documentation_url } };
    const repository = `${fields.get('owner')}/${fields.get('repo')}`;
    const number = fields.get('issue_number') ?? String(place.number);
    if (repository !== place.repository || number !== String(place.number)) return notFound;
    const needed = id === 'issues/list-comments' ? ['read', 'write'] : ['write'];
    if (!needed.includes(token.pullRequests)) return forbidden;
    const text = (body as { body?: string } | undefined)?.body ?? '';
    if (text.length > longestBody) return tooLong;
    const commentId = Number(fields.get('comment_id'));
    switch (id) {
      case 'issues/list-comments':
        return page(query, lag);
      case 'issues/create-comment':
        return { status: 201, body: issueComment(comments.add(token.account, text), state.api, issue) };
      case 'issues/update-comment': {
        const edited = comments.edit(commentId, text);
        return edited === undefined ? notFound : { status: 200, body: issueComment(edited, state.api, issue) };
      }
      default:
        return comments.remove(commentId) ? { status: 204 } : notFound;
    }
  }

  function page(query: URLSearchParams, lag: boolean): Answer {
    const all = lag ? comments.before() : comments.all;
    const size = Math.min(100, Number(query.get('per_page') ?? 30));
    const at = Number(query.get('page') ?? 1);
    const last = Math.max(1, Math.ceil(all.length / size));
    const link = (to: number, rel: string) =>
      `<${state.api}${issue}/comments?per_page=${size}&page=${to}>; rel="${rel}"`;
    const links = at < last ? [link(at + 1, 'next'), link(last, 'last')] : [];
    const body = all.slice((at - 1) * size, at * size).map((comment) => issueComment(comment, state.api, issue));
    return { status: 200, body, headers: links.length === 0 ? {} : { link: links.join(', ') } };
  }

  const server = createServer((request, response) => {
    serve(request).then(
      (answer) => (answer === 'drop' ? request.socket.destroy() : send(response, answer)),
      (error: unknown) => {
        breaches.push(error);
        send(response, { status: 500, body: { message: String(error) } });
      },
    );
  });
  const origin = await listenLocally(server);
  state.api = `${origin}${base}`;
  return Object.assign(state, {
    comments,
    operations,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
      if (breaches.length > 0) throw new AggregateError(breaches, breaches.map(String).join('\n'));
    },
  });
}

const documentation_url = 'https://docs.github.com/rest';
const notFound: Answer = { status: 404, body: { message: 'Not Found', documentation_url, status: '404' } };
const forbidden: Answer = {
  status: 403,
  body: { message: 'Resource not accessible by integration', documentation_url, status: '403' },
};
const tooLong: Answer = {
  status: 422,
  body: {
    message: 'Validation Failed',
    documentation_url,
    errors: [{ code: 'unprocessable', message: 'Body is too long (maximum is 65536 characters)' }],
  },
};

/** GraphQL is described elsewhere; the one query that is asked is known by heart. */
function viewer(body: unknown, token: Token | undefined): Answer {
  if (JSON.stringify(body) !== '{"query":"query { viewer { login } }"}') throw new Error('not the query of the viewer');
  if (token === undefined) return { status: 401, body: { message: 'Bad credentials', documentation_url } };
  return { status: 200, body: { data: { viewer: { login: token.viewer ?? token.account.login } } } };
}

function faultAnswer(fault: Fault & { readonly do: 'answer' }): Answer {
  const headers = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
  return { status: fault.status, body: { message: fault.message, documentation_url }, headers };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
