import type { RunRecord } from '../timing/record.ts';
import type { PhaseSpan, RequestSpan, Span } from '../timing/span.ts';
import { inFlight } from '../timing/stretches.ts';

/** What a track shows, as a process of the trace; viewers list them in this order. */
const groups = { phases: 1, requests: 2, work: 3 } as const;
type Group = keyof typeof groups;

/** Moments at which the rate of bytes is told: as fine as a screen. */
const rates = 500;

/** One slice; times in whole microseconds. */
interface Slice {
  readonly group: Group;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly args: Readonly<Record<string, string | number>>;
}

/**
 * The run as a trace that chrome://tracing, ui.perfetto.dev and speedscope open: the JSON object format with complete events
 * (`ph: X`) in microseconds (Trace Event Format, "Duration Events" and "Complete Events"). Slices lie in as few tracks as go side by
 * side, and in one track none overlaps another, since viewers take an overlap for nesting or drop it. Counters tell how many
 * requests were in flight and how many bytes a second went each way.
 *
 * What a slice says of its request or work is a closed list: names of phases and suites, verbs, classes of objects, outcomes, sizes.
 */
export function renderChromeTrace(record: RunRecord): string {
  const phases = new Map(record.phases.map((phase) => [phase.id, phase]));
  const slices = [
    ...record.phases.map(phaseSlice),
    ...record.spans.map((span) => spanSlice(span, phases.get(span.phase))),
  ];
  const tracks = (Object.keys(groups) as Group[]).flatMap((group) =>
    lanes(slices.filter((slice) => slice.group === group)).map((lane, index) => ({ group, lane, tid: index + 1 })),
  );
  const events = [
    ...Object.entries(groups).map(([name, pid]) => ({ ph: 'M', pid, name: 'process_name', args: { name } })),
    ...tracks.map(({ group, tid }) => {
      const args = { name: `${group} ${tid}` };
      return { ph: 'M', pid: groups[group], tid, name: 'thread_name', args };
    }),
    ...tracks.flatMap(({ group, lane, tid }) =>
      lane.map(({ name, start, end, args }) => {
        return { ph: 'X', pid: groups[group], tid, name, cat: group, ts: start, dur: end - start, args };
      }),
    ),
    ...counters(record),
  ];
  return `{"displayTimeUnit":"ms","traceEvents":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

function phaseSlice({ name, suite, start, end, outcome }: PhaseSpan): Slice {
  const args = { outcome, ...(suite === undefined ? {} : { suite }) };
  const called = suite === undefined ? name : `${name} ${suite}`;
  return { group: 'phases', name: called, start: micros(start), end: micros(end), args };
}

function spanSlice(span: Span, phase: PhaseSpan | undefined): Slice {
  const of = {
    ...(phase === undefined ? {} : { phase: phase.name }),
    ...(phase?.suite === undefined ? {} : { suite: phase.suite }),
  };
  const time = { start: micros(span.start), end: micros(span.end) };
  if (span.kind === 'work') return { group: 'work', name: span.work, ...time, args: { ...of, bytes: span.bytes } };
  const { verb, object, outcome, bytesUp, bytesDown } = span;
  return { group: 'requests', name: `${verb} ${object}`, ...time, args: { ...of, outcome, bytesUp, bytesDown } };
}

function micros(ms: number): number {
  return Math.round(ms * 1000);
}

function lanes(slices: readonly Slice[]): Slice[][] {
  const found: { readonly slices: Slice[]; free: number }[] = [];
  for (const slice of [...slices].sort((a, b) => a.start - b.start || b.end - a.end)) {
    // What lasts no time takes its moment all the same: viewers disagree about two slices that begin where the first one ends.
    const free = Math.max(slice.end, slice.start + 1);
    const lane = found.find((each) => each.free <= slice.start);
    if (lane === undefined) found.push({ slices: [slice], free });
    else {
      lane.slices.push(slice);
      lane.free = free;
    }
  }
  return found.map((lane) => lane.slices);
}

function counters(record: RunRecord): object[] {
  const requests = record.spans.filter((span) => span.kind === 'request');
  const counter = (name: string, ms: number, args: Readonly<Record<string, number>>) => {
    return { ph: 'C', pid: groups.requests, name, ts: micros(ms), args };
  };
  // Of several changes at one moment the last one holds.
  const changes = new Map(inFlight(requests).map(({ at, count }) => [micros(at), { at, count }]));
  return [
    ...[...changes.values()].map(({ at, count }) => counter('in flight', at, { requests: count })),
    ...goodput(requests, record.durationMs).map(({ at, up, down }) => counter('bytes a second', at, { up, down })),
  ];
}

/** The bytes of requests that were answered well, spread evenly over the time each took. */
function goodput(requests: readonly RequestSpan[], durationMs: number): { at: number; up: number; down: number }[] {
  const step = durationMs / rates;
  if (requests.length === 0 || !(step > 0)) return [];
  const found = Array.from({ length: rates + 1 }, (_, index) => ({ at: index * step, up: 0, down: 0 }));
  for (const { start, end, outcome, bytesUp, bytesDown } of requests) {
    if (outcome !== 'ok' || bytesUp + bytesDown === 0) continue;
    const [first, last] = [Math.floor(start / step), Math.floor(end / step)];
    for (const rate of found.slice(first, last + 1)) {
      const inside = Math.min(end, rate.at + step) - Math.max(start, rate.at);
      const part = end > start ? inside / (end - start) : 1;
      rate.up += (bytesUp * part * 1000) / step;
      rate.down += (bytesDown * part * 1000) / step;
    }
  }
  return found.map(({ at, up, down }) => ({ at, up: Math.round(up), down: Math.round(down) }));
}
