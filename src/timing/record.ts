import { mostSpans, sampleSpans } from './sample-spans.ts';
import type { PhaseName, PhaseSpan, Span, Verb } from './span.ts';

/**
 * The one account of a run, from which every report is rendered: the file that the output `timings` names, as JSON. Times are
 * milliseconds since the run began, to the microsecond; sizes are bytes. No secret, bucket name, key of the store, URL or
 * machine path is in it, but for what the texts of warnings and problems say to the user.
 *
 * The schema is closed and has a version. `parseRunRecord` refuses what is not exactly this, so a field more, or a word more in one of the
 * lists of words (`span.ts`), is a new version.
 */
export interface RunRecord {
  readonly schema: 'apt-publish/run/1';
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly durationMs: number;
  readonly outcome: 'published' | 'unchanged' | 'dry-run' | 'failed';
  readonly store: StoreFacts;
  readonly suites: readonly SuiteOutcome[];
  readonly phases: readonly PhaseSpan[];
  /** All of them up to 50,000; of more, all errors, the slowest 200 and a sample. */
  readonly spans: readonly Span[];
  /** What the sample leaves out, by phase and verb; absent when that is nothing. */
  readonly omitted?: readonly OmittedSpans[];
  /** Requests that were sent a second time because the first was late; absent when none was. */
  readonly hedges?: HedgeCounts;
  /** Sentences for the user about things that did not stop the run. */
  readonly warnings: readonly string[];
  /** What a run failed of, or what a publish would that a dry run was for; at least one, absent when there is none. */
  readonly problems?: readonly ToldProblem[];
}

/** What became of second copies of late requests. */
export interface HedgeCounts {
  readonly sent: number;
  /** Those that were answered before the first copy. */
  readonly won: number;
  /** Bodies of the copies that were not needed, as far as they were sent. */
  readonly wastedBytes: number;
}

/** A `Problem`, without its cause. */
export interface ToldProblem {
  readonly code: string;
  readonly title: string;
  readonly what: string;
  readonly advice: string;
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
  /** Of a dry run: the last run of this command that was none, where its times were kept. */
  readonly before?: TimedRun;
}

/** How long an earlier run took, on a machine of its own. */
export interface TimedRun {
  /** When it began: ISO 8601, UTC. */
  readonly at: string;
  /** From its beginning to its commit. */
  readonly durationMs: number;
  /** Phases of one suite, and those that served all; in their order, each once. */
  readonly phases: readonly PhaseTime[];
}

/** How long a phase was running, stretches that overlap counted once. */
export interface PhaseTime {
  readonly phase: PhaseName;
  readonly ms: number;
}

export interface PackageChange {
  readonly change: 'added' | 'replaced' | 'removed';
  /** Why it was removed, where nobody asked for that by name: enough newer versions are there. */
  readonly reason?: 'retention';
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
  /** The packages that brought most into it in this run, the largest first, three at most; absent when nothing came in. */
  readonly contributors?: readonly IndexContributor[];
}

/** What one package, in all its versions and architectures that came in, has brought into an index. */
export interface IndexContributor {
  readonly package: string;
  readonly amount: number;
  /** Bytes of its stanzas before compression; in Contents, paths. */
  readonly unit: 'bytes' | 'paths';
}

/** Spans of one phase that were not kept. */
export interface OmittedSpans {
  readonly phase: number;
  /** Absent for pieces of work. */
  readonly verb?: Verb;
  readonly spans: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/** What the publisher knows at the end of a run; `started` in milliseconds since the epoch. */
export interface RunParts extends Omit<RunRecord, 'schema' | 'started' | 'omitted'> {
  readonly started: number;
}

/**
 * The record of a run that has ended. Phases and spans are put in the order in which they began, whatever the order in which they
 * ended, and times are cut to microseconds, so that the record of equal runs under a test clock is equal text.
 */
export function makeRunRecord({ started, problems, ...rest }: RunParts): RunRecord {
  const { spans, omitted } = sampleSpans(rest.spans, mostSpans);
  const told = (problems ?? []).map(({ code, title, what, advice }) => ({ code, title, what, advice }));
  return {
    schema: 'apt-publish/run/1',
    started: new Date(started).toISOString(),
    ...rest,
    durationMs: microseconds(rest.durationMs),
    phases: inOrder(rest.phases),
    spans: inOrder(spans),
    ...(omitted.length === 0 ? {} : { omitted }),
    ...(told.length === 0 ? {} : { problems: told }),
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
