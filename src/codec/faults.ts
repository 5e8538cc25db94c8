import { Problem } from '../problem.ts';

const mebibyte = 1024 * 1024;

/**
 * Most memory that unpacking one stream may take. `xz -9` needs 65 MiB to read back; a header may ask for 4 GiB. zstd
 * has the same cap for its window, which is also the most its readers must support (RFC 8878, section 3.1.1.1.2).
 */
export const maxDecoderMemory = 128 * mebibyte;

/** What a decoder found wrong with its input, before anybody knows what to call that input. */
export type Fault =
  /** `detail` completes "… is damaged: ". */
  { readonly kind: 'corrupt'; readonly detail: string } | { readonly kind: 'memory' };

/** Thrown by decoders; becomes a `Problem` where the origin of the bytes is known. */
export class DecoderFault extends Error {
  override readonly name = 'DecoderFault';
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.kind === 'corrupt' ? fault.detail : 'more memory is needed than allowed');
    this.fault = fault;
  }
}

export function corrupt(detail: string): DecoderFault {
  return new DecoderFault({ kind: 'corrupt', detail });
}

export const endsEarly = 'it ends too early';

/** `origin` begins the sentence: "The data of hello_1.0_amd64.deb". Codes: `compressed-data-corrupt`, `decompression-limit`. */
export function faultProblem(fault: Fault, origin: string, cause?: unknown): Problem {
  if (fault.kind === 'memory') {
    return new Problem({
      code: 'decompression-limit',
      title: 'Compressed data needs too much memory',
      what: `${origin} needs more than ${maxDecoderMemory / mebibyte} MiB of memory to unpack.`,
      advice: 'Compress it again with a smaller dictionary or window, at most what `xz -9` or `zstd --long` use.',
      ...(cause === undefined ? {} : { cause }),
    });
  }
  return new Problem({
    code: 'compressed-data-corrupt',
    title: 'Compressed data is damaged',
    what: `${origin} is damaged: ${fault.detail}.`,
    advice: 'Fetch or build the file again.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Code: `decompression-limit`. */
export function limitProblem(origin: string, limit: number): Problem {
  return new Problem({
    code: 'decompression-limit',
    title: 'Unpacked data is too large',
    what: `${origin} unpacks to more than ${limit} bytes.`,
    advice: 'Check that it is what it should be; data that grows out of all proportion is not published.',
  });
}
