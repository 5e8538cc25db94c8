import { listed, type ObjectStore, TransientStoreError } from '../store/object-store.ts';
import type { Clock } from '../timing/clock.ts';
import type { Rung } from './ceiling.ts';
import { median } from './signed-rank.ts';

/** A store under load, and what the load is measured with. */
export interface LoadedStore {
  /** The very client that publishes, on a prefix for scratch. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Milliseconds of processor time that this process has taken. */
  readonly cpuMs: () => number;
}

/** Requests of one kind. */
export interface Load {
  readonly name: string;
  readonly bytes: number;
  /** What a window counts. */
  readonly unit: 'bytes' | 'requests';
}

/** What publishing is made of: indexes and records, and parts of large files. */
export const loads = [
  { name: 'small', bytes: 4096, unit: 'requests' },
  { name: 'large', bytes: 8 * 1024 * 1024, unit: 'bytes' },
] as const satisfies readonly Load[];

const warmUpMs = 300;
const scoredMs = 1500;
const windowMs = 250;
/** A ladder of eight rungs stays below 5000 requests and 2 GB. */
const mostRequests = 600;
const mostBytes = 200 * 1024 * 1024;
const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-store' };

interface Done {
  readonly start: number;
  readonly end: number;
}

/** Keeps so many writes in flight for about two seconds, on names that are never used twice: some stores count writes by name. */
export async function drive(
  { store, clock, cpuMs }: LoadedStore,
  load: Load,
  concurrency: number,
  series: string,
): Promise<Rung> {
  const body = Buffer.alloc(load.bytes, series);
  const most = Math.max(2 * concurrency, Math.min(mostRequests, Math.floor(mostBytes / load.bytes)));
  const began = clock.monotonic();
  const scoredFrom = began + warmUpMs;
  const until = scoredFrom + scoredMs;
  const cpuBefore = cpuMs();
  const done: Done[] = [];
  const lastEnds: number[] = [];
  let [sent, throttled, failed] = [0, 0, 0];
  const worker = async () => {
    let end = began;
    while (sent < most && clock.monotonic() < until) {
      sent += 1;
      const start = clock.monotonic();
      try {
        await store.put(`${series}/${load.name}-${concurrency}-${sent}`, body, attributes);
        end = clock.monotonic();
        done.push({ start, end });
      } catch (error) {
        failed += 1;
        if (error instanceof TransientStoreError && error.kind === 'throttled') throttled += 1;
      }
    }
    lastEnds.push(end);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const took = clock.monotonic() - began;
  return {
    concurrency,
    windows: windowsOf(done, load, scoredFrom, Math.min(until, ...lastEnds)),
    requests: sent,
    throttled,
    failed,
    cpu: (cpuMs() - cpuBefore) / took,
  };
}

/** The median time of warm requests one after another, milliseconds. */
export async function roundTrip({ store, clock }: LoadedStore): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < 30; index += 1) {
    const start = clock.monotonic();
    await store.head(`nothing-${index}`);
    times.push(clock.monotonic() - start);
  }
  return median(times.slice(5));
}

/** Removes what the load has left. */
export async function removeLoad({ store }: LoadedStore): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of listed(store, '')) keys.push(key);
  for (let at = 0; at < keys.length; at += 1000) await store.delete(keys.slice(at, at + 1000));
}

/**
 * What went through in each window in which every worker was busy (until `to`, when the first had nothing more to do), a second. A request counts for the
 * windows it lay in by the parts of its time. A step that is over early is one window, from its beginning.
 */
function windowsOf(done: readonly Done[], { bytes, unit }: Load, from: number, to: number): number[] {
  const start = to - from >= windowMs ? from : from - warmUpMs;
  const size = Math.min(windowMs, to - start);
  if (size <= 0) return [];
  const amount = unit === 'bytes' ? bytes : 1;
  return Array.from({ length: Math.floor((to - start) / size) }, (_, index) => {
    const [left, right] = [start + index * size, start + (index + 1) * size];
    const through = done.reduce((sum, request) => {
      const inside = Math.min(right, request.end) - Math.max(left, request.start);
      return inside <= 0 ? sum : sum + (amount * inside) / (request.end - request.start);
    }, 0);
    return (1000 * through) / size;
  });
}
