import { createHash } from 'node:crypto';

/** One run among the runs of a workflow: GITHUB_RUN_ID and GITHUB_RUN_ATTEMPT. */
export interface RunNumber {
  /** Grows with every run that is started; the same for all attempts at one. */
  readonly id: number;
  readonly attempt: number;
}

/** What tells the comment of one configuration from all others, and which run it shows. */
export interface Mark {
  readonly key: string;
  readonly run: RunNumber;
}

/** What a comment stands for. Two steps that differ in any of it write two comments. */
export interface Configuration {
  readonly workflow: string;
  readonly job: string;
  readonly step: string;
  readonly suites: readonly string[];
  /** Where to, as far as everybody may know it: the kind of store, no bucket's name. */
  readonly store: string;
}

/** Sixteen hex digits for a configuration, whatever the order of its suites. */
export function configurationKey({ workflow, job, step, suites, store }: Configuration): string {
  const told = JSON.stringify([workflow, job, step, [...suites].sort(), store]);
  return createHash('sha256').update(told).digest('hex').slice(0, 16);
}

/** The body of a comment: the mark, which nobody sees, and the text below it. */
export function markedBody({ key, run }: Mark, text: string): string {
  return `<!-- apt-publish:1 key=${key} run=${run.id}.${run.attempt} -->\n${text}`;
}

/** The mark of a comment; undefined unless it is the very first line, as it is in no comment that quotes one. */
export function readMark(body: string): Mark | undefined {
  const line = /^<!-- apt-publish:1 key=([0-9a-f]{16}) run=(\d{1,15})\.(\d{1,9}) -->\r?\n/;
  const [, key, id, attempt] = line.exec(body) ?? [];
  return key === undefined ? undefined : { key, run: { id: Number(id), attempt: Number(attempt) } };
}

/** Below zero when `a` came before `b`. A new attempt at an old run comes before a newer run: it runs the older commit. */
export function compareRuns(a: RunNumber, b: RunNumber): number {
  return a.id - b.id || a.attempt - b.attempt;
}
