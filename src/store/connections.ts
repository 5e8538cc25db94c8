import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

type Connect = (
  options: ClientRequestArgs,
  callback?: (error: Error | null, stream: Duplex) => void,
) => Duplex | null | undefined;

/**
 * Connections to one endpoint that are opened before they are needed: a wave that begins with handshakes takes a round trip more, two or
 * three with TLS. How to reach the endpoint is learnt from the first request.
 */
export class Connections {
  readonly httpAgent = new HttpAgent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #ready: Duplex[] = [];
  #open: (() => Duplex | null | undefined) | undefined;

  constructor() {
    for (const agent of [this.httpAgent, this.httpsAgent]) {
      const connect: Connect = agent.createConnection.bind(agent);
      agent.createConnection = (options, callback) => {
        this.#open = () => connect(options);
        return this.#take() ?? connect(options, callback);
      };
    }
  }

  /** Sees to it that so many connections are idle, or on their way. Does nothing before the first request, and never throws. */
  warm(count: number): void {
    const idle = [this.httpAgent, this.httpsAgent].flatMap(({ freeSockets }) =>
      Object.values(freeSockets).flat(),
    ).length;
    for (let missing = count - idle - this.#ready.length; missing > 0; missing -= 1) {
      const stream = this.#open?.();
      if (stream === undefined || stream === null) return;
      this.#keep(stream);
    }
  }

  #take(): Duplex | undefined {
    const stream = this.#ready.shift();
    if (stream !== undefined) reference(stream, true);
    return stream;
  }

  #keep(stream: Duplex): void {
    this.#ready.push(stream);
    // A connection that nobody has used must keep no process alive, and its loss is nobody's concern.
    reference(stream, false);
    const forget = () => {
      const at = this.#ready.indexOf(stream);
      if (at !== -1) this.#ready.splice(at, 1);
    };
    stream.once('close', forget);
    stream.on('error', forget);
  }
}

/** Sockets know `ref` and `unref`; streams in general do not. */
function reference(stream: Duplex, keep: boolean): void {
  const socket: { ref?: unknown; unref?: unknown } = stream as Duplex & { ref?: unknown; unref?: unknown };
  const method = keep ? socket.ref : socket.unref;
  if (typeof method === 'function') method.call(stream);
}
