import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import type { ComparisonRecord } from './comparison-record.ts';

/** What noise depends on, of the machine that this process runs on. `image` is the runner's, where it has one. */
export function thisMachine(image: string | undefined): ComparisonRecord['machine'] {
  return {
    image: plain(image ?? process.platform),
    cpu: plain(cpus()[0]?.model ?? 'unknown'),
    cores: availableParallelism(),
    node: process.versions.node,
  };
}

/** SHA-256 of the code that measures: times taken by another version of it are another quantity. */
export async function harnessHash(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(file));
  return hash.digest('hex');
}

/** Processor time that this process has taken, milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** In the characters that a comparison record allows. */
function plain(text: string): string {
  const cleaned = text.replaceAll(/[^A-Za-z0-9 ._+=/()-]+/g, ' ').trim();
  return cleaned === '' ? 'unknown' : cleaned.slice(0, 80);
}
