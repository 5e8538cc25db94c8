import { joined } from './coder.ts';
import { DecoderFault, faultProblem, limitProblem } from './faults.ts';
import { chunkedFrom, compressGzipChunks } from './gzip-chunks.ts';
import type { PublishedForm } from './published-form.ts';
import { compressXz, decodeInWorker, xzBlockSize } from './worker-codec.ts';
import { workers } from './workers.ts';
import { compressGzip, decodeZlib } from './zlib-codec.ts';
import { compressZstd, compressZstdFrames, framedFrom } from './zstd-frames.ts';

/** The forms in which indexes are stored. */
export const forms = ['gz', 'xz', 'zst'] as const;
export type Form = (typeof forms)[number];

/** The forms in which input may come. */
export type Compression = Form | 'bz2' | 'lzma' | 'none';

type Encode = (bytes: Uint8Array, published: PublishedForm | undefined) => Promise<Uint8Array>;

const encoders: Record<Form, Encode> = {
  gz: (bytes, published) => (bytes.length < chunkedFrom ? compressGzip(bytes) : compressGzipChunks(bytes, published)),
  xz: (bytes, published) => compressXz(bytes, workers, published),
  zst: (bytes, published) => (bytes.length < framedFrom ? compressZstd(bytes) : compressZstdFrames(bytes, published)),
};

type Decode = (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

const decoders: Record<Compression, Decode> = {
  none: (source) => source,
  gz: (source) => decodeZlib('gz', source),
  zst: (source) => decodeZlib('zst', source),
  xz: (source) => decodeInWorker('xz-decode', source, workers),
  lzma: (source) => decodeInWorker('lzma-decode', source, workers),
  bz2: (source) => decodeInWorker('bz2-decode', source, workers),
};

/** From these sizes on, uncompressed, work is saved by carrying over what can be of the published form. */
export const carriedFrom: Readonly<Record<Form, number>> = {
  gz: chunkedFrom,
  xz: 2 * xzBlockSize,
  zst: framedFrom,
};

/** Has the thread and the code that these forms need ready by the time when there is something to compress. Does not keep the process alive. */
export function prepareToCompress(wanted: readonly Form[]): void {
  if (wanted.includes('xz')) workers.open('xz-encode').close();
}

/**
 * Compresses off the main thread. The same arguments give the same bytes on every machine: gzip level 9 without name or time;
 * zstd level 19 up to 1 MiB, 12 beyond, in frames of 1 MiB from 2 MiB on; xz -6 in blocks of 1 MiB. With the published form of an index the work is that of
 * the blocks that changed (from `carriedFrom` bytes on). `bytes` must not change before the promise settles.
 */
export function compress(form: Form, bytes: Uint8Array, published?: PublishedForm): Promise<Uint8Array> {
  return encoders[form](bytes, published);
}

/**
 * Decompresses all of `bytes` off the main thread. Problems: `decompression-limit` when more than `limit` bytes come out
 * or more than 128 MiB of memory are asked for, `compressed-data-corrupt` when `bytes` are damaged, end early, or anything
 * but the same format follows their end. `origin` begins their sentences: "The data of hello_1.0_amd64.deb".
 */
export async function decompress(
  compression: Compression,
  bytes: Uint8Array,
  limit: number,
  origin: string,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decompressStream(compression, once(bytes), limit, origin)) pieces.push(piece);
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : joined(pieces);
}

/** As `decompress`, for what is said to have exactly so many bytes: they are not held twice, and may turn out to be fewer. */
export async function decompressSized(
  compression: Compression,
  bytes: Uint8Array,
  size: number,
  origin: string,
): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for await (const piece of decompressStream(compression, once(bytes), size, origin)) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole.subarray(0, at);
}

/**
 * As `decompress`, in pieces of at most a few MiB, reading the source no faster than the pieces are taken; what was
 * yielded before a Problem is not to be trusted. Errors of the source pass through.
 */
export async function* decompressStream(
  compression: Compression,
  source: AsyncIterable<Uint8Array>,
  limit: number,
  origin: string,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const piece of decoders[compression](source)) {
      size += piece.length;
      if (size > limit) throw limitProblem(origin, limit);
      yield piece;
    }
  } catch (error) {
    throw error instanceof DecoderFault ? faultProblem(error.fault, origin, error) : error;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
