import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { sumFile } from '../codec/file-sums.ts';
import { Summing, type Sums } from '../codec/sums.ts';
import { workers } from '../codec/workers.ts';
import type { ByteSource } from '../debian/ar.ts';
import { Problem } from '../problem.ts';
import { partSizeOf, singleRequestLimit } from '../store/parts.ts';
import { stampOf } from '../store/source-file.ts';
import type { PhaseScope } from '../timing/recorder.ts';
import type { WorkSpan } from '../timing/span.ts';
import type { ScannedFile } from './scanned.ts';

/** What a read of an input has yielded: the file's sums, and what `use` made of its bytes. */
export interface ReadInput<T> {
  readonly file: ScannedFile;
  readonly result: T;
}

/** Turns the bytes of a file into something while they pass; what it leaves unread is still hashed. */
export type UseBytes<T> = (chunks: ByteSource, size: number) => Promise<T>;

/** Large enough that system calls cost nothing beside hashing, small enough that dozens of files may be open. */
const chunkSize = 256 * 1024;
/** From this size on a thread of its own is worth its start. */
const elsewhereFrom = 4 * 1024 * 1024;

/** The description files (.dsc, .changes) that are held in memory; the largest of Debian have about 1 MiB. */
const maxTextSize = 4 * 1024 * 1024;

/**
 * Reads a file from its first byte to its last, in chunks, hashing them and handing them to `use`. The read is one span of `scope`. Each chunk
 * is memory of its own: `use` may keep it. A large file is hashed by another thread meanwhile, which reads it for itself, and then `use` has
 * to read no more of it than it wants.
 *
 * Throws `input-not-found`, `input-not-readable`, `input-not-a-file`; `file-changed` when size, time of change or identity
 * of the file differ after the read, in preference to whatever `use` made of the mixture it saw.
 */
export async function readInput<T>(
  path: string,
  scope: PhaseScope,
  work: WorkSpan['work'],
  use: UseBytes<T>,
): Promise<ReadInput<T>> {
  // Without O_NONBLOCK, opening a fifo would wait for a writer before anybody can see that it is no file.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw notReadable(path, cause);
  });
  try {
    const before = await handle.stat({ bigint: true });
    if (!before.isFile()) throw notAFile(path);
    const size = Number(before.size);
    const read = size >= elsewhereFrom ? hashedElsewhere : hashedOnTheWay;
    const [sums, outcome] = await scope.work(work, size, () => read({ handle, path, size }, use));
    const after = await stat(path, { bigint: true }).catch(() => undefined);
    const same = after?.size === before.size && after.mtimeNs === before.mtimeNs && after.ino === before.ino;
    if (!same) throw fileChanged(path);
    if (outcome.status === 'rejected') throw outcome.reason;
    if (sums.status === 'rejected') throw sums.reason;
    const { md5, sha256, parts } = sums.value;
    const scanned = parts.length === 0 ? {} : { scanned: { stamp: stampOf(before), parts } };
    return { file: { path, size, md5, sha256, ...scanned }, result: outcome.value };
  } finally {
    await handle.close();
  }
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly path: string;
  readonly size: number;
}

/** Both settle before the file may be closed. */
type HashedRead<T> = [PromiseSettledResult<Sums>, PromiseSettledResult<T>];

async function hashedElsewhere<T>(file: OpenFile, use: UseBytes<T>): Promise<HashedRead<T>> {
  const { handle, path, size } = file;
  const hashed = async (): Promise<Sums> => {
    const partSize = size > singleRequestLimit ? { partSize: partSizeOf(size) } : {};
    const sums = await sumFile({ fd: handle.fd, size, ...partSize }, workers).catch((cause: unknown) => {
      throw notReadable(path, cause);
    });
    if (sums === undefined) throw fileChanged(path);
    return sums;
  };
  const at = { position: 0 };
  const source: ByteSource = {
    [Symbol.asyncIterator]: () => chunks(file, at),
    skip: (count) => {
      at.position += count;
    },
  };
  return Promise.allSettled([hashed(), use(source, size)]);
}

async function hashedOnTheWay<T>(file: OpenFile, use: UseBytes<T>): Promise<HashedRead<T>> {
  const summing = new Summing();
  const all = chunks(file, { position: 0 }, (chunk) => summing.update(chunk));
  // A loop that `use` leaves early would end the generator, and with it the hashing.
  const source: ByteSource = { [Symbol.asyncIterator]: () => ({ next: () => all.next() }) };
  const [used] = await Promise.allSettled([use(source, file.size)]);
  const rest = async (): Promise<Sums> => {
    for await (const _ of all);
    return summing.end();
  };
  const [sums] = await Promise.allSettled([rest()]);
  return [sums, used];
}

async function* chunks(
  { handle, path, size }: OpenFile,
  at: { position: number },
  passing: (chunk: Uint8Array) => void = () => {},
): AsyncGenerator<Uint8Array> {
  while (at.position < size) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, size - at.position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at.position).catch((cause: unknown) => {
      throw notReadable(path, cause);
    });
    if (bytesRead === 0) throw fileChanged(path);
    const chunk = buffer.subarray(0, bytesRead);
    passing(chunk);
    at.position += bytesRead;
    yield chunk;
  }
}

/** The sums of a file that nothing is read out of. Errors as `readInput`. */
export async function hashInput(path: string, scope: PhaseScope): Promise<ScannedFile> {
  return (await readInput(path, scope, 'hash', async () => undefined)).file;
}

/** A small text file, whole, with its sums. Throws `input-too-large`; else errors as `readInput`. */
export function readTextInput(path: string, scope: PhaseScope): Promise<ReadInput<Uint8Array>> {
  return readInput(path, scope, 'hash', async (chunks, size) => {
    if (size > maxTextSize) throw tooLarge(path, size);
    return collect(chunks);
  });
}

/** All bytes of `chunks` in one piece. The caller has seen to it that they are few. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

function fileChanged(path: string): Problem {
  return new Problem({
    code: 'file-changed',
    title: 'File changed while it was read',
    what: `${path} changed while it was being read.`,
    advice: 'Publish only after the build has finished writing its packages.',
  });
}

function notAFile(path: string): Problem {
  return new Problem({
    code: 'input-not-a-file',
    title: 'Input is not a file',
    what: `${path} is not a regular file.`,
    advice: 'Name package files; for all packages in a directory, use a pattern such as `out/*.deb`.',
  });
}

function tooLarge(path: string, size: number): Problem {
  return new Problem({
    code: 'input-too-large',
    title: 'File exceeds a limit',
    what: `${path} has ${size} bytes, and at most ${maxTextSize} of a .dsc or .changes are read.`,
    advice: 'Check that this is the file you meant to publish.',
  });
}

function notReadable(path: string, cause: unknown): Problem {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new Problem({
      code: 'input-not-found',
      title: 'File not found',
      what: `${path} does not exist.`,
      advice: 'Check the path, and that the step that builds the file ran before this one.',
      cause,
    });
  }
  return new Problem({
    code: 'input-not-readable',
    title: 'File cannot be read',
    what: `${path} cannot be read (${code}).`,
    advice: 'Check the permissions of the file and the health of the disk.',
    cause,
  });
}
