import { readSync } from 'node:fs';
import type { Coder, Step } from './coder.ts';
import { Summing, type Sums } from './sums.ts';
import type { WorkerPool } from './worker-pool.ts';

/** An open file whose sums are wanted. */
export interface FileToSum {
  /** Open in this process, whose threads share descriptors. */
  readonly fd: number;
  readonly size: number;
  /** For sums of parts as well. */
  readonly partSize?: number;
}

const chunkSize = 1024 ** 2;
/** The bound of one step: about 30 ms. */
const stepSize = 8 * chunkSize;

/** What the thread has found out. Errors lose their `code` on the way between threads. */
type Found = { readonly sums: Sums } | { readonly endsEarly: true } | { readonly code: string };

/** Sums of a file, as a coder: it takes no input, since it reads the file by itself, and its output is what it has found, as JSON. */
export function openFileSums({ fd, size, partSize }: FileToSum): Coder {
  const summing = new Summing(partSize);
  const chunk = Buffer.allocUnsafeSlow(chunkSize);
  let position = 0;
  const found = (): Found | undefined => {
    const until = Math.min(size, position + stepSize);
    try {
      while (position < until) {
        const read = readSync(fd, chunk, 0, Math.min(chunkSize, size - position), position);
        if (read === 0) return { endsEarly: true };
        summing.update(chunk.subarray(0, read));
        position += read;
      }
    } catch (error) {
      return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error' };
    }
    return position < size ? undefined : { sums: summing.end() };
  };
  const step = (): Step => {
    const now = found();
    const text = now === undefined ? '' : JSON.stringify(now);
    return { output: new TextEncoder().encode(text), more: now === undefined };
  };
  return { step, release: () => {} };
}

/**
 * The sums of a whole file, off the main thread; undefined when it ends before `size`. The descriptor must stay open until this settles.
 * Errors have the `code` of the system's.
 */
export async function sumFile(file: FileToSum, pool: WorkerPool): Promise<Sums | undefined> {
  const session = pool.open(file);
  try {
    for (;;) {
      const { output, more } = await session.step(undefined, true);
      if (more) continue;
      const found: Found = JSON.parse(new TextDecoder().decode(output));
      if ('code' in found) throw Object.assign(new Error('A file cannot be read.'), { code: found.code });
      return 'sums' in found ? found.sums : undefined;
    }
  } finally {
    session.close();
  }
}
