import type { RunRecord } from './record.ts';
import { type PhaseName, type PhaseSpan, phaseNames, type RequestSpan, type Span, type Verb, verbs } from './span.ts';

/** Where the time of a run went, as far as its record tells. All times in milliseconds. */
export interface RunAnalysis {
  /** In the order of the transaction; only phases that ran. */
  readonly phases: readonly PhaseAnalysis[];
  /** Median time of small requests; absent when there was none. */
  readonly roundTrip?: number;
  /** Time of the run outside any phase. */
  readonly outside: number;
}

export interface PhaseAnalysis {
  readonly name: PhaseName;
  /** Time in which at least one of its stretches was running: stretches of several suites overlap. */
  readonly wall: number;
  /** `wall` as a part of the run, 0 to 1. Phases overlap, so shares may add up to more than 1. */
  readonly share: number;
  /** Attempts at requests by verb, in the order of `verbs`, none with 0. */
  readonly requests: ReadonlyMap<Verb, number>;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Attempts that ended in a way that may pass (throttled, timed out, broken, 5xx): what retries were made for. */
  readonly retries: number;
  /** Attempts that ended in a way that repeating does not help. */
  readonly errors: number;
  /** Of one attempt; absent when there was no request. */
  readonly time?: { readonly p50: number; readonly p95: number; readonly max: number };
  readonly highestInFlight: number;
  /** Depth in round trips: the longest chain of requests each of which began after the one before it had ended. */
  readonly waves: number;
  /** `waves` × round trip: what the phase would take with endless bandwidth and no work; absent without a round trip. */
  readonly least?: number;
  /** What the last 5 % of the requests cost: from the moment 95 % were done to the last one's end. */
  readonly stragglers: number;
  /** Gaps of at least 20 ms in which neither a request nor recorded work of this phase was going on. */
  readonly idle: { readonly gaps: number; readonly total: number };
}

/** A round trip is measured on requests that fit into the first packets of a connection: 10 segments of 1460 bytes (RFC 6928). */
const smallBytes = 14_600;
const idleGap = 20;
const transient: ReadonlySet<string> = new Set(['throttled', 'timeout', 'connection', 'server']);
const answered: ReadonlySet<string> = new Set(['ok', 'not-found', 'precondition-failed']);

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Pure: the same record gives the same analysis. */
export function analyse(record: RunRecord): RunAnalysis {
  const roundTrip = medianRoundTrip(record.spans);
  const names = phaseNames.filter((name) => record.phases.some((phase) => phase.name === name));
  return {
    phases: names.map((name) => analysePhase(name, record, roundTrip)),
    ...(roundTrip === undefined ? {} : { roundTrip }),
    outside: Math.max(0, record.durationMs - length(union(record.phases))),
  };
}

function analysePhase(name: PhaseName, record: RunRecord, roundTrip: number | undefined): PhaseAnalysis {
  const stretches = record.phases.filter((phase) => phase.name === name);
  const ids = new Set(stretches.map(({ id }) => id));
  const spans = record.spans.filter(({ phase }) => ids.has(phase));
  const requests = spans.filter((span) => span.kind === 'request');
  const wall = length(union(stretches));
  const time = percentiles(requests);
  const waves = longestChain(requests);
  return {
    name,
    wall,
    share: record.durationMs > 0 ? wall / record.durationMs : 0,
    requests: byVerb(requests),
    bytesUp: requests.reduce((sum, { bytesUp }) => sum + bytesUp, 0),
    bytesDown: requests.reduce((sum, { bytesDown }) => sum + bytesDown, 0),
    retries: requests.filter(({ outcome }) => transient.has(outcome)).length,
    errors: requests.filter(({ outcome }) => outcome === 'failed').length,
    ...(time === undefined ? {} : { time }),
    highestInFlight: highestInFlight(requests),
    waves,
    ...(roundTrip === undefined ? {} : { least: waves * roundTrip }),
    stragglers: stragglers(stretches, requests),
    idle: idle(stretches, spans),
  };
}

function medianRoundTrip(spans: readonly Span[]): number | undefined {
  const small = spans.filter(
    (span) =>
      span.kind === 'request' &&
      (span.verb === 'GET' || span.verb === 'HEAD' || span.verb === 'PUT') &&
      span.bytesUp + span.bytesDown <= smallBytes &&
      answered.has(span.outcome),
  );
  return nearestRank(durations(small), 0.5);
}

function byVerb(requests: readonly RequestSpan[]): Map<Verb, number> {
  const counts = verbs.map((verb) => [verb, requests.filter((request) => request.verb === verb).length] as const);
  return new Map(counts.filter(([, count]) => count > 0));
}

function percentiles(requests: readonly RequestSpan[]): PhaseAnalysis['time'] {
  const times = durations(requests);
  const [p50, p95, max] = [0.5, 0.95, 1].map((part) => nearestRank(times, part));
  return p50 === undefined || p95 === undefined || max === undefined ? undefined : { p50, p95, max };
}

/** In ascending order. */
function durations(stretches: readonly Stretch[]): number[] {
  return stretches.map(({ start, end }) => end - start).sort((a, b) => a - b);
}

/** The smallest value that at least `part` of the values do not exceed: always one that was measured. */
function nearestRank(ascending: readonly number[], part: number): number | undefined {
  return ascending[Math.max(0, Math.ceil(part * ascending.length) - 1)];
}

function highestInFlight(requests: readonly Stretch[]): number {
  // At one moment ends come before starts: a request that follows another on the same connection is not beside it.
  const changes = requests.flatMap(({ start, end }) => [
    { at: start, by: 1 },
    { at: end, by: -1 },
  ]);
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let inFlight = 0;
  let highest = 0;
  for (const { by } of changes) {
    inFlight += by;
    highest = Math.max(highest, inFlight);
  }
  return highest;
}

/** Always taking the request that ends first among those that can follow gives the longest chain (interval scheduling). */
function longestChain(requests: readonly Stretch[]): number {
  let links = 0;
  let free = Number.NEGATIVE_INFINITY;
  for (const { start, end } of [...requests].sort((a, b) => a.end - b.end || a.start - b.start)) {
    if (start < free) continue;
    links += 1;
    free = end;
  }
  return links;
}

/** Stretches that overlap (several suites) are one wait; stretches apart (a repeated phase) are several, added up. */
function stragglers(stretches: readonly PhaseSpan[], requests: readonly RequestSpan[]): number {
  let total = 0;
  for (const whole of union(stretches)) {
    const ids = new Set(
      stretches.filter(({ start, end }) => start >= whole.start && end <= whole.end).map(({ id }) => id),
    );
    const ends = requests.filter(({ phase }) => ids.has(phase)).map(({ end }) => end);
    ends.sort((a, b) => a - b);
    total += (ends.at(-1) ?? 0) - (nearestRank(ends, 0.95) ?? 0);
  }
  return total;
}

function idle(stretches: readonly Stretch[], spans: readonly Stretch[]): PhaseAnalysis['idle'] {
  const busy = union(spans);
  const gaps: number[] = [];
  for (const whole of union(stretches)) {
    let since = whole.start;
    for (const { start, end } of busy) {
      if (start >= whole.end || end <= whole.start) continue;
      gaps.push(start - since);
      since = Math.max(since, end);
    }
    gaps.push(whole.end - since);
  }
  const long = gaps.filter((gap) => gap >= idleGap);
  return { gaps: long.length, total: long.reduce((sum, gap) => sum + gap, 0) };
}

/** The same time as stretches that do not touch, in order. */
function union(stretches: readonly Stretch[]): Stretch[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

function length(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { start, end }) => sum + end - start, 0);
}
