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
