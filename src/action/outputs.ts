import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../publish/finding.ts';
import type { HistoryEntry } from '../publish/history.ts';
import type { RunRecord } from '../timing/record.ts';
import type { Runner } from './runner.ts';

/** The outputs of the action, in the order of action.yml. */
export const outputNames = [
  'changed',
  'added',
  'removed',
  'generation',
  'sources-entry',
  'public-key',
  'inrelease-sha256',
  'history',
  'findings',
  'timings',
] as const;
export type OutputName = (typeof outputNames)[number];

/** What an output is made of besides the run record. */
export interface OutputParts {
  /** The text of a `.sources` file; absent without a `public-url`. */
  readonly sourcesEntry?: string;
  /** Armored; absent for an unsigned repository. */
  readonly publicKey?: string;
  /** Lower-case hex SHA-256 of the InRelease that each suite's head now is; no entry for a suite without one. */
  readonly inReleaseSha256: ReadonlyMap<string, string>;
  /** The generations of each suite, for the command that asks for them; empty for the others. */
  readonly history: ReadonlyMap<string, readonly HistoryEntry[]>;
  /** What the command verify has found, what is broken first; absent for the others. */
  readonly findings?: readonly Finding[];
  /** Where `writeRunRecord` has put the record. */
  readonly timings: string;
}

/** What the runner takes as outputs of a job is 1 MB: https://docs.github.com/actions/reference/limits. */
const mostFindings = 1000;

/**
 * The values of all outputs. `generation` and `inrelease-sha256` are JSON objects with a member for each suite, whether one or many, so that a
 * workflow reads both cases alike; `added` counts what is new in an index, a replaced package once in `added` and never in `removed`.
 */
export function outputsOf(record: RunRecord, parts: OutputParts): Record<OutputName, string> {
  const changes = record.suites.flatMap(({ packages }) => packages);
  const removed = changes.filter(({ change }) => change === 'removed').length;
  return {
    changed: String(record.suites.some(({ changed }) => changed)),
    added: String(changes.length - removed),
    removed: String(removed),
    generation: JSON.stringify(Object.fromEntries(record.suites.map(({ suite, generation }) => [suite, generation]))),
    'sources-entry': parts.sourcesEntry ?? '',
    'public-key': parts.publicKey ?? '',
    'inrelease-sha256': JSON.stringify(Object.fromEntries(parts.inReleaseSha256)),
    history: parts.history.size === 0 ? '' : JSON.stringify(Object.fromEntries(parts.history)),
    findings: parts.findings === undefined ? '' : JSON.stringify(parts.findings.slice(0, mostFindings)),
    timings: parts.timings,
  };
}

export function setOutputs(outputs: Record<OutputName, string>, runner: Pick<Runner, 'output'>): void {
  for (const name of outputNames) runner.output(name, outputs[name]);
}

/** Writes the run record into a new folder below `folder`, for later steps and for upload as an artifact; answers its path. */
export async function writeRunRecord(record: RunRecord, folder: string): Promise<string> {
  const path = join(await mkdtemp(join(folder, 'apt-publish-')), 'run.json');
  await writeFile(path, `${JSON.stringify(record, undefined, 2)}\n`);
  return path;
}
