import type { BitReader } from './bit-reader.ts';
import { corrupt } from './faults.ts';

/** One block of bzip2, after the reference implementation (bzip2 1.0.8: decompress.c, huffman.c). */

const groupSize = 50;
const maxSelectors = 18_002;
const maxCodeLength = 20;

/** A canonical Huffman code: for each length the largest code of that length and where its symbols begin. */
class HuffmanCode {
  readonly #limits = new Int32Array(maxCodeLength + 2).fill(-1);
  readonly #offsets = new Int32Array(maxCodeLength + 2);
  readonly #symbols: Uint16Array;
  readonly #shortest: number;

  constructor(lengths: Uint8Array) {
    this.#symbols = new Uint16Array(lengths.length);
    this.#shortest = lengths.reduce((least, length) => Math.min(least, length), maxCodeLength);
    let code = 0;
    let index = 0;
    for (let length = this.#shortest; length <= maxCodeLength; length += 1) {
      const first = index;
      for (let symbol = 0; symbol < lengths.length; symbol += 1) {
        if (lengths[symbol] === length) this.#symbols[index++] = symbol;
      }
      this.#offsets[length] = first - code;
      code += index - first;
      this.#limits[length] = code - 1;
      code <<= 1;
    }
  }

  read(reader: BitReader): number {
    let length = this.#shortest;
    let code = reader.bits(length);
    while (code > (this.#limits[length] ?? -1)) {
      if (length === maxCodeLength) throw corrupt('it holds a code that stands for nothing');
      length += 1;
      code = (code << 1) | reader.bits(1);
    }
    const symbol = this.#symbols[code + (this.#offsets[length] ?? 0)];
    if (symbol === undefined) throw corrupt('it holds a code that stands for nothing');
    return symbol;
  }
}

/** CRC-32 with the most significant bit first: not the one of zlib. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
  return crc;
});

/** A block whose codes have been read: bytes still to be walked through in the order of the original text. */
export class Block {
  readonly checksum: number;
  readonly #links: Uint32Array;
  #position: number;
  #left: number;
  #crc = 0xffff_ffff;
  #byte = -1;
  #run = 0;
  /** Repetitions of `#byte` that are still to be written. */
  #owed = 0;

  /** `bytes` is the last column of the sorted rotations; `origin` the row that is the text itself. */
  constructor(bytes: Uint8Array, origin: number, checksum: number) {
    const starts = new Uint32Array(256);
    for (const byte of bytes) starts[byte] = (starts[byte] ?? 0) + 1;
    let sum = 0;
    for (let byte = 0; byte < 256; byte += 1) {
      const count = starts[byte] ?? 0;
      starts[byte] = sum;
      sum += count;
    }
    // Upper 24 bits: the row that follows; lower 8: the byte of this row.
    const links = new Uint32Array(bytes.length);
    for (let row = 0; row < bytes.length; row += 1) {
      const byte = bytes[row] ?? 0;
      links[row] = (links[row] ?? 0) | byte;
      const next = starts[byte] ?? 0;
      starts[byte] = next + 1;
      links[next] = (links[next] ?? 0) | (row << 8);
    }
    this.#links = links;
    this.checksum = checksum;
    this.#position = (links[origin] ?? 0) >>> 8;
    this.#left = bytes.length;
  }

  /** Fills `room` as far as the block goes; returns the bytes written, fewer than the room only at the block's end. */
  write(room: Uint8Array): number {
    let at = 0;
    let crc = this.#crc;
    while (at < room.length) {
      if (this.#owed > 0) this.#owed -= 1;
      else if (this.#left === 0) break;
      else if (!this.#next()) continue;
      room[at++] = this.#byte;
      crc = (crc << 8) ^ (crcTable[(crc >>> 24) ^ this.#byte] ?? 0);
    }
    this.#crc = crc;
    if (at < room.length && ~crc >>> 0 !== this.checksum) throw corrupt('the checksum of a block does not fit');
    return at;
  }

  /** Four equal bytes are followed by the number of further ones. False when the byte read was such a number. */
  #next(): boolean {
    const link = this.#links[this.#position] ?? 0;
    const byte = link & 0xff;
    this.#position = link >>> 8;
    this.#left -= 1;
    if (this.#run === 4) {
      this.#owed = byte;
      this.#run = 0;
      return false;
    }
    this.#run = byte === this.#byte ? this.#run + 1 : 1;
    this.#byte = byte;
    return true;
  }
}

/** Reads a block after its magic number. `room` is as large as the block may be before run lengths are undone; free again afterwards. */
export function readBlock(reader: BitReader, room: Uint8Array): Block {
  const checksum = reader.word();
  if (reader.bits(1) === 1) throw corrupt('its blocks are randomised, as no bzip2 since 1999 writes them');
  const origin = reader.bits(24);
  const front = readAlphabet(reader);
  const groups = reader.bits(3);
  const selectorCount = reader.bits(15);
  if (groups < 2 || groups > 6 || selectorCount === 0) throw corrupt('the header of a block makes no sense');
  const selectors = readSelectors(reader, groups, selectorCount);
  const codes = Array.from({ length: groups }, () => new HuffmanCode(readLengths(reader, front.length + 2)));
  const bytes = readBytes(reader, front, codes, selectors, room);
  if (origin >= bytes.length) throw corrupt('the header of a block makes no sense');
  return new Block(bytes, origin, checksum);
}

function readAlphabet(reader: BitReader): Uint8Array {
  const used: number[] = [];
  const rows = reader.bits(16);
  for (let row = 0; row < 16; row += 1) {
    if ((rows & (0x8000 >> row)) === 0) continue;
    const columns = reader.bits(16);
    for (let column = 0; column < 16; column += 1) if (columns & (0x8000 >> column)) used.push(row * 16 + column);
  }
  if (used.length === 0) throw corrupt('a block uses no bytes');
  return Uint8Array.from(used);
}

function readSelectors(reader: BitReader, groups: number, count: number): Uint8Array {
  const front = Array.from({ length: groups }, (_, group) => group);
  // Some encoders write more than can be used; bzip2 1.0.8 reads over them.
  const selectors = new Uint8Array(Math.min(count, maxSelectors));
  for (let index = 0; index < count; index += 1) {
    let position = 0;
    while (position < groups && reader.bits(1) === 1) position += 1;
    const [group] = front.splice(position, 1);
    if (group === undefined) throw corrupt('the header of a block makes no sense');
    front.unshift(group);
    if (index < selectors.length) selectors[index] = group;
  }
  return selectors;
}

function readLengths(reader: BitReader, symbols: number): Uint8Array {
  const lengths = new Uint8Array(symbols);
  let length = reader.bits(5);
  for (let symbol = 0; symbol < symbols; symbol += 1) {
    for (;;) {
      if (length < 1 || length > maxCodeLength) throw corrupt('a code is longer than bzip2 allows');
      if (reader.bits(1) === 0) break;
      length += reader.bits(1) === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  return lengths;
}

function readBytes(
  reader: BitReader,
  front: Uint8Array,
  codes: readonly HuffmanCode[],
  selectors: Uint8Array,
  bytes: Uint8Array,
): Uint8Array {
  const limit = bytes.length;
  const end = front.length + 1;
  let size = 0;
  let run = 0;
  let weight = 1;
  let symbols = 0;
  let code: HuffmanCode | undefined;
  for (;;) {
    if (symbols % groupSize === 0) code = codes[selectors[symbols / groupSize] ?? codes.length];
    if (code === undefined) throw corrupt('a block is longer than its header says');
    symbols += 1;
    const symbol = code.read(reader);
    if (symbol <= 1) {
      // Run lengths in bijective base 2: the two lowest symbols are its digits.
      run += weight << symbol;
      weight <<= 1;
      if (run > limit) throw corrupt('a block is longer than its stream allows');
      continue;
    }
    if (run > 0) {
      if (size + run > limit) throw corrupt('a block is longer than its stream allows');
      bytes.fill(front[0] ?? 0, size, size + run);
      size += run;
      run = 0;
      weight = 1;
    }
    if (symbol === end) return bytes.subarray(0, size);
    if (size === limit) throw corrupt('a block is longer than its stream allows');
    const byte = front[symbol - 1] ?? 0;
    front.copyWithin(1, 0, symbol - 1);
    front[0] = byte;
    bytes[size++] = byte;
  }
}
