import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type Segment, segments } from './carry.ts';
import { joined } from './coder.ts';
import type { PublishedForm } from './published-form.ts';

/**
 * A gzip file of one member whose deflate stream is made of independent chunks (RFC 1951 lets a stream end a block at a byte boundary
 * anywhere, which zlib calls a full flush). Every gzip reader reads it, also those that stop after the first member. Where its
 * chunks are stands in the member's extra field (RFC 1952, section 2.3.1.1), under the subfield id "AP".
 */

const deflateRaw = promisify(zlib.deflateRaw);

const mebibyte = 1024 * 1024;
/** A full flush each MiB costs 0.3 % in size on Packages. */
const largeChunk = mebibyte;
/** And each quarter of a MiB 1.2 %, for files of which that is not much and the time of compressing a whole MiB would be. */
const smallChunk = mebibyte / 4;
const largeFrom = 8 * mebibyte;
/** Smaller files are one chunk without a table. */
export const chunkedFrom = 2 * smallChunk;

const fixedHeader = 10;
const subfield = { id1: 0x41, id2: 0x50 };
const entrySize = 8;
/** A last block without content. */
const lastBlock = Uint8Array.of(0x03, 0x00);
const trailerSize = 8;

interface Chunk {
  readonly packed: Uint8Array;
  readonly size: number;
}

/** Level 9, no name, no time; chunks of the published form are carried over where their content stands unchanged. */
export async function compressGzipChunks(bytes: Uint8Array, published: PublishedForm | undefined): Promise<Uint8Array> {
  const before = published === undefined ? undefined : splitChunks(published.packed, published.content.length);
  const plan = segments(published?.content ?? new Uint8Array(), before === undefined ? [] : ends(before), bytes, {
    block: bytes.length < largeFrom ? smallChunk : largeChunk,
    changed: smallChunk,
  });
  const chunks = await Promise.all(plan.map((segment) => chunkOf(segment, before ?? [], bytes)));
  return assemble(chunks, bytes);
}

async function chunkOf(segment: Segment, before: readonly Chunk[], bytes: Uint8Array): Promise<Chunk> {
  if ('block' in segment) {
    const carried = before[segment.block];
    if (carried !== undefined) return carried;
    throw new RangeError(`There is no chunk ${segment.block} to carry over.`);
  }
  const content = bytes.subarray(segment.start, segment.end);
  const packed = await deflateRaw(content, { level: 9, finishFlush: zlib.constants.Z_FULL_FLUSH });
  return { packed, size: content.length };
}

function assemble(chunks: readonly Chunk[], bytes: Uint8Array): Uint8Array {
  const table = new DataView(new ArrayBuffer(chunks.length * entrySize));
  for (const [index, { packed, size }] of chunks.entries()) {
    table.setUint32(index * entrySize, packed.length, true);
    table.setUint32(index * entrySize + 4, size, true);
  }
  const header = new DataView(new ArrayBuffer(fixedHeader + 6));
  const extraLength = 4 + table.byteLength;
  // Magic, deflate, FEXTRA, no time, "slowest algorithm", Unix.
  for (const [at, byte] of [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 2, 3].entries()) header.setUint8(at, byte);
  header.setUint16(fixedHeader, extraLength, true);
  header.setUint8(fixedHeader + 2, subfield.id1);
  header.setUint8(fixedHeader + 3, subfield.id2);
  header.setUint16(fixedHeader + 4, table.byteLength, true);
  const trailer = new DataView(new ArrayBuffer(trailerSize));
  trailer.setUint32(0, zlib.crc32(bytes), true);
  trailer.setUint32(4, bytes.length % 2 ** 32, true);
  const part = (view: DataView) => new Uint8Array(view.buffer);
  return joined([part(header), part(table), ...chunks.map(({ packed }) => packed), lastBlock, part(trailer)]);
}

/** The chunks of a file that `compressGzipChunks` wrote; undefined for any other. */
function splitChunks(file: Uint8Array, contentSize: number): Chunk[] | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < fixedHeader + 6 + lastBlock.length + trailerSize) return undefined;
  if (view.getUint16(0) !== 0x1f8b || view.getUint8(3) !== 4) return undefined;
  if (view.getUint8(fixedHeader + 2) !== subfield.id1 || view.getUint8(fixedHeader + 3) !== subfield.id2)
    return undefined;
  const tableSize = view.getUint16(fixedHeader + 4, true);
  const tableStart = fixedHeader + 6;
  if (view.getUint16(fixedHeader, true) !== tableSize + 4 || tableSize % entrySize !== 0) return undefined;
  if (tableStart + tableSize > file.length) return undefined;
  const chunks: Chunk[] = [];
  let at = tableStart + tableSize;
  for (let entry = tableStart; entry < tableStart + tableSize; entry += entrySize) {
    const length = view.getUint32(entry, true);
    chunks.push({ packed: file.subarray(at, at + length), size: view.getUint32(entry + 4, true) });
    at += length;
  }
  const sizes = chunks.reduce((sum, { size }) => sum + size, 0);
  return at === file.length - lastBlock.length - trailerSize && sizes === contentSize ? chunks : undefined;
}

function ends(chunks: readonly Chunk[]): number[] {
  let end = 0;
  return chunks.map(({ size }) => {
    end += size;
    return end;
  });
}
