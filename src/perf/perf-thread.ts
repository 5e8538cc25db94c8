import { configurationKey } from '../action/comment-mark.ts';
import { refusal } from '../action/comment-refusal.ts';
import { keepOneComment } from '../action/comment-sticky.ts';
import { githubThread } from '../action/comment-thread.ts';
import type { Runner } from '../action/runner.ts';
import { appendSummary } from '../action/summary-file.ts';
import { Problem } from '../problem.ts';
import { type PerfState, type PerfSubject, renderPerfComment } from '../report/perf-comment.ts';
import type { Clock } from '../timing/clock.ts';
import type { Repository } from './github-api.ts';

/** Where and as which run a comparison is told about. */
export interface Audience {
  readonly repository: Repository;
  /** Of the pull request. */
  readonly number: number;
  readonly run: { readonly id: number; readonly attempt: number };
}

/** All comparisons of a pull request share one comment. */
const key = configurationKey({ workflow: 'apt-perf', job: '', step: '', suites: [], store: '' });

/**
 * Shows a state in the one comment that the pull request has for comparisons; that of a newer run stays. A comment that cannot be written never
 * fails the job: why is said in the log and in the job summary, which `tell` writes to anyhow when the state is final.
 */
export async function tell(
  { repository, number, run }: Audience,
  subject: PerfSubject,
  state: PerfState,
  clock: Clock,
  runner: Pick<Runner, 'info' | 'debug' | 'secrets'>,
): Promise<void> {
  const text = renderPerfComment(subject, state);
  const passing = ['queued', 'building', 'running'].includes(state.state);
  if (!passing) await appendSummary(text, runner);
  const [owner = '', repo = ''] = repository.name.split('/');
  const { token, apiUrl } = repository;
  try {
    const thread = githubThread({ token, apiUrl, owner, repo, number }, clock, runner.debug);
    const fate = await keepOneComment(thread, { key, run }, text);
    runner.info(`comment on pull request ${number} (${state.state}): ${fate}`);
  } catch (error) {
    const why = refusal(error, number);
    runner.info(`no comment on pull request ${number}: ${why instanceof Problem ? why.message : String(why)}`);
  }
}
