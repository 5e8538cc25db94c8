import type { Problem } from '../problem.ts';
import type { PhaseSpan, Span } from './span.ts';

/** The one account of a run, from which every report is rendered. No secret, bucket name, URL or machine path is in it. */
export interface RunRecord {
  readonly schema: 'apt-publish/run/1';
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly durationMs: number;
  readonly outcome: 'published' | 'unchanged' | 'dry-run' | 'failed';
  readonly store: StoreFacts;
  readonly suites: readonly SuiteOutcome[];
  readonly phases: readonly PhaseSpan[];
  readonly spans: readonly Span[];
  /** Sentences for the user about things that did not stop the run. */
  readonly warnings: readonly string[];
  /** Set when the outcome is `failed`. */
  readonly problem?: { readonly code: string; readonly title: string; readonly what: string; readonly advice: string };
}

export interface StoreFacts {
  readonly kind: 's3' | 'directory' | 'memory';
  /** Whether the store holds `If-None-Match: *` and `If-Match`; unknown when nothing had to be asked. */
  readonly conditions: 'enforced' | 'create-only' | 'none' | 'unknown';
}

export interface SuiteOutcome {
  readonly suite: string;
  readonly changed: boolean;
  /** Number of the generation that the suite's head now stands for; 0 when there is none (dry run on a new suite). */
  readonly generation: number;
  readonly packages: readonly PackageChange[];
  readonly indexes: readonly IndexFile[];
}

export interface PackageChange {
  readonly change: 'added' | 'replaced' | 'removed';
  readonly package: string;
  readonly version: string;
  /** `source` for a source package. */
  readonly architecture: string;
  readonly component: string;
  /** Bytes of the files that the pool holds for it. */
  readonly size: number;
}

/** One index file that this run wrote. */
export interface IndexFile {
  /** Relative to the suite: `main/binary-amd64/Packages.gz`. */
  readonly path: string;
  readonly size: number;
  /** Absent for an index that did not exist before. */
  readonly previousSize?: number;
}

/** What the publisher knows at the end of a run; `started` in milliseconds since the epoch. */
export interface RunParts extends Omit<RunRecord, 'schema' | 'started' | 'problem'> {
  readonly started: number;
  readonly problem?: Problem;
}

/**
 * The record of a run that has ended. Phases and spans are put in the order in which they began, whatever the order in which they
 * ended, and times are cut to microseconds, so that the record of equal runs under a test clock is equal text.
 */
export function makeRunRecord({ started, problem, ...rest }: RunParts): RunRecord {
  const told = problem && { code: problem.code, title: problem.title, what: problem.what, advice: problem.advice };
  return {
    schema: 'apt-publish/run/1',
    started: new Date(started).toISOString(),
    ...rest,
    durationMs: microseconds(rest.durationMs),
    phases: inOrder(rest.phases),
    spans: inOrder(rest.spans),
    ...(told === undefined ? {} : { problem: told }),
  };
}

function inOrder<T extends { readonly start: number; readonly end: number }>(stretches: readonly T[]): T[] {
  return stretches
    .map((stretch) => ({ ...stretch, start: microseconds(stretch.start), end: microseconds(stretch.end) }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
