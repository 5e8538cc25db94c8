import * as v from 'valibot';
import { Problem } from '../problem.ts';
import { count, poolPath } from './stored-path.ts';

/**
 * The record of the pool, `.apt-publish/pool.json`. Pool files are shared by suites, so whoever removes some says so here first
 * (see "The rules of removal" in ARCHITECTURE.md). Absent until something is removed for the first time.
 */

const poolRecord = v.object({
  schema: v.literal('apt-publish/pool/1'),
  /** Grows with every change. */
  version: v.pipe(count, v.minValue(1)),
  /** Files about to be deleted by `cleaner`; empty when the cleaning is settled. */
  condemned: v.array(poolPath),
  cleaner: v.object({
    run: v.pipe(v.string(), v.regex(/^[0-9a-zA-Z-]{8,64}$/)),
    limitSeconds: v.pipe(v.number(), v.minValue(1), v.maxValue(600)),
  }),
  /** Files whose fate is settled, newest last and bounded, so that suites can forget that they have un-listed them before. */
  settled: v.array(
    v.object({
      filename: poolPath,
      /** Set where another suite lists the file, which is that suite's to remove then; absent for a file that is gone. */
      suite: v.optional(v.string()),
      at: v.pipe(v.string(), v.isoTimestamp()),
    }),
  ),
});

export type PoolRecord = v.InferOutput<typeof poolRecord>;

/** Reads the record of the pool; `record-garbage` when it is not one. */
export function parsePoolRecord(bytes: Uint8Array): PoolRecord {
  const result = v.safeParse(poolRecord, parseJson(bytes));
  if (result.success) return result.output;
  throw new Problem({
    code: 'record-garbage',
    title: 'The record of the pool cannot be read',
    what: 'The record of the pool (.apt-publish/pool.json) is not one that this version wrote.',
    advice: 'Restore it from a backup of the bucket.',
  });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** One JSON document with a fixed order of fields. */
export function renderPoolRecord(record: PoolRecord): Uint8Array {
  return Buffer.from(`${JSON.stringify(v.parse(poolRecord, record), undefined, 1)}\n`);
}

/** Whether a suite need not remember any more that it has un-listed a file: what was settled since then is settled. */
export function isSettled(
  record: PoolRecord | undefined,
  suite: string,
  unlisted: { readonly filename: string; readonly since: string },
): boolean {
  return (record?.settled ?? []).some(
    (settled) =>
      settled.filename === unlisted.filename &&
      (settled.suite === undefined || settled.suite === suite) &&
      Date.parse(settled.at) >= Date.parse(unlisted.since),
  );
}
