import { readFile, writeFile } from 'node:fs/promises';
import type { Runner } from '../action/runner.ts';
import { Problem } from '../problem.ts';
import type { PerfState, PerfSubject } from '../report/perf-comment.ts';
import type { Clock } from '../timing/clock.ts';
import { assess, noiseSession } from './assess.ts';
import { type ComparisonRecord, parseComparison } from './comparison-record.ts';
import { pullRequestState } from './github-api.ts';
import { poolWith, readPool } from './noise-pool.ts';
import { tell } from './perf-thread.ts';
import { audienceOf, type StageInputs } from './stage-inputs.ts';
import { subjectOf } from './subject.ts';

/**
 * Judges what was measured and says so: the last job, which never sees the code under test. The record comes from a machine that has run that code, so
 * it is read by a closed schema, has to be about what was asked for, and holds numbers only; the verdict is worked out here.
 */
export async function reportStage(inputs: StageInputs, clock: Clock, runner: Runner): Promise<void> {
  const audience = audienceOf(inputs, runner, inputs.whole('number'));
  const subject = subjectOf(inputs);
  const ended = await endedState(inputs, subject);
  const now = await pullRequestState(audience.repository, audience.number);
  const superseded = now !== undefined && now.head !== subject.head;
  const state: PerfState = superseded ? { state: 'superseded' } : ended;
  await tell(audience, subject, state, clock, runner);
  if (state.state === 'done') runner.output('verdict', state.verdict);
}

/** Adds a night's comparison of a build with itself to the pool: from the file `record` into the file `noise`. */
export async function poolStage(inputs: StageInputs, runner: Runner): Promise<void> {
  const path = inputs.required('noise');
  const session = noiseSession(await readRecord(inputs.required('record')));
  if (session === undefined)
    return runner.warning('Tonight’s comparison went wrong and is no part of the pool.', 'apt-perf');
  const told = inputs.text('control-result');
  const control = told === 'success' || told === 'failure' ? told : 'skipped';
  await writeFile(path, poolWith(await readPool(path), session, control));
}

async function endedState(inputs: StageInputs, subject: PerfSubject): Promise<PerfState> {
  const results = {
    build: inputs.text('build-result') ?? 'success',
    measure: inputs.text('measure-result') ?? 'success',
  };
  if (Object.values(results).includes('cancelled')) return { state: 'superseded' };
  const again = 'See its log, and comment `/apt-perf` again.';
  if (results.build !== 'success')
    return { state: 'failed', stage: 'build', what: 'One of the two sides could not be built.', advice: again };
  if (results.measure !== 'success')
    return { state: 'failed', stage: 'measure', what: 'The measuring did not come to its end.', advice: again };
  try {
    const record = await readRecord(inputs.required('record'));
    checkSubject(record, subject);
    const { sessions, instrument } = await readPool(inputs.text('noise'));
    const result = assess(record, sessions);
    const doubts = [
      ...(instrument === 'suspect' ? [suspect] : []),
      ...(inputs.text('fork') === 'true' ? [hearsay] : []),
    ];
    return { state: 'done', ...result, remarks: [...doubts, ...result.remarks] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { state: 'failed', stage: 'report', what: error.what, advice: error.advice };
  }
}

const suspect =
  'Instrument suspect: the last weekly control did not find builds slower that are known to be slower. Believe no verdict until it does.';
const hearsay =
  'The head comes from a fork, and its code ran on the machine that measured: the numbers are as trustworthy as its author.';

async function readRecord(path: string): Promise<ComparisonRecord> {
  const written = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Problem({
      code: 'comparison-missing',
      title: 'There are no measurements',
      what: 'The job that measures has left no record.',
      advice: 'See its log, and comment `/apt-perf` again.',
      cause,
    });
  });
  return parseComparison(written);
}

/** A record of another pairing would be judged under this one's name. */
function checkSubject({ subject, pairing }: ComparisonRecord, asked: PerfSubject): void {
  const same = subject.kind === 'commits' && subject.base === asked.base && subject.head === asked.head;
  if (same && pairing === asked.pairing) return;
  throw new Problem({
    code: 'comparison-of-another',
    title: 'The measurements are of something else',
    what: 'The record is not of the commits and the pairing that were asked for.',
    advice:
      'Comment `/apt-perf` again; if this stays, the code under test has written into the folder of the measurements.',
  });
}
