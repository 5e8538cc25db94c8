import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from '../test/rig/listener.ts';
import type { LoggedRequest } from './request-log.ts';

/** Milliseconds that the server takes longer for this request; `number` counts from 0 over all connections. */
export type Lateness = (number: number) => number;

export interface Tap extends AsyncDisposable {
  readonly endpoint: string;
  /** The requests since this was called last. */
  take(): LoggedRequest[];
}

type OpenRequest = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/**
 * Passes bytes between a client and the server at `to` and writes down the HTTP/1.1 requests it sees, whoever sends them. Only for clients that wait for
 * each answer before they use the connection again, which all of them do.
 *
 * A request that is late takes effect late, and also when its client has given it up: what a slow server does.
 */
export async function startTap(to: string, lateness: Lateness = () => 0): Promise<Tap> {
  const target = new URL(to);
  const open = new Set<Socket>();
  let log: OpenRequest[] = [];
  let number = 0;

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let current: OpenRequest | undefined;
    let answered = true;
    const gate = new Gate(upstream);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.on('data', (chunk: Buffer) => {
      const [, method = '', path = ''] = (answered && firstLine.exec(chunk.toString('latin1', 0, 4096))) || [];
      if (method !== '') {
        const now = performance.now();
        current = { method, target: path, start: now, end: now, status: 0, bytesUp: 0, bytesDown: 0 };
        log.push(current);
        answered = false;
        gate.holdUntil(now + lateness(number));
        number += 1;
      }
      if (current !== undefined) current.bytesUp += chunk.length;
      if (!gate.pass(chunk)) {
        client.pause();
        upstream.once('drain', () => client.resume());
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      if (current !== undefined) {
        const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(chunk.toString('latin1', 0, 16))?.[1] ?? '0');
        if (!answered && status >= 200) {
          current.status = status;
          answered = true;
        }
        current.bytesDown += chunk.length;
        current.end = performance.now();
      }
      if (!client.destroyed && !client.write(chunk)) {
        upstream.pause();
        client.once('drain', () => upstream.resume());
      }
    });
    client.on('close', () => {
      if (current?.status === 0) current.end = performance.now();
      // An answer that comes now is one that the client does not see.
      current = undefined;
      gate.close();
    });
    upstream.on('close', () => client.destroy());
  });
  return {
    endpoint: await listenLocally(server),
    take: () => {
      const taken = log.map((request) => ({ ...request }));
      log = [];
      return taken;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

const firstLine = /^([A-Z]+) (\S+) HTTP\/1\.[01]\r\n/;

/** The way up to the server, shut for as long as a request is late. */
class Gate {
  readonly #socket: Socket;
  readonly #held: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  holdUntil(moment: number): void {
    const wait = moment - performance.now();
    if (wait <= 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const chunk of this.#held.splice(0)) this.#socket.write(chunk);
      if (this.#closing) this.#socket.end();
    }, wait);
  }

  /** False when the caller should wait for `drain`. */
  pass(chunk: Buffer): boolean {
    if (this.#timer === undefined) return this.#socket.destroyed || this.#socket.write(chunk);
    this.#held.push(chunk);
    return true;
  }

  /** After the last byte from the client; what is held still goes on. */
  close(): void {
    if (this.#timer === undefined) this.#socket.destroy();
    else this.#closing = true;
  }
}
