import type { PerfSubject } from '../report/perf-comment.ts';
import type { StageInputs } from './stage-inputs.ts';

const commit = /^[0-9a-f]{40}$/;

/** What is compared, by the word of the job that bound the command to its commits. */
export function subjectOf(inputs: StageInputs): PerfSubject {
  return {
    base: inputs.matching('base', commit),
    head: inputs.matching('head', commit),
    pairing: inputs.matching('pairing', /^[a-z0-9][a-z0-9-]{0,59}$/),
  };
}
