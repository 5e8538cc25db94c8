import { addAbortSignal, Readable } from 'node:stream';
import { Problem } from '../problem.ts';
import { TransientStoreError } from './object-store.ts';

/** Bodies are read whole. What is read so are records, heads and indexes; the largest index of Debian itself is a tenth of this. */
const limit = 1024 ** 3;

/**
 * The bytes of an answer's body. A body that ends before its announced length is a `TransientStoreError`, never a short object;
 * one that is larger than 1 GiB is a `Problem`, announced or not. Nothing more is read once `signal` gives it up.
 */
export async function readBody(
  source: unknown,
  announced: number | undefined,
  key: string,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if ((announced ?? 0) > limit) throw tooLarge(key);
  // The client looks at the signal until the headers have come; the body of a fetch has it of its own.
  if (signal !== undefined && source instanceof Readable) addAbortSignal(signal, source);
  if (isByteSource(source)) {
    for await (const chunk of source) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > limit) throw tooLarge(key);
    }
  }
  if (announced !== undefined && length !== announced) {
    throw new TransientStoreError({
      kind: 'connection',
      ambiguous: false,
      message: `The store sent ${length} of ${announced} bytes of ${key}.`,
    });
  }
  return Buffer.concat(chunks, length);
}

function isByteSource(source: unknown): source is AsyncIterable<Uint8Array> {
  return typeof source === 'object' && source !== null && Symbol.asyncIterator in source;
}

function tooLarge(key: string): Problem {
  return new Problem({
    code: 'store-read-too-large',
    title: 'An object is too large to read',
    what: `${key} is larger than ${limit / 1024 ** 3} GiB, which no index and no record should be.`,
    advice: 'See what has been stored under that name and by whom.',
  });
}
