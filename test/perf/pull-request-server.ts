import { createServer } from 'node:http';
import { tokens } from '../action/comment-sample.ts';
import { type GitHubServer, place, startGitHub } from '../rig/github-server.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';
import { base, head } from './comparison-samples.ts';

/** What this GitHub says of its one pull request and of the run that asks. */
export interface PullRequestFacts {
  head: string;
  /** Of the repository the head is in; null when that is gone. */
  headRepository: { readonly id: number } | null;
  state: 'open' | 'closed';
  /** Permission by login, as the API words it. */
  readonly permissions: Record<string, string>;
  jobs: readonly object[];
  /** Paths below the repository that answer 403. */
  readonly forbidden: Set<string>;
}

export interface PullRequestServer extends AsyncDisposable {
  readonly api: string;
  readonly facts: PullRequestFacts;
  readonly comments: GitHubServer['comments'];
  readonly github: GitHubServer;
}

/** The rig's GitHub with as much in front of it as a comparison asks besides comments: who may what, the pull request, runs and jobs. */
export async function startPullRequestServer(): Promise<PullRequestServer> {
  const github = await startGitHub({ tokens });
  const facts: PullRequestFacts = {
    head,
    headRepository: { id: 1 },
    state: 'open',
    permissions: { octocat: 'write', boss: 'admin', reader: 'read' },
    jobs: [],
    forbidden: new Set(),
  };
  const answer = (path: string): object | undefined => {
    const login = /^collaborators\/([^/]+)\/permission$/.exec(path)?.[1];
    if (login !== undefined) return { permission: facts.permissions[login] ?? 'none', role_name: 'custom' };
    if (path === `pulls/${place.number}`) {
      const { state, head: sha, headRepository: repo } = facts;
      return { number: place.number, state, head: { sha, repo }, base: { sha: 'f'.repeat(40), repo: { id: 1 } } };
    }
    if (path.startsWith('compare/')) return { status: 'diverged', merge_base_commit: { sha: base } };
    if (path.startsWith('actions/workflows/')) return { total_count: 1, workflow_runs: [{ id: 77 }] };
    return /^actions\/runs\/100\/attempts\/1\/jobs$/.test(path) ? { jobs: facts.jobs } : undefined;
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://github');
    const path = url.pathname.replace(`/repos/${place.repository}/`, '');
    const send = (status: number, body: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    };
    if (facts.forbidden.has(path)) return send(403, '{"message":"Resource not accessible by integration"}');
    const own = request.method === 'GET' ? answer(path) : undefined;
    if (own !== undefined) return send(200, JSON.stringify(own));
    const text = Buffer.concat(await request.toArray()).toString();
    const passed = await fetch(`${github.api}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
      ...(text === '' ? {} : { body: text }),
    });
    const link = passed.headers.get('link');
    send(passed.status, await passed.text(), link === null ? {} : { link: link.replaceAll(github.api, api) });
  });
  const api = await listenLocally(server);
  return {
    api,
    facts,
    comments: github.comments,
    github,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
      await github[Symbol.asyncDispose]();
    },
  };
}
