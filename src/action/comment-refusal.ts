import { Problem } from '../problem.ts';

/** What GitHub answered, as far as an error of its client tells. */
interface Answer {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** GitHub asks for a minute as a rule. More than that no job should wait for a comment. Seconds. */
const longestWait = 60;

/**
 * Milliseconds to wait before the same request may be sent again, where an error is GitHub's "not so fast" and says for how long; undefined for
 * every other error. Such a request has not been carried out, so repeating it makes no second comment.
 * See https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api (exceeding the rate limit).
 */
export function waitAsked(error: unknown): number | undefined {
  const answer = answerOf(error);
  if (answer === undefined || !isLimit(answer)) return undefined;
  const seconds = Number(answer.headers['retry-after']);
  return seconds >= 0 && seconds <= longestWait ? seconds * 1000 : undefined;
}

/** Why there is no comment on a pull request, for whatever writing it ended with. */
export function refusal(error: unknown, number: number): Problem {
  if (error instanceof Problem) return error;
  const answer = answerOf(error);
  const pull = `pull request ${number}`;
  if (answer === undefined) {
    return new Problem({
      code: 'comment-unreachable',
      title: 'GitHub could not be reached',
      what: `GitHub gave no answer about the comments of ${pull} (${reasonOf(error)}).`,
      advice: 'The next run tries again; on a runner of your own, see that it reaches the address in GITHUB_API_URL.',
      cause: error,
    });
  }
  if (isLimit(answer)) {
    return new Problem({
      code: 'comment-rate-limited',
      title: 'GitHub asks to write less often',
      what: `GitHub takes no comment on ${pull} now: too many requests.`,
      advice: 'The next run tries again.',
      cause: error,
    });
  }
  const { status, message } = answer;
  const told = { title: 'GitHub refused the comment', cause: error };
  if (status === 401) {
    return new Problem({
      ...told,
      code: 'comment-token-invalid',
      what: `GitHub does not know the token that was to comment on ${pull}.`,
      advice: 'Remove `github-token` to use the token of the workflow, or give one that has not expired.',
    });
  }
  if (status === 403 || status === 404) {
    return new Problem({
      ...told,
      code: 'comment-forbidden',
      what: `The token may not read or write comments on ${pull} (${status}: ${oneLine(message)}).`,
      advice:
        'Write `permissions: pull-requests: write` for this job; for pull requests from forks GitHub never grants it, and the report stays in the job summary.',
    });
  }
  return new Problem({
    ...told,
    code: 'comment-refused',
    what: `GitHub refused the comment on ${pull} (${status}: ${oneLine(message)}).`,
    advice: 'The next run tries again; write `comment: never` to do without.',
  });
}

/** Octokit throws several classes of errors, not all of which it exports: what they hold is what counts. */
function answerOf(error: unknown): Answer | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  // It says 500 for a request without an answer too.
  if (!('response' in error) || typeof error.response !== 'object' || error.response === null) return undefined;
  const { headers } = error.response as { headers?: Answer['headers'] };
  return { status: error.status, message: error.message, headers: headers ?? {} };
}

function isLimit({ status, message, headers }: Answer): boolean {
  if (status === 429) return true;
  return status === 403 && ('retry-after' in headers || /rate limit|abuse/i.test(message));
}

/** Network errors are wrapped, and only the innermost says what happened. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return oneLine(error.message === '' ? error.name : error.message);
}

/** Octokit appends the address of a manual page to what GitHub says. */
function oneLine(text: string): string {
  return text
    .replace(/ - https:\/\/docs\.github\.com\/\S*$/, '')
    .replace(/\s+/g, ' ')
    .slice(0, 300);
}
