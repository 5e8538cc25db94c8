import { Readable } from 'node:stream';
import type { PartBody } from './object-store.ts';
import { pieces } from './part-body.ts';

/** Bytes that stay in the caches of a processor from where they are read to where they are sent. */
const roomSize = 512 * 1024;
type Rooms = readonly [Buffer, Buffer, Buffer];

/**
 * Sends parts as streams, each through three rooms of 512 KiB: one piece is being sent, the next waits for it, and one may be read meanwhile. A part
 * that is read into memory as a whole has left the caches before it is sent, which took a tenth of the throughput within one machine; new memory
 * for every piece takes more than that, as garbage.
 */
export class PartStreams {
  readonly #free: Rooms[] = [];

  /**
   * Has `send` send the stream, and give it up when the signal says so. Throws what `read` of the body throws: it says more than the request that
   * breaks off for it.
   */
  async send<T>(body: PartBody, send: (stream: Readable, signal: AbortSignal) => Promise<T>): Promise<T> {
    const rooms = this.#free.pop() ?? [room(), room(), room()];
    const stream = Readable.from(pieces(body, rooms));
    const broken = new AbortController();
    // A pipe does not tell its end that its beginning is broken: the request would wait for the rest of the body.
    stream.once('error', () => broken.abort());
    try {
      const answer = await send(stream, broken.signal);
      if (stream.readableEnded) this.#free.push(rooms);
      return answer;
    } catch (error) {
      const cause = stream.errored ?? error;
      // An answer may come before the whole body was sent: nothing else can be sent over that connection.
      broken.abort();
      throw cause;
    } finally {
      stream.destroy();
    }
  }
}

function room(): Buffer {
  return Buffer.allocUnsafeSlow(roomSize);
}
