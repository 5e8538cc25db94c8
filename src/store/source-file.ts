import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Problem } from '../problem.ts';
import type { PartSums } from './parts.ts';

/** A file to write: one on the runner's disk, as it was when it was scanned, unless it says how else it is read. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** Of every part of `partSizeOf(size)` bytes, in order, where they are known. */
  readonly parts?: readonly PartSums[];
  readonly open?: () => ByteReader;
}

/** Reads a file from its beginning, once. Disposed of when nothing more is wanted of it. */
export interface ByteReader extends AsyncDisposable {
  /** The next `length` bytes, in `room` if the reader has to find room for them. Throws when there are fewer. */
  next(length: number, room?: Buffer): Promise<Uint8Array>;
  /** What to tell the user when the bytes turn out to be others than those that were promised. */
  changed(): Problem;
}

/** Bytes that were read, with their SHA-256 where it is known ahead. */
export interface CheckedBytes {
  readonly body: Uint8Array;
  readonly sha256?: string;
}

/**
 * Knows whether what it reads is what was promised: by the sums of each part where they are known, else by the hash of the whole, which takes as long
 * as sending the bytes within one machine does.
 */
export class CheckedReader {
  readonly #source: ByteReader;
  readonly #size: number;
  readonly #parts: readonly PartSums[] | undefined;
  readonly #expected: string | undefined;
  readonly #hash: Hash = createHash('sha256');
  #read = 0;
  position = 0;

  /** With `parts`, each call of `next` is to be for the length of one. */
  constructor(source: ByteReader, size: number, promised: { sha256: string | undefined; parts?: readonly PartSums[] }) {
    this.#source = source;
    this.#size = size;
    this.#parts = promised.parts;
    this.#expected = promised.parts === undefined ? promised.sha256 : undefined;
  }

  get remaining(): number {
    return this.#size - this.position;
  }

  /** The next `length` bytes, or what is left. Throws when they are known to be others than those that were promised. */
  async next(length: number, room?: Buffer): Promise<CheckedBytes> {
    const body = await this.#source.next(Math.min(length, this.remaining), room);
    const part = this.#parts?.[this.#read];
    this.position += body.length;
    this.#read += 1;
    if (this.#expected !== undefined) this.#hash.update(body);
    if (part === undefined) return { body };
    if (crc32(body) !== part.crc32) throw this.#source.changed();
    return { body, sha256: part.sha256 };
  }

  checkEnd(): void {
    if (this.#expected !== undefined && this.#hash.digest('hex') !== this.#expected) throw this.#source.changed();
  }
}

/** A file on disk. */
export async function openFile(file: SourceFile): Promise<ByteReader> {
  const handle = await open(file.path).catch((error: unknown) => {
    throw changed(file, error);
  });
  let position = 0;
  return {
    next: async (length, room = Buffer.allocUnsafeSlow(length)) => {
      for (let filled = 0; filled < length; ) {
        const { bytesRead } = await handle.read(room, filled, length - filled, position);
        if (bytesRead === 0) throw changed(file);
        filled += bytesRead;
        position += bytesRead;
      }
      return room.subarray(0, length);
    },
    changed: () => changed(file),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function changed(file: SourceFile, cause?: unknown): Problem {
  return new Problem({
    code: 'file-changed',
    title: 'A file changed while it was being published',
    what: `${file.path} is not the file any more that was read at the beginning of the run.`,
    advice: 'Let nothing write to the packages until this action has ended, then run the job again.',
    cause,
  });
}
