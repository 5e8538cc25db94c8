import { startLatencyProxy } from '../test/rig/latency-proxy.ts';
import type { LoggedRequest } from './request-log.ts';
import { type Lateness, startTap } from './tap.ts';

/** The way from a publisher to a store far away. */
export interface Line extends AsyncDisposable {
  readonly endpoint: string;
  readonly roundTripMs: number;
  /** The requests since this was called last. */
  take(): LoggedRequest[];
}

export interface Distance {
  /** Milliseconds each way. */
  readonly delayMs: number;
  /** What all connections together can carry in each direction; without limit when left out. */
  readonly bytesPerSecond?: number;
  readonly lateness?: Lateness;
}

/** The tap is at the client's end, so that requests take as long as the client sees them take. */
export async function startLine(to: string, { delayMs, bytesPerSecond, lateness }: Distance): Promise<Line> {
  await using stack = new AsyncDisposableStack();
  const limit = bytesPerSecond === undefined ? {} : { bytesPerSecond };
  const proxy = stack.use(await startLatencyProxy({ to, delayMs, ...limit }));
  const tap = stack.use(await startTap(proxy.endpoint, lateness));
  const kept = stack.move();
  return {
    endpoint: tap.endpoint,
    roundTripMs: 2 * delayMs,
    take: () => tap.take(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
