import { BitReader } from './bit-reader.ts';
import { type Block, readBlock } from './bzip2-block.ts';
import type { Coder, Step } from './coder.ts';
import { corrupt } from './faults.ts';

const blockUnit = 100_000;
/**
 * With this much input at hand a block cannot run short: 900 000 symbols of at most 20 bits, the selectors, the code
 * lengths and the headers of the stream around it.
 */
const blockLookahead = 2_400_000;
const maxStepOutput = 1024 * 1024;

const blockMagic = 0x314159;
const blockMagicRest = 0x265359;
const endMagic = 0x177245;
const endMagicRest = 0x385090;

/**
 * Decodes bzip2, any number of streams one after the other, with every checksum. It is here because the libraries on npm
 * decode in one go, or without types, checks or upkeep; .deb files with data.tar.bz2 are old and few.
 */
class Bzip2Decoder implements Coder {
  readonly #reader = new BitReader();
  #pieces: Uint8Array[] = [];
  #held = 0;
  #blockLimit: number | undefined;
  #block: Block | undefined;
  #checksum = 0;
  #streams = 0;
  /** Kept from block to block: a file of many tiny blocks would spend its time on making room for large ones. */
  #symbols = new Uint8Array(0);
  #room = new Uint8Array(maxStepOutput);

  step(input: Uint8Array | undefined, last: boolean): Step {
    if (input !== undefined) {
      this.#pieces.push(input);
      this.#held += input.length;
    }
    if (!last && this.#reader.left + this.#held < blockLookahead) return { output: new Uint8Array(0), more: false };
    if (this.#held > 0) this.#reader.append(this.#pieces);
    this.#pieces = [];
    this.#held = 0;
    return this.#decode(last);
  }

  release(): void {}

  /** Up to one block, as far as the output of one step goes. */
  #decode(last: boolean): Step {
    this.#block ??= this.#nextBlock(last);
    if (this.#block === undefined) return { output: new Uint8Array(0), more: false };
    const written = this.#block.write(this.#room);
    const output = this.#room.slice(0, written);
    if (written === this.#room.length) return { output, more: true };
    this.#block = undefined;
    return { output, more: last || this.#reader.left >= blockLookahead };
  }

  /** Reads on to the next block; undefined at the end of the data, or when more is needed to be sure of a whole block. */
  #nextBlock(last: boolean): Block | undefined {
    const reader = this.#reader;
    while (last || reader.left >= blockLookahead) {
      this.#blockLimit ??= this.#streamHeader();
      if (this.#blockLimit === undefined) return undefined;
      const magic = reader.bits(24);
      const rest = reader.bits(24);
      if (magic === blockMagic && rest === blockMagicRest) {
        const before = this.#checksum;
        const block = readBlock(reader, this.#symbols.subarray(0, this.#blockLimit));
        this.#checksum = ((before << 1) | (before >>> 31)) ^ block.checksum;
        return block;
      }
      if (magic !== endMagic || rest !== endMagicRest)
        throw corrupt('neither a block nor an end stands where one must');
      if (reader.word() !== this.#checksum >>> 0) throw corrupt('the checksum of the whole does not fit');
      reader.align();
      this.#checksum = 0;
      this.#blockLimit = undefined;
    }
    return undefined;
  }

  /** The size that blocks may have; undefined when no further stream follows. */
  #streamHeader(): number | undefined {
    const reader = this.#reader;
    if (this.#streams > 0 && reader.left === 0) return undefined;
    this.#streams += 1;
    const [b, z, h, level] = [reader.bits(8), reader.bits(8), reader.bits(8), reader.bits(8) - 0x30];
    if (b !== 0x42 || z !== 0x5a || h !== 0x68 || level < 1 || level > 9) {
      throw corrupt(this.#streams === 1 ? 'it is not bzip2 data' : 'something that is not bzip2 follows its end');
    }
    const limit = level * blockUnit;
    if (this.#symbols.length < limit) this.#symbols = new Uint8Array(limit);
    return limit;
  }
}

export function openBzip2Decoder(): Coder {
  return new Bzip2Decoder();
}
