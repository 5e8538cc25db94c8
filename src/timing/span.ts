/** What a recorder writes down while a run goes on. Times are milliseconds of the run's monotonic clock, 0 at its start. */

/** The phases of a publish, in the order in which they first begin. */
export const phaseNames = [
  'read',
  'scan',
  'plan',
  'index',
  'sign',
  'probe',
  'upload',
  'stage',
  'wait',
  'claim',
  'rename',
  'commit',
  'clean',
] as const;
export type PhaseName = (typeof phaseNames)[number];

/** What a request does. `COPY`, `LIST` and the multipart steps are named for what S3 calls them, without their URL. */
export const verbs = ['GET', 'HEAD', 'PUT', 'COPY', 'LIST', 'DELETE', 'CREATE', 'PART', 'COMPLETE', 'ABORT'] as const;
export type Verb = (typeof verbs)[number];

/** What kind of object a request is about. Never its key: bucket names, keys and URLs stay out of the record. */
export const objectClasses = ['record', 'head', 'release', 'index', 'by-hash', 'pool', 'other'] as const;
export type ObjectClass = (typeof objectClasses)[number];

/** `cancelled`: given up by the run, which had the answer of a second copy sooner. */
export const outcomes = [
  'ok',
  'not-found',
  'precondition-failed',
  'throttled',
  'timeout',
  'connection',
  'server',
  'failed',
  'cancelled',
] as const;
export type Outcome = (typeof outcomes)[number];

/** One attempt at one store request. */
export interface RequestSpan {
  readonly kind: 'request';
  readonly phase: number;
  readonly verb: Verb;
  readonly object: ObjectClass;
  readonly start: number;
  readonly end: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly outcome: Outcome;
}

/** One piece of CPU work. */
export interface WorkSpan {
  readonly kind: 'work';
  readonly phase: number;
  readonly work: 'hash' | 'unpack' | 'merge' | 'compress' | 'sign' | 'verify';
  readonly start: number;
  readonly end: number;
  readonly bytes: number;
}

export type Span = RequestSpan | WorkSpan;

/** One stretch of one phase. A phase that is repeated (after a lost claim) or that several suites run has several. */
export interface PhaseSpan {
  readonly id: number;
  readonly name: PhaseName;
  /** Absent for a phase that serves all suites of the run. */
  readonly suite?: string;
  readonly start: number;
  readonly end: number;
  readonly outcome: 'ok' | 'failed';
}
