import type { Runner } from '../action/runner.ts';
import type { PerfState } from '../report/perf-comment.ts';
import type { Clock } from '../timing/clock.ts';
import { type Job, jobsOf } from './github-api.ts';
import { looks } from './pairs.ts';
import { tell } from './perf-thread.ts';
import { audienceOf, type StageInputs } from './stage-inputs.ts';
import { subjectOf } from './subject.ts';

/** GitHub asks for no more than 500 changes an hour; a comment that changes more often is not read. */
const everyMs = 30_000;
const longest = 60 * 60_000;
const runsOfBlock = 4;

/**
 * Shows how far the measuring has come, from outside: the job that measures runs code under test and holds no token, so it could tell nobody, and
 * what it could tell is not to be trusted. How many of its steps are done is GitHub's own knowledge. Ends with that job.
 */
export async function followStage(inputs: StageInputs, clock: Clock, runner: Runner): Promise<void> {
  const audience = audienceOf(inputs, runner, inputs.whole('number'));
  const subject = subjectOf(inputs);
  const began = clock.monotonic();
  let shown = '';
  while (clock.monotonic() - began < longest) {
    const jobs = await jobsOf(audience.repository, audience.run.id, audience.run.attempt);
    const state = progress(jobs);
    if (state === undefined) return;
    const text = JSON.stringify(state);
    if (text !== shown) await tell(audience, subject, state, clock, runner);
    shown = text;
    await clock.sleep(everyMs);
  }
}

/** How far a run has come, by the names of its jobs and their steps in perf.yml; undefined when there is nothing more to wait for. */
export function progress(jobs: readonly Job[]): PerfState | undefined {
  const named = (word: string) => jobs.filter(({ name }) => name.split(' / ').at(-1)?.startsWith(word));
  const measuring = named('Measure').filter(({ steps }) => steps.length > 0);
  if (named('Build').some(({ status }) => status !== 'completed')) return { state: 'building' };
  if (named('Measure').every(({ status }) => status === 'completed')) return undefined;
  const blocks = measuring.flatMap(({ steps }) => steps).filter(({ name }) => /^Block \d/.test(name));
  const done = blocks.filter(({ conclusion }) => conclusion === 'success').length;
  const extended = done > looks[0] / 2;
  return { state: 'running', runs: done * runsOfBlock, of: 2 * (extended ? looks[1] : looks[0]) };
}
