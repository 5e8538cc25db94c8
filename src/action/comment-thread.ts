import { getOctokit } from '@actions/github';
import type { Clock } from '../timing/clock.ts';
import { waitAsked } from './comment-refusal.ts';
import type { CommentThread } from './comment-sticky.ts';
import { version } from './version.ts';

/** Where a pull request is, and as whom to speak there. */
export interface ThreadPlace {
  readonly token: string;
  /** `https://api.github.com`, or `https://HOST/api/v3` of a GitHub Enterprise Server. */
  readonly apiUrl: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
}

/** An answer that takes longer is not worth waiting for: the report is in the job summary as well. Milliseconds. */
const timeLimit = 20_000;

/**
 * The comments of a pull request on GitHub, as its REST API shows them: those on the conversation, which are comments on an issue of the same
 * number. When GitHub asks to wait and try again it is obeyed, once.
 *
 * Whose the token is only GraphQL tells for every kind of token: `GET /user` refuses that of a workflow (it belongs to an app), `GET /app` wants
 * an app's own key, and neither the token nor its rights name anybody. The query `viewer` needs no permission.
 */
export function githubThread(place: ThreadPlace, clock: Clock, debug: (line: string) => void): CommentThread {
  const { token, apiUrl, owner, repo, number } = place;
  const octokit = getOctokit(token, {
    baseUrl: apiUrl.replace(/\/+$/, ''),
    userAgent: `apt-publish/${version}`,
    log: { debug, info: debug, warn: debug, error: debug },
  });
  let waited = false;
  octokit.hook.wrap('request', async (request, options) => {
    const attempt = () =>
      request({ ...options, request: { ...options.request, signal: AbortSignal.timeout(timeLimit) } });
    try {
      return await attempt();
    } catch (error) {
      const wait = waited ? undefined : waitAsked(error);
      if (wait === undefined) throw error;
      waited = true;
      debug(`GitHub asks to wait ${wait / 1000} s before the next request`);
      await clock.sleep(wait);
      return attempt();
    }
  });
  const { issues } = octokit.rest;
  const issue = { owner, repo, issue_number: number };
  return {
    author: async () => {
      const { viewer } = await octokit.graphql<{ viewer: { login: string } }>('query { viewer { login } }');
      return viewer.login;
    },
    list: async () => {
      const comments = await octokit.paginate(issues.listComments, { ...issue, per_page: 100 });
      return comments.map(threadComment);
    },
    create: async (body) => threadComment((await issues.createComment({ ...issue, body })).data),
    update: (id, body) => found(issues.updateComment({ owner, repo, comment_id: id, body })),
    remove: async (id) => {
      await found(issues.deleteComment({ owner, repo, comment_id: id }));
    },
  };
}

/** The author of a comment whose account is gone is nobody. */
function threadComment(comment: { id: number; body?: string; user: { login: string } | null }) {
  return { id: comment.id, author: comment.user?.login ?? '', body: comment.body ?? '' };
}

async function found(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 404) return false;
    throw error;
  }
}
