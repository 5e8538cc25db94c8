import { idleGap } from './analysis.ts';
import type { RunRecord } from './record.ts';
import type { PhaseName, PhaseSpan, Span } from './span.ts';

/** One part of what a run had to wait for, one after another. */
export interface PathPart {
  /** Absent for time outside any phase. */
  readonly phase?: PhaseName;
  /** `PUT by-hash`, `compress`, or `gap`: neither a request nor recorded work was going on. */
  readonly what: string;
  /** Milliseconds. */
  readonly time: number;
  /** Requests one after another in it. */
  readonly requests: number;
}

interface Step {
  readonly phase: PhaseName | undefined;
  readonly what: string;
  readonly start: number;
  readonly end: number;
  readonly request: boolean;
}

/**
 * What the run had to wait for, in order of time: from its end backwards, always the request or piece of work that ended last
 * before the one that followed it began. What went on beside it cost nothing. A record has no edges from cause to effect, so a
 * piece that happened to end last before the next one counts as what that one waited for.
 *
 * Neighbours of one kind are one part, and a pause shorter than `idleGap` belongs to what follows it. The parts add up to the duration of the run.
 */
export function criticalPath(record: RunRecord): PathPart[] {
  const names = new Map(record.phases.map(({ id, name }) => [id, name]));
  const lastEndFirst = record.spans.toSorted((a, b) => b.end - a.end || a.start - b.start);
  const steps: Step[] = [];
  let cursor = record.durationMs;
  for (const span of lastEndFirst) {
    if (span.end > cursor || span.start >= cursor || span.start === span.end) continue;
    if (span.end < cursor) steps.push(gap(record.phases, span.end, cursor));
    const { kind, start, end } = span;
    steps.push({ phase: names.get(span.phase), what: named(span), start, end, request: kind === 'request' });
    cursor = start;
  }
  if (cursor > 0) steps.push(gap(record.phases, 0, cursor));
  return parts(steps.reverse());
}

function named(span: Span): string {
  return span.kind === 'request' ? `${span.verb} ${span.object}` : span.work;
}

/** Blamed on the phase that began last of those running in its middle. */
function gap(phases: readonly PhaseSpan[], start: number, end: number): Step {
  const middle = (start + end) / 2;
  const running = phases.filter((phase) => phase.start <= middle && phase.end >= middle);
  const [latest] = running.toSorted((a, b) => b.start - a.start);
  return { phase: latest?.name, what: 'gap', start, end, request: false };
}

function parts(steps: readonly Step[]): PathPart[] {
  const found: PathPart[] = [];
  let pause = 0;
  for (const { phase, what, start, end, request } of steps) {
    if (what === 'gap' && end - start < idleGap) {
      pause += end - start;
      continue;
    }
    const last = found.at(-1);
    const time = end - start + pause;
    const requests = request ? 1 : 0;
    pause = 0;
    if (last?.phase === phase && last?.what === what) {
      found[found.length - 1] = { ...last, time: last.time + time, requests: last.requests + requests };
    } else found.push({ ...(phase === undefined ? {} : { phase }), what, time, requests });
  }
  const last = found.at(-1);
  if (last !== undefined && pause > 0) found[found.length - 1] = { ...last, time: last.time + pause };
  return found;
}
