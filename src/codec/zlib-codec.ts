import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { corrupt, DecoderFault, endsEarly, maxDecoderMemory } from './faults.ts';

/** gzip and zstd: both are in Node and run on its own threads. */

/** Small steps: DNS and files wait for the same threads. */
const chunkSize = 256 * 1024;

const gzip = promisify(zlib.gzip);

/** One member, level 9, no name, no time. */
export async function compressGzip(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = await gzip(bytes, { level: 9, chunkSize });
  // RFC 1952, section 2.3.1: the operating system, which zlib fills in when it is built. 3 is Unix.
  packed[9] = 3;
  return packed;
}

const openers = {
  gz: () => zlib.createGunzip({ chunkSize }),
  zst: () =>
    zlib.createZstdDecompress({
      chunkSize,
      params: { [zlib.constants.ZSTD_d_windowLogMax]: Math.log2(maxDecoderMemory) },
    }),
};

/**
 * Every zstd frame takes a new decoder and 0.1 ms: ten MiB of empty ones, nine bytes each, would take two minutes. Beyond this many
 * they must have this many bytes on average, far fewer than any tool puts into one.
 */
const fewFrames = 1000;
const leastFrameSize = 1024;

/** Decodes any number of members or frames one after the other; whatever else follows is refused. Throws `DecoderFault`. */
export async function* decodeZlib(form: 'gz' | 'zst', source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let engine = new Engine(openers[form]());
  let frames = 1;
  let consumed = 0;
  try {
    for await (const chunk of source) {
      let rest = chunk;
      while (rest.length > 0) {
        yield* engine.feed(rest);
        const unread = engine.unread;
        consumed += rest.length - unread;
        rest = rest.subarray(rest.length - unread);
        // Node stops at the end of a zstd frame, and of a gzip member that zeros follow, and swallows the rest in silence.
        if (unread === 0) continue;
        frames += 1;
        if (frames > fewFrames && consumed < frames * leastFrameSize) throw corrupt('it is cut into tiny frames');
        engine.destroy();
        engine = new Engine(openers[form]());
      }
    }
    yield* engine.finish();
  } finally {
    engine.destroy();
  }
}

type Decoder = zlib.Gunzip | zlib.ZstdDecompress;

/** Drives one decoder of node:zlib a chunk at a time, so that it is known how far it read. */
class Engine {
  readonly #decoder: Decoder;
  #given = 0;
  #failure: Error | undefined;
  #changed: () => void = () => undefined;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
    decoder.on('readable', () => this.#changed());
    decoder.on('end', () => this.#changed());
    decoder.on('error', (error) => {
      this.#failure = error;
      this.#changed();
    });
  }

  /** Bytes of the last chunk that lie behind the end of the member. */
  get unread(): number {
    return this.#given - this.#decoder.bytesWritten;
  }

  async *feed(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
    this.#given += chunk.length;
    let taken = false;
    this.#decoder.write(chunk, () => {
      taken = true;
      this.#changed();
    });
    yield* this.#outputUntil(() => taken);
  }

  async *finish(): AsyncGenerator<Uint8Array> {
    this.#decoder.end();
    yield* this.#outputUntil(() => this.#decoder.readableEnded);
  }

  destroy(): void {
    this.#decoder.destroy();
  }

  async *#outputUntil(done: () => boolean): AsyncGenerator<Uint8Array> {
    for (;;) {
      const change = new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      for (let output = this.#read(); output !== null; output = this.#read()) yield output;
      if (this.#failure !== undefined) throw fault(this.#failure);
      if (done()) return;
      await change;
    }
  }

  #read(): Uint8Array | null {
    return this.#failure === undefined ? this.#decoder.read() : null;
  }
}

function fault(error: Error): DecoderFault {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') return new DecoderFault({ kind: 'memory' });
  if (code === 'Z_BUF_ERROR') return corrupt(endsEarly);
  return corrupt(error.message.charAt(0).toLowerCase() + error.message.slice(1));
}
