import { createHash } from 'node:crypto';
import type { PartBody } from './object-store.ts';

/** A part that is in memory as a whole. The bytes must stay what they are until it has been sent. */
export function bytesPart(bytes: Uint8Array): PartBody {
  return {
    length: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    read: async (position) => bytes.subarray(position),
  };
}

/**
 * A part from its beginning to its end, in pieces. They are read into the `rooms` in turn, so a piece is good only until as many more have been
 * asked for as there are rooms.
 */
export async function* pieces(body: PartBody, rooms: readonly [Buffer, ...Buffer[]]): AsyncGenerator<Uint8Array> {
  for (let position = 0, turn = 0; position < body.length; turn += 1) {
    const piece = await body.read(position, rooms[turn % rooms.length] ?? rooms[0]);
    yield piece;
    position += piece.length;
  }
}

/** A part in memory of its own. */
export async function wholePart(body: PartBody): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafe(body.length);
  for (let position = 0; position < body.length; ) {
    const piece = await body.read(position, whole.subarray(position));
    whole.set(piece, position);
    position += piece.length;
  }
  return whole;
}
