import { segments } from './carry.ts';
import { type CoderName, joined } from './coder.ts';
import { DecoderFault } from './faults.ts';
import type { PublishedForm } from './published-form.ts';
import type { Session, WorkerPool } from './worker-pool.ts';
import { joinStreams, splitStream, type XzStream } from './xz-container.ts';

/**
 * Inputs larger than this become blocks of about this size, so that all workers share the work and a later version can carry most of
 * them over. Fixed, so that the bytes do not depend on the machine. On 20 MB of Packages, blocks of 1 MiB make the file 7 %
 * larger than one block would, and take 25 % less CPU.
 */
export const xzBlockSize = 1024 * 1024;
/** A file whose every block is of this size is 6 % larger; but only what changes is cut so, and takes a quarter of the time from then on. */
const changedBlockSize = xzBlockSize / 4;

/**
 * xz -6, check CRC64, in blocks. The bytes depend on nothing but the arguments and the version of liblzma. Blocks of the published
 * form are carried over where their content stands unchanged.
 */
export async function compressXz(bytes: Uint8Array, pool: WorkerPool, published?: PublishedForm): Promise<Uint8Array> {
  const before = published === undefined ? undefined : carriable(published);
  const sizes = { block: xzBlockSize, changed: changedBlockSize };
  const plan = segments(published?.content ?? new Uint8Array(), before?.ends ?? [], bytes, sizes);
  const encode = (content: Uint8Array) => pool.whenRoomToEncode(() => encodeXz(content, pool));
  const [first] = plan;
  if (first === undefined || (plan.length === 1 && 'start' in first)) return encode(bytes);
  const parts = await Promise.all(
    plan.map(async (segment): Promise<XzStream> => {
      if ('start' in segment) return splitStream(await encode(bytes.subarray(segment.start, segment.end)));
      const block = before?.stream.blocks[segment.block];
      if (before === undefined || block === undefined) throw new RangeError(`There is no block ${segment.block}.`);
      return { flags: before.stream.flags, blocks: [block] };
    }),
  );
  return joinStreams(parts);
}

/** CRC64, as every stream that is encoded here has it. */
const streamFlags = Uint8Array.of(0, 4);

/** The published stream with the ends of its blocks' content; undefined for one of another kind. */
function carriable({ packed, content }: PublishedForm): { stream: XzStream; ends: number[] } | undefined {
  try {
    const stream = splitStream(packed);
    let end = 0;
    const ends = stream.blocks.map(({ unpackedSize }) => {
      end += unpackedSize;
      return end;
    });
    const same = stream.flags.every((byte, index) => byte === streamFlags[index]);
    return same && end === content.length ? { stream, ends } : undefined;
  } catch (error) {
    if (error instanceof DecoderFault) return undefined;
    throw error;
  }
}

async function encodeXz(block: Uint8Array, pool: WorkerPool): Promise<Uint8Array> {
  const session = pool.open('xz-encode');
  try {
    const pieces: Uint8Array[] = [];
    for await (const piece of drain(session, ownCopy(block), true)) pieces.push(piece);
    return joined(pieces);
  } finally {
    session.close();
  }
}

/** Decodes in a worker; throws `DecoderFault`. */
export async function* decodeInWorker(
  coder: CoderName,
  source: AsyncIterable<Uint8Array>,
  pool: WorkerPool,
): AsyncGenerator<Uint8Array> {
  const session = pool.open(coder);
  try {
    for await (const chunk of source) yield* drain(session, ownCopy(chunk), false);
    yield* drain(session, undefined, true);
  } finally {
    session.close();
  }
}

/** One piece of input and everything that comes of it. */
async function* drain(
  session: Session,
  input: Uint8Array<ArrayBuffer> | undefined,
  last: boolean,
): AsyncGenerator<Uint8Array> {
  let step = await session.step(input, last);
  for (;;) {
    if (step.output.length > 0) yield step.output;
    if (!step.more) return;
    step = await session.step(undefined, last);
  }
}

/** What goes to a worker is moved, so it must be nobody else's; `slice()` would not do, since a Buffer's is a view. */
function ownCopy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
