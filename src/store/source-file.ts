import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Problem } from '../problem.ts';

/** A file to write: one on the runner's disk, as it was when it was scanned, unless it says how else it is read. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** Of a file on the disk that is sent in parts. */
  readonly scanned?: ScannedState;
  readonly open?: () => ByteReader;
}

/** What a file on disk was when it was scanned. */
export interface ScannedState {
  /** As `stampOf` tells it. */
  readonly stamp: string;
  /** SHA-256 of every part of `partSizeOf(size)` bytes, in order, lower-case hex. */
  readonly parts: readonly string[];
}

/** Facts of stat(2). */
interface FileFacts {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** What changes when anything about a file changes: nobody can set the time of change (ctime) of inode(7). */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: FileFacts): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** Reads a file from its beginning, once. Disposed of when nothing more is wanted of it. */
export interface ByteReader extends AsyncDisposable {
  /** The next `length` bytes, in `room` if the reader has to find room for them. Throws when there are fewer. */
  next(length: number, room?: Buffer): Promise<Uint8Array>;
  /** What to tell the user when the bytes turn out to be others than those that were promised. */
  changed(): Problem;
}

/** Hashes what it reads, and knows whether it is what was promised; where nothing is promised it does neither. */
export class CheckedReader {
  readonly #source: ByteReader;
  readonly #size: number;
  readonly #promised: string | undefined;
  readonly #hash: Hash = createHash('sha256');
  position = 0;

  constructor(source: ByteReader, size: number, sha256: string | undefined) {
    this.#source = source;
    this.#size = size;
    this.#promised = sha256;
  }

  get remaining(): number {
    return this.#size - this.position;
  }

  /** The next `length` bytes, or what is left. */
  async next(length: number, room?: Buffer): Promise<Uint8Array> {
    const body = await this.#source.next(Math.min(length, this.remaining), room);
    this.position += body.length;
    if (this.#promised !== undefined) this.#hash.update(body);
    return body;
  }

  checkEnd(): void {
    if (this.#promised !== undefined && this.#hash.digest('hex') !== this.#promised) throw this.#source.changed();
  }
}

/** A file on disk. Where it is known how it was scanned, it is looked at after every read whether it still is the same. */
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
      if (file.scanned !== undefined && stampOf(await handle.stat({ bigint: true })) !== file.scanned.stamp)
        throw changed(file);
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
