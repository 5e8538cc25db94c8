import { join } from 'node:path';
import { type Bucket, type Laboratory, openBucket } from './laboratory.ts';
import type { Line } from './line.ts';
import type { Row, Sample, Side } from './measurement.ts';
import { type Inputs, runAction } from './our-action.ts';
import { sampleOf } from './request-log.ts';

/** One question, with the sides that are compared to answer it. */
export interface Scenario {
  /** What is compared, for whoever reads the table. */
  readonly about: string;
  measure(bench: Bench): Promise<Findings>;
}

export interface Findings {
  readonly rows: readonly Row[];
  /** Quotients of medians. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** How thoroughly to measure. */
export interface Bench {
  readonly laboratory: Laboratory;
  /** The full size, or `quick` in a run that only proves that the bench works. */
  size(full: number, quick: number): number;
  /** Whether the part of a scenario with this name is wanted. */
  wants(part: string): boolean;
  /** Runs the sides in turn. A side that takes over a minute a run makes do with three runs, and none to warm up. */
  compare(sides: readonly Side[], patience?: 'slow'): Promise<Row[]>;
}

/** What packages our action publishes in a round, as globs, and what else it is told. */
type RoundInputs = (round: number) => Inputs;

/** Round trip of the rig's far store: 50 ms each way, which is a continent. */
export const farMs = 50;

/** Our action, reaching its prefix of the bucket by way of the line. */
export function ourSide({ laboratory }: Bench, { what, bucket, prefix, line, inputs }: OurSide): Side {
  return {
    what,
    run: async (round) => {
      line.take();
      const run = await runAction(laboratory, { ...bucket.inputs(prefix, line.endpoint), ...inputs(round) });
      return sampleOf(run, line.take());
    },
  };
}

interface OurSide {
  readonly what: string;
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly line: Line;
  readonly inputs: RoundInputs;
}

/**
 * A side whose every run has a Ceph of its own. One that keeps everything in memory does not answer any more once it is
 * full, and frees large objects that were deleted only after hours.
 */
export function onFreshBucket(what: string, run: (bucket: Bucket) => Promise<Sample>): Side {
  return {
    what,
    run: async () => {
      await using bucket = await openBucket();
      return await run(bucket);
    },
  };
}

/** Puts packages into a prefix before anything is measured, without any distance. */
export async function prepareOurs(
  { laboratory }: Bench,
  bucket: Bucket,
  prefix: string,
  inputs: Inputs,
): Promise<void> {
  await runAction(laboratory, { ...bucket.inputs(prefix, bucket.endpoint), ...inputs });
}

/** Glob for every package in a folder. */
export function allIn(folder: string): string {
  return join(folder, '*.deb');
}

/** The row of this name. */
export function rowNamed(rows: readonly Row[], what: string): Row {
  const row = rows.find((candidate) => candidate.what === what);
  if (row === undefined) throw new Error(`There is no row ${what}.`);
  return row;
}
