import type { RunRecord } from './record.ts';
import { type PhaseName, type PhaseSpan, phaseNames, type RequestSpan, type Span, type Verb, verbs } from './span.ts';
import { durations, highestInFlight, nearestRank, type Stretch, totalLength, union, waves } from './stretches.ts';

/** Where the time of a run went, as far as its record tells. All times in milliseconds. */
export interface RunAnalysis {
  /** In the order of the transaction; only phases that ran. */
  readonly phases: readonly PhaseAnalysis[];
  /** What the quickest tenth of the small requests took at most; absent when there was none. */
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
  readonly stragglers: Stragglers;
  /** Gaps of at least `idleGap` in which neither a request nor recorded work of this phase was going on. */
  readonly idle: { readonly gaps: number; readonly total: number };
}

/** What a few late requests cost a phase. */
interface Stragglers {
  /**
   * From the moment at which all but the last twentieth (at least one) of its requests were done, and a request of median duration in
   * place of the late ones would have been done too, to the end of the last one. Requests one after another cost nothing so.
   */
  readonly cost: number;
  /** How many requests were still going on then; 0 exactly when they cost nothing. */
  readonly requests: number;
  /** The one that ended last, where it cost most. */
  readonly last?: RequestSpan;
}

/**
 * A round trip is measured on requests that fit into the first packets of a connection: 10 segments of 1460 bytes (RFC 6928), and on
 * the quickest of these, since the others hold what the least time must not: handshakes, a busy machine, a busy store.
 */
const smallBytes = 14_600;
const quickest = 0.1;
/** A shorter pause between two pieces of work is the machine's own, milliseconds. */
export const idleGap = 20;
const transient: ReadonlySet<string> = new Set(['throttled', 'timeout', 'connection', 'server']);
const answered: ReadonlySet<string> = new Set(['ok', 'not-found', 'precondition-failed']);

/** Pure: the same record gives the same analysis. Requests that the record leaves out count in `requests`, bytes and nothing else. */
export function analyse(record: RunRecord): RunAnalysis {
  const roundTrip = roundTripOf(record.spans);
  const spans = Map.groupBy(record.spans, ({ phase }) => phase);
  const names = phaseNames.filter((name) => record.phases.some((phase) => phase.name === name));
  return {
    phases: names.map((name) => analysePhase(name, record, spans, roundTrip)),
    ...(roundTrip === undefined ? {} : { roundTrip }),
    outside: Math.max(0, record.durationMs - totalLength(union(record.phases))),
  };
}

function analysePhase(
  name: PhaseName,
  record: RunRecord,
  spansOf: ReadonlyMap<number, readonly Span[]>,
  roundTrip: number | undefined,
): PhaseAnalysis {
  const stretches = record.phases.filter((phase) => phase.name === name);
  const ids = new Set(stretches.map(({ id }) => id));
  const spans = stretches.flatMap(({ id }) => spansOf.get(id) ?? []);
  const requests = spans.filter((span) => span.kind === 'request');
  const omitted = (record.omitted ?? []).filter(({ phase }) => ids.has(phase));
  const wall = totalLength(union(stretches));
  const time = percentiles(requests);
  const depth = waves(requests).length;
  return {
    name,
    wall,
    share: record.durationMs > 0 ? wall / record.durationMs : 0,
    requests: byVerb([
      ...requests.map(({ verb }) => ({ verb, spans: 1 })),
      ...omitted.flatMap(({ verb, spans: count }) => (verb === undefined ? [] : { verb, spans: count })),
    ]),
    bytesUp: [...requests, ...omitted].reduce((sum, { bytesUp }) => sum + bytesUp, 0),
    bytesDown: [...requests, ...omitted].reduce((sum, { bytesDown }) => sum + bytesDown, 0),
    retries: requests.filter(({ outcome }) => transient.has(outcome)).length,
    errors: requests.filter(({ outcome }) => outcome === 'failed').length,
    ...(time === undefined ? {} : { time }),
    highestInFlight: highestInFlight(requests),
    waves: depth,
    ...(roundTrip === undefined ? {} : { least: depth * roundTrip }),
    stragglers: stragglers(stretches, spansOf),
    idle: idle(stretches, spans),
  };
}

function roundTripOf(spans: readonly Span[]): number | undefined {
  const small = spans.filter(
    (span) =>
      span.kind === 'request' &&
      (span.verb === 'GET' || span.verb === 'HEAD' || span.verb === 'PUT') &&
      span.bytesUp + span.bytesDown <= smallBytes &&
      answered.has(span.outcome),
  );
  return nearestRank(durations(small), quickest);
}

function byVerb(requests: readonly { readonly verb: Verb; readonly spans: number }[]): Map<Verb, number> {
  const counts = new Map<Verb, number>();
  for (const { verb, spans } of requests) counts.set(verb, (counts.get(verb) ?? 0) + spans);
  return new Map(verbs.flatMap((verb) => (counts.has(verb) ? [[verb, counts.get(verb) ?? 0] as const] : [])));
}

function percentiles(requests: readonly RequestSpan[]): PhaseAnalysis['time'] {
  const times = durations(requests);
  const [p50, p95, max] = [0.5, 0.95, 1].map((part) => nearestRank(times, part));
  return p50 === undefined || p95 === undefined || max === undefined ? undefined : { p50, p95, max };
}

/** Stretches that overlap (several suites) are one wait; stretches apart (a repeated phase) are several, added up. */
function stragglers(stretches: readonly PhaseSpan[], spansOf: ReadonlyMap<number, readonly Span[]>): Stragglers {
  const waits = union(stretches).map((whole) => {
    const inside = stretches.filter(({ start, end }) => start >= whole.start && end <= whole.end);
    const spans = inside.flatMap(({ id }) => spansOf.get(id) ?? []);
    return lateIn(spans.filter((span) => span.kind === 'request'));
  });
  const [worst] = waits.toSorted((a, b) => b.cost - a.cost);
  return {
    cost: waits.reduce((sum, { cost }) => sum + cost, 0),
    requests: waits.reduce((sum, { requests }) => sum + requests, 0),
    ...(worst?.last === undefined ? {} : { last: worst.last }),
  };
}

function lateIn(requests: readonly RequestSpan[]): Stragglers {
  const inOrder = requests.toSorted((a, b) => a.end - b.end);
  const late = inOrder.slice(inOrder.length - Math.ceil(inOrder.length / 20));
  const before = inOrder[inOrder.length - late.length - 1];
  const last = late.at(-1);
  const typical = nearestRank(durations(requests), 0.5);
  if (before === undefined || last === undefined || typical === undefined) return { cost: 0, requests: 0 };
  const expected = Math.max(before.end, ...late.map(({ start }) => start + typical));
  if (last.end <= expected) return { cost: 0, requests: 0 };
  return { cost: last.end - expected, requests: late.filter(({ end }) => end > expected).length, last };
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
