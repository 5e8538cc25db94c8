import { Problem } from '../problem.ts';
import { renderComment } from '../report/comment.ts';
import { md, prose } from '../report/markdown.ts';
import type { Clock } from '../timing/clock.ts';
import type { RunRecord } from '../timing/record.ts';
import { type PullRequest, readPullRequests } from './comment-event.ts';
import { configurationKey, type Mark } from './comment-mark.ts';
import { refusal } from './comment-refusal.ts';
import { type Fate, keepOneComment } from './comment-sticky.ts';
import { githubThread } from './comment-thread.ts';
import { storeKind } from './open-store.ts';
import type { Runner } from './runner.ts';
import type { Settings } from './settings.ts';
import { appendSummary } from './summary-file.ts';

/** What of the runner a comment needs. */
type CommentRunner = Pick<Runner, 'variable' | 'info' | 'debug' | 'secrets'>;

/**
 * Reports a run in the one comment that its configuration has on each pull request the run belongs to. Why there is no comment, where one
 * was to be, is said in the log and in the job summary. Never throws: a report that nobody could read must not fail what was published.
 */
export async function writeComment(
  settings: Settings,
  record: RunRecord,
  clock: Clock,
  runner: CommentRunner,
): Promise<void> {
  const { when } = settings.comment;
  if (when === 'never') return;
  try {
    const pulls = await readPullRequests(runner);
    if (pulls.length === 0 && when === 'always') throw noPullRequest();
    for (const pull of pulls) {
      const fate = await report(settings, record, pull, clock, runner).catch((error: unknown) => {
        throw refusal(error, pull.number);
      });
      runner.info(`comment on pull request ${pull.number}: ${fates[fate]}`);
    }
  } catch (error) {
    await explain(error, runner);
  }
}

const fates: Record<Fate, string> = {
  written: 'written',
  unchanged: 'has this report already',
  outdated: 'left alone, as it shows a newer run',
};

async function report(
  settings: Settings,
  record: RunRecord,
  { number, commit }: PullRequest,
  clock: Clock,
  runner: CommentRunner,
): Promise<Fate> {
  const { token } = settings.comment;
  if (token === undefined) throw noToken();
  const mark = markOf(settings, runner);
  const text = renderComment(withoutSecrets(record, runner), { commit, run: mark.run });
  const [owner = '', repo = ''] = (runner.variable('GITHUB_REPOSITORY') ?? '').split('/');
  const apiUrl = runner.variable('GITHUB_API_URL') ?? 'https://api.github.com';
  return keepOneComment(githubThread({ token, apiUrl, owner, repo, number }, clock, runner.debug), mark, text);
}

function markOf({ request, store }: Settings, { variable }: CommentRunner): Mark {
  const named = (name: string) => variable(name) ?? '';
  return {
    key: configurationKey({
      workflow: named('GITHUB_WORKFLOW'),
      job: named('GITHUB_JOB'),
      step: named('GITHUB_ACTION'),
      suites: request.suites.map(({ suite }) => suite),
      store: storeKind(store),
    }),
    run: { id: Number(named('GITHUB_RUN_ID')), attempt: Number(named('GITHUB_RUN_ATTEMPT')) },
  };
}

/** No secret should be in these texts. Should one be, it has to go before its characters are escaped. */
function withoutSecrets(record: RunRecord, { secrets }: CommentRunner): RunRecord {
  const { warnings, problems } = record;
  const clean = (text: string) => secrets.redact(text);
  return {
    ...record,
    warnings: warnings.map(clean),
    ...(problems && {
      problems: problems.map(({ code, title, what, advice }) => ({
        code,
        title: clean(title),
        what: clean(what),
        advice: clean(advice),
      })),
    }),
  };
}

async function explain(error: unknown, runner: CommentRunner): Promise<void> {
  if (!(error instanceof Problem))
    runner.debug(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const why = error instanceof Problem ? error.message : 'Writing it failed because of a defect of apt-publish.';
  runner.info(`no comment on a pull request: ${why}`);
  await appendSummary(md`\n**No comment on a pull request:** ${prose(why)}\n`, runner);
}

function noPullRequest(): Problem {
  return new Problem({
    code: 'comment-without-pull-request',
    title: 'This run belongs to no pull request',
    what: 'The event that started this run is about no pull request, and `comment` is `always`.',
    advice: 'Write `comment: auto` to comment only where there is one.',
  });
}

function noToken(): Problem {
  return new Problem({
    code: 'comment-without-token',
    title: 'There is no token to comment with',
    what: 'The input `github-token` is empty.',
    advice: 'Remove it to use the token of the workflow, or write `comment: never`.',
  });
}
