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
  /** The next `length` bytes. Throws when there are fewer. */
  next(length: number): Promise<Uint8Array>;
  /** What to tell the user when the bytes turn out to be others than those that were promised. */
  changed(): Problem;
}

/** Hashes what it reads, and knows whether it is what was promised; where nothing is promised it does neither. */
export class CheckedReader {
  readonly #source: ByteReader;
  readonly #promised: string | undefined;
  readonly #hash: Hash = createHash('sha256');
  #remaining: number;

  constructor(source: ByteReader, size: number, sha256: string | undefined) {
    this.#source = source;
    this.#remaining = size;
    this.#promised = sha256;
  }

  /** The next `length` bytes, or what is left. */
  async next(length: number): Promise<Uint8Array> {
    const body = await this.#source.next(Math.min(length, this.#remaining));
    this.#remaining -= body.length;
    if (this.#promised !== undefined) this.#hash.update(body);
    return body;
  }

  checkEnd(): void {
    if (this.#promised !== undefined && this.#hash.digest('hex') !== this.#promised) throw this.#source.changed();
  }
}

/** A file on disk, read in order. */
export async function openFile(file: SourceFile): Promise<ByteReader> {
  const disk = await openOnDisk(file);
  let position = 0;
  return {
    next: async (length) => {
      const room = Buffer.allocUnsafeSlow(length);
      for (let filled = 0; filled < length; ) {
        const bytesRead = await disk.read(room.subarray(filled), position);
        filled += bytesRead;
        position += bytesRead;
      }
      return room;
    },
    changed: () => fileChanged(file),
    [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose](),
  };
}

/** A file on disk, read anywhere. */
interface FileOnDisk extends AsyncDisposable {
  /** How many bytes, at least one, were read into `room` from `position` on. Throws `file-changed` where there are none. */
  read(room: Buffer, position: number): Promise<number>;
  stamp(): Promise<string>;
}

/** Throws `file-changed` when it is not there any more. Reads throw `input-not-readable` when the disk fails. */
export async function openOnDisk(file: SourceFile): Promise<FileOnDisk> {
  const handle = await open(file.path).catch((error: unknown) => {
    throw fileChanged(file, error);
  });
  return {
    read: async (room, position) => {
      const { bytesRead } = await handle.read(room, 0, room.length, position).catch((error: unknown) => {
        throw unreadable(file, error);
      });
      if (bytesRead === 0) throw fileChanged(file);
      return bytesRead;
    },
    stamp: async () => stampOf(await handle.stat({ bigint: true })),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Of a file on disk that is not what was scanned. */
export function fileChanged(file: SourceFile, cause?: unknown): Problem {
  return new Problem({
    code: 'file-changed',
    title: 'A file changed while it was being published',
    what: `${file.path} is not the file any more that was read at the beginning of the run.`,
    advice: 'Let nothing write to the packages until this action has ended, then run the job again.',
    cause,
  });
}

function unreadable({ path }: SourceFile, cause: unknown): Problem {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  return new Problem({
    code: 'input-not-readable',
    title: 'A file cannot be read any more',
    what: `${path} was read at the beginning of the run and cannot be read now (${code}).`,
    advice: 'Check the health of the disk, then run the job again.',
    cause,
  });
}
