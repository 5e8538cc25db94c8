import type { PhaseAnalysis, RunAnalysis } from '../timing/analysis.ts';
import type { RunRecord } from '../timing/record.ts';
import { type Column, type Inline, md, prose, tableHead, tableRow, unbroken } from './markdown.ts';
import { fixed, nothing, type Section } from './page.ts';
import { bytes, count, duration, durations, number, percent } from './units.ts';

const columns: readonly Column[] = [
  { title: prose('Phase') },
  ...['Time', 'Share'].map((title) => ({ title: prose(title), align: 'right' as const })),
  { title: prose('Requests') },
  ...['Sent', 'Received', 'p50, p95, max', 'In flight', 'Depth', 'Least'].map((title) => ({
    title: unbroken(title),
    align: 'right' as const,
  })),
];

/** A row for every phase: time, requests, bytes, and the least time that its depth allows. */
export function phasesOf(record: RunRecord, { phases, roundTrip, outside }: RunAnalysis): Section {
  if (phases.length === 0) return fixed(nothing);
  const trip =
    roundTrip === undefined
      ? nothing
      : md` A round trip to the store took ${prose(duration(roundTrip))}; *least* is what a phase takes with nothing but its depth in round trips to wait for.`;
  const omitted = (record.omitted ?? []).reduce((sum, { spans }) => sum + spans, 0);
  const sampled =
    omitted === 0
      ? nothing
      : md` ${prose(count(omitted, 'request'))} and pieces of work are counted but not timed: there were too many to keep.`;
  return {
    before: md`### Where the time went\n\n${tableHead(columns)}`,
    rows: phases.map((phase) => tableRow(columns, cells(phase))),
    instead: (left) => md`\n${prose(count(left, 'phase'))} left out.\n`,
    after: md`\nPhases overlap, so shares may add up to more than 100 %; ${prose(duration(outside))} of ${prose(duration(record.durationMs))} lay outside of them.${trip}${sampled}\n\n`,
  };
}

function cells(phase: PhaseAnalysis): Inline[] {
  const { time, least = 0 } = phase;
  const some = (value: number, text: string) => unbroken(value > 0 ? text : '–');
  const requests = [...phase.requests].map(([verb, times]) => unbroken(`${number(times)} ${verb}`));
  return [
    prose(phase.name),
    unbroken(duration(phase.wall)),
    unbroken(percent(phase.share)),
    requests.length === 0 ? prose('–') : (requests.join(', ') as Inline),
    some(phase.bytesUp, bytes(phase.bytesUp)),
    some(phase.bytesDown, bytes(phase.bytesDown)),
    unbroken(time === undefined ? '–' : durations([time.p50, time.p95, time.max])),
    some(phase.highestInFlight, number(phase.highestInFlight)),
    some(phase.waves, number(phase.waves)),
    some(least, duration(least)),
  ];
}
