import { connect, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { listenLocally } from './listener.ts';

export interface LatencyProxyOptions {
  /** Where to: `http://127.0.0.1:port`. */
  readonly to: string;
  /** Milliseconds each way: a round trip takes twice as long. */
  readonly delayMs: number;
  /** Whether a new connection costs a round trip more, as the TCP handshake does over a real distance. */
  readonly handshake?: boolean;
  /** What all connections together can carry in each direction; without limit when left out. */
  readonly bytesPerSecond?: number;
}

export interface ProxyCounts {
  connections: number;
  openConnections: number;
  peakConnections: number;
  /** HTTP requests, by their first lines. */
  requests: number;
  bytesUp: number;
  bytesDown: number;
}

export interface LatencyProxy extends AsyncDisposable {
  readonly endpoint: string;
  readonly counts: Readonly<ProxyCounts>;
}

/**
 * A TCP proxy on a free port of 127.0.0.1 (or the one given) that puts a distance between a client and a server on one
 * machine. Kernels without netem cannot do it for it. TLS is not modelled.
 */
export async function startLatencyProxy(options: LatencyProxyOptions, port = 0): Promise<LatencyProxy> {
  const target = new URL(options.to);
  const counts: ProxyCounts = {
    connections: 0,
    openConnections: 0,
    peakConnections: 0,
    requests: 0,
    bytesUp: 0,
    bytesDown: 0,
  };
  const uplink = new Link(options.bytesPerSecond);
  const downlink = new Link(options.bytesPerSecond);
  const open = new Set<Socket>();

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    counts.connections += 1;
    counts.openConnections += 1;
    counts.peakConnections = Math.max(counts.peakConnections, counts.openConnections);
    const upstream = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true, noDelay: true });
    const established = performance.now() + (options.handshake === true ? 2 * options.delayMs : 0);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => open.delete(socket));
    }
    client.on('data', (chunk: Buffer) => {
      counts.bytesUp += chunk.length;
      if (/^[A-Z]+ \S+ HTTP\/1\.[01]\r\n/.test(chunk.toString('latin1', 0, 4096))) counts.requests += 1;
    });
    upstream.on('data', (chunk: Buffer) => {
      counts.bytesDown += chunk.length;
    });
    delayed(client, upstream, uplink, options.delayMs, established);
    delayed(upstream, client, downlink, options.delayMs, established);
    client.on('close', () => {
      counts.openConnections -= 1;
      upstream.destroy();
    });
    // A reset, too, takes its time to arrive.
    upstream.on('close', () => setTimeout(() => client.destroy(), options.delayMs + 5).unref());
  });
  return {
    endpoint: await listenLocally(server, port),
    counts,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** One direction of the line that all connections share: bytes leave one after the other. */
class Link {
  readonly #bytesPerMs: number | undefined;
  #freeAt = 0;

  constructor(bytesPerSecond: number | undefined) {
    this.#bytesPerMs = bytesPerSecond === undefined ? undefined : bytesPerSecond / 1000;
  }

  /** When bytes that are handed over at `at` have left, in milliseconds of `performance.now()`. */
  sent(bytes: number, at: number): number {
    if (this.#bytesPerMs === undefined) return at;
    this.#freeAt = Math.max(this.#freeAt, at) + bytes / this.#bytesPerMs;
    return this.#freeAt;
  }
}

const highWater = 8 << 20;
const lowWater = 4 << 20;

/** Passes everything from one socket to the other, in order, `delayMs` after it came in and not before `established`. */
function delayed(from: Socket, to: Socket, link: Link, delayMs: number, established: number): void {
  const queue: { readonly due: number; readonly chunk?: Buffer }[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const pump = (): void => {
    timer = undefined;
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      const wait = head.due - performance.now();
      if (wait > 0.3) {
        timer = setTimeout(pump, wait);
        break;
      }
      queue.shift();
      if (head.chunk === undefined) to.end();
      else if (!to.destroyed) to.write(head.chunk);
      bytes -= head.chunk?.length ?? 0;
    }
    if (bytes < lowWater && from.isPaused()) from.resume();
  };
  const enqueue = (chunk?: Buffer): void => {
    const left = link.sent(chunk?.length ?? 0, Math.max(performance.now(), established));
    queue.push({ due: left + delayMs, ...(chunk === undefined ? {} : { chunk }) });
    bytes += chunk?.length ?? 0;
    if (bytes > highWater) from.pause();
    if (timer === undefined) pump();
  };
  from.on('data', enqueue);
  from.once('end', () => enqueue());
  from.once('close', () => {
    // Nothing more will come; what is queued for a destroyed socket is dropped by `pump`.
    if (to.destroyed) clearTimeout(timer);
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      to: { type: 'string' },
      listen: { type: 'string', default: '0' },
      delay: { type: 'string', default: '50' },
      handshake: { type: 'boolean', default: false },
      rate: { type: 'string' },
    },
  });
  if (values.to === undefined) {
    throw new Error(
      'usage: latency-proxy.ts --to URL [--listen PORT] [--delay MS] [--handshake] [--rate BYTES-PER-SECOND]',
    );
  }
  const proxy = await startLatencyProxy(
    {
      to: values.to,
      delayMs: Number(values.delay),
      handshake: values.handshake,
      ...(values.rate === undefined ? {} : { bytesPerSecond: Number(values.rate) }),
    },
    Number(values.listen),
  );
  console.log(proxy.endpoint);
  const stop = async (): Promise<void> => {
    console.log(JSON.stringify(proxy.counts));
    await proxy[Symbol.asyncDispose]();
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}
