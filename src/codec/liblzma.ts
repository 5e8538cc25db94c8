import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import createLiblzma from 'node-liblzma/wasm/liblzma.js';
import { type Coder, joined, type Step } from './coder.ts';
import { corrupt, DecoderFault, endsEarly, maxDecoderMemory } from './faults.ts';

/** The part used here of what Emscripten makes of liblzma; names and values are those of lzma/base.h. */
interface Liblzma {
  readonly HEAPU8: Uint8Array;
  getValue(address: number, type: 'i32'): number;
  setValue(address: number, value: number, type: 'i32'): void;
  _malloc(size: number): number;
  _lzma_easy_encoder(stream: number, preset: number, check: number): number;
  _lzma_stream_decoder(stream: number, memoryLimit: bigint, flags: number): number;
  _lzma_auto_decoder(stream: number, memoryLimit: bigint, flags: number): number;
  _lzma_code(stream: number, action: number): number;
  _lzma_end(stream: number): void;
}

const run = 0;
const finish = 3;
const ok = 0;
const streamEnd = 1;
const memoryError = 5;
const memoryLimitError = 6;
const formatError = 7;
const optionsError = 8;
const dataError = 9;
const bufferError = 10;
const concatenated = 0x08;
const checkCrc64 = 4;
/** The first byte of an .xz file, which liblzma's auto decoder reads as well as .lzma. */
const xzStart = 0xfd;

/** What `xz` does without options. */
const preset = 6;

/** struct lzma_stream on wasm32. */
const streamSize = 96;
const nextIn = 0;
const availIn = 4;
const nextOut = 16;
const availOut = 20;

const kibibyte = 1024;
const inputRoom = 64 * kibibyte;
const outputRoom = 256 * kibibyte;
/** The bounds of one step: about 0.1 s of encoding or 0.05 s of decoding. */
const maxStepInput = 256 * kibibyte;
const maxStepOutput = 1024 * kibibyte;
/** An instance's memory never shrinks; one that had to grow past this for a large dictionary is not kept. */
const maxIdleMemory = 32 * 1024 * kibibyte;

/** ncc writes the file beside the bundle of the worker; in the source tree it is where npm put it. */
const wasmBinary = readFileSync(
  import.meta.filename.endsWith('.ts')
    ? createRequire(import.meta.filename).resolve('node-liblzma/wasm/liblzma.wasm')
    : join(import.meta.dirname, 'liblzma.wasm'),
);

/** One wasm instance with its own memory, the struct and two buffers in it; serves one coder after another. */
class Instance {
  readonly lib: Liblzma;
  readonly stream: number;
  readonly input: number;
  readonly output: number;

  constructor(lib: Liblzma) {
    this.lib = lib;
    this.stream = lib._malloc(streamSize);
    this.input = lib._malloc(inputRoom);
    this.output = lib._malloc(outputRoom);
    this.#clear();
  }

  /** Frees what the coder took. A coder that was given up leaves input behind, which the next one must not find. */
  end(): void {
    this.lib._lzma_end(this.stream);
    this.#clear();
  }

  get(field: number): number {
    return this.lib.getValue(this.stream + field, 'i32');
  }

  set(field: number, value: number): void {
    this.lib.setValue(this.stream + field, value, 'i32');
  }

  #clear(): void {
    this.lib.HEAPU8.fill(0, this.stream, this.stream + streamSize);
  }
}

const idle: { encoder: Instance | undefined; decoder: Instance | undefined } = {
  encoder: undefined,
  decoder: undefined,
};

async function takeInstance(role: keyof typeof idle): Promise<Instance> {
  const kept = idle[role];
  idle[role] = undefined;
  if (kept !== undefined) return kept;
  const lib: Liblzma = await createLiblzma({ wasmBinary });
  return new Instance(lib);
}

class LzmaCoder implements Coder {
  readonly #role: keyof typeof idle;
  readonly #instance: Instance;
  #waiting: Uint8Array = new Uint8Array(0);
  #refusedStart: number | undefined;
  #ended = false;

  /** `refusedStart`: a first byte that liblzma would take and the format does not. */
  constructor(role: keyof typeof idle, instance: Instance, refusedStart?: number) {
    this.#role = role;
    this.#instance = instance;
    this.#refusedStart = refusedStart;
  }

  step(input: Uint8Array | undefined, last: boolean): Step {
    if (input !== undefined && input.length > 0) {
      if (input[0] === this.#refusedStart) throw failure(formatError);
      this.#refusedStart = undefined;
      this.#waiting = input;
    }
    const pieces: Uint8Array[] = [];
    let consumed = 0;
    let produced = 0;
    while (!this.#ended) {
      if (consumed >= maxStepInput || produced >= maxStepOutput) return { output: joined(pieces), more: true };
      consumed += this.#load();
      const all = this.#waiting.length === 0;
      const piece = this.#code(all && last ? finish : run);
      produced += piece.length;
      if (piece.length > 0) pieces.push(piece);
      // Room left in the output and nothing left in the input: only more input can bring more output.
      if (!last && all && piece.length < outputRoom && this.#instance.get(availIn) === 0) break;
    }
    return { output: joined(pieces), more: false };
  }

  release(): void {
    this.#instance.end();
    // An encoder always asks for the same memory, so what it grew to is what the next one needs.
    if (this.#role === 'encoder' || this.#instance.lib.HEAPU8.length <= maxIdleMemory)
      idle[this.#role] = this.#instance;
  }

  /** Refills the wasm side's empty input; returns how many bytes went in. */
  #load(): number {
    if (this.#waiting.length === 0 || this.#instance.get(availIn) > 0) return 0;
    const piece = this.#waiting.subarray(0, inputRoom);
    this.#waiting = this.#waiting.subarray(piece.length);
    this.#instance.lib.HEAPU8.set(piece, this.#instance.input);
    this.#instance.set(nextIn, this.#instance.input);
    this.#instance.set(availIn, piece.length);
    return piece.length;
  }

  #code(action: number): Uint8Array {
    const { lib, stream, output } = this.#instance;
    this.#instance.set(nextOut, output);
    this.#instance.set(availOut, outputRoom);
    const answer = lib._lzma_code(stream, action);
    if (answer === streamEnd) this.#ended = true;
    else if (answer !== ok && !(answer === bufferError && action === run)) throw failure(answer);
    return lib.HEAPU8.slice(output, output + outputRoom - this.#instance.get(availOut));
  }
}

function failure(answer: number): Error {
  switch (answer) {
    case memoryError:
    case memoryLimitError:
      return new DecoderFault({ kind: 'memory' });
    case formatError:
      return corrupt('it is not in the format that its name says');
    case optionsError:
      return corrupt('its header asks for something that the format does not know');
    case dataError:
      return corrupt('its contents do not fit their checksums, or something follows their end');
    case bufferError:
      return corrupt(endsEarly);
    default:
      return new Error(`liblzma answered ${answer}.`);
  }
}

/** Encodes one .xz stream of one block (none for no input), check CRC64, preset 6. */
export async function openXzEncoder(): Promise<Coder> {
  const instance = await takeInstance('encoder');
  const answer = instance.lib._lzma_easy_encoder(instance.stream, preset, checkCrc64);
  if (answer !== ok) throw failure(answer);
  return new LzmaCoder('encoder', instance);
}

/** Decodes .xz (any number of streams and blocks, padding between them) or .lzma; refuses whatever else follows. */
export async function openLzmaDecoder(format: 'xz' | 'lzma'): Promise<Coder> {
  const instance = await takeInstance('decoder');
  const open = format === 'xz' ? instance.lib._lzma_stream_decoder : instance.lib._lzma_auto_decoder;
  const answer = open(instance.stream, BigInt(maxDecoderMemory), concatenated);
  if (answer !== ok) throw failure(answer);
  return new LzmaCoder('decoder', instance, format === 'lzma' ? xzStart : undefined);
}
