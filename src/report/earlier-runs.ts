import type { PhaseTime, RunRecord, SuiteOutcome, TimedRun } from '../timing/record.ts';
import { phaseNames } from '../timing/span.ts';
import { suiteTimes } from '../timing/suite-times.ts';
import {
  type Column,
  clip,
  code,
  type Inline,
  joined,
  longestName,
  type Markdown,
  md,
  prose,
  tableHead,
  tableRow,
} from './markdown.ts';
import { duration } from './units.ts';

const shownSuites = 5;

const columns: readonly Column[] = [
  { title: prose('Phase') },
  ...['This run', 'Before'].map((title) => ({ title: prose(title), align: 'right' as const })),
];

/**
 * A dry run beside the last one that was none, a table for each of the first suites that one is known of; phases that only one of the two came to
 * have an en dash. No difference and no verdict: the two ran on different machines, with different things to do.
 */
export function earlierRuns(record: RunRecord): Markdown[] {
  return record.suites
    .flatMap((suite) => (suite.before === undefined ? [] : [tableOf(record, suite, suite.before)]))
    .slice(0, shownSuites);
}

function tableOf(record: RunRecord, { suite }: SuiteOutcome, before: TimedRun): Markdown {
  const mine = suiteTimes(record.phases, suite);
  const ran = phaseNames.filter((name) => [...mine, ...before.phases].some(({ phase }) => phase === name));
  const rows = ran.map((name) => row(prose(name), timeOf(mine, name), timeOf(before.phases, name)));
  const whole = row(prose('all, before the commit'), record.durationMs, before.durationMs);
  return md`The publish before into ${code(clip(suite, longestName))} was on ${code(before.at)}, on another machine and with other packages: times to look at, not to judge by. This run is a dry one, and ended where writing would have begun.\n\n${tableHead(columns)}${joined(rows)}${whole}\n`;
}

function timeOf(phases: readonly PhaseTime[], name: PhaseTime['phase']): number {
  return phases.find(({ phase }) => phase === name)?.ms ?? Number.NaN;
}

function row(name: Inline, mine: number, before: number): Markdown {
  return tableRow(columns, [name, prose(duration(mine)), prose(duration(before))]);
}
