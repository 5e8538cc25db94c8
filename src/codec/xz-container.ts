import { crc32 } from 'node:zlib';
import { joined } from './coder.ts';
import { corrupt, endsEarly } from './faults.ts';

/**
 * The container around the blocks of an .xz file (The .xz File Format 1.2.1, https://tukaani.org/xz/xz-file-format.txt).
 * Blocks stand for themselves: they can be taken out of one file and put into another unchanged, under a new index.
 */

/** A block with its header, check and padding. */
interface XzBlock {
  readonly bytes: Uint8Array;
  /** Bytes without the padding: what the index records. */
  readonly unpaddedSize: number;
  /** Bytes that it decodes to. */
  readonly unpackedSize: number;
}

export interface XzStream {
  /** The two bytes of Stream Flags, naming the check of every block. */
  readonly flags: Uint8Array;
  readonly blocks: readonly XzBlock[];
}

const headerSize = 12;
const footerSize = 12;
const headerMagic = Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00);
const footerMagic = Uint8Array.of(0x59, 0x5a);

/** Takes a file of exactly one stream apart, by its index; the blocks' contents are not looked at. Throws `DecoderFault`. */
export function splitStream(file: Uint8Array): XzStream {
  if (file.length < headerSize + footerSize) throw corrupt(endsEarly);
  const flags = file.subarray(6, 8);
  const header = view(file, 0, headerSize);
  const footer = view(file, file.length - footerSize, footerSize);
  const closing = file.subarray(file.length - footerSize);
  if (!same(file.subarray(0, 6), headerMagic) || !same(closing.subarray(10), footerMagic)) {
    throw corrupt('it does not begin and end like an .xz file');
  }
  if (header.getUint32(8, true) !== crc32(flags) || footer.getUint32(0, true) !== crc32(closing.subarray(4, 10))) {
    throw corrupt('the checksum of its header or footer does not fit');
  }
  if (!same(closing.subarray(8, 10), flags)) throw corrupt('its header and its footer name different checks');
  const indexStart = file.length - footerSize - (footer.getUint32(4, true) + 1) * 4;
  if (indexStart < headerSize) throw corrupt('its index is larger than the file');
  const records = readIndex(file.subarray(indexStart, file.length - footerSize));
  let at = headerSize;
  const blocks = records.map(([unpaddedSize, unpackedSize]) => {
    const bytes = file.subarray(at, at + padded(unpaddedSize));
    at += padded(unpaddedSize);
    return { bytes, unpaddedSize, unpackedSize };
  });
  if (at !== indexStart) throw corrupt('its index does not fit its blocks');
  return { flags, blocks };
}

/** Puts the blocks of several streams into one stream, in order. All must use the same check. */
export function joinStreams(parts: readonly XzStream[]): Uint8Array {
  const flags = parts[0]?.flags;
  if (flags === undefined) throw new RangeError('There is no .xz stream to join.');
  if (parts.some((part) => !same(part.flags, flags))) throw new RangeError('The .xz streams use different checks.');
  const blocks = parts.flatMap((part) => part.blocks);
  const index = writeIndex(blocks);
  const header = new Uint8Array(headerSize);
  header.set(headerMagic);
  header.set(flags, 6);
  view(header, 0, headerSize).setUint32(8, crc32(flags), true);
  const footer = new Uint8Array(footerSize);
  view(footer, 0, footerSize).setUint32(4, index.length / 4 - 1, true);
  footer.set(flags, 8);
  footer.set(footerMagic, 10);
  view(footer, 0, footerSize).setUint32(0, crc32(footer.subarray(4, 10)), true);
  return joined([header, ...blocks.map((block) => block.bytes), index, footer]);
}

/** Section 4: indicator 0, number of records, the records (unpadded and unpacked size each), padding, CRC32. */
function readIndex(index: Uint8Array): [unpaddedSize: number, unpackedSize: number][] {
  const content = index.subarray(0, index.length - 4);
  if (view(index, content.length, 4).getUint32(0, true) !== crc32(content)) {
    throw corrupt('the checksum of its index does not fit');
  }
  const integers = readIntegers(content);
  if (content[0] !== 0) throw corrupt('its index does not begin like one');
  const count = integers.next();
  // A record is two bytes at least: a count beyond that is not worth a loop.
  if (count > content.length / 2) throw corrupt('its index does not fit its blocks');
  const records: [number, number][] = [];
  for (let record = 0; record < count; record += 1) records.push([integers.next(), integers.next()]);
  const padding = content.subarray(integers.position());
  if (padding.length > 3 || padding.some((byte) => byte !== 0)) throw corrupt('its index does not fit its blocks');
  return records;
}

function writeIndex(blocks: readonly XzBlock[]): Uint8Array {
  const content = [0, ...integer(blocks.length)];
  for (const block of blocks) content.push(...integer(block.unpaddedSize), ...integer(block.unpackedSize));
  while (content.length % 4 !== 0) content.push(0);
  const index = new Uint8Array(content.length + 4);
  index.set(content);
  view(index, content.length, 4).setUint32(0, crc32(index.subarray(0, content.length)), true);
  return index;
}

/** Section 1.2: seven bits a byte, least significant first, the top bit set on all but the last. */
function integer(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return bytes;
}

function readIntegers(content: Uint8Array): { next(): number; position(): number } {
  let at = 1;
  return {
    next: () => {
      let value = 0;
      for (let weight = 1; ; weight *= 0x80) {
        const byte = content[at++];
        if (byte === undefined) throw corrupt('its index does not fit its blocks');
        value += (byte & 0x7f) * weight;
        if (!Number.isSafeInteger(value)) throw corrupt('its index does not fit its blocks');
        if (byte < 0x80) return value;
      }
    },
    position: () => at,
  };
}

function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function view(bytes: Uint8Array, offset: number, length: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + offset, length);
}
