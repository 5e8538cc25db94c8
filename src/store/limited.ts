import pLimit from 'p-limit';
import { type Call, layer } from './layer.ts';
import type { ObjectStore } from './object-store.ts';

/** What lets requests in one after the other, in the order of asking. Several stores may share one. */
export interface Slots {
  /** How many requests may be in flight together, as of now. */
  readonly concurrency: number;
  <T>(request: () => Promise<T>, call: Call): Promise<T>;
}

/** Slots that are all alike. */
export interface Limiter {
  /** May be changed while requests are in flight. */
  concurrency: number;
  readonly activeCount: number;
  readonly pendingCount: number;
  <T>(request: () => Promise<T>): Promise<T>;
}

export function limiter(concurrency: number): Limiter {
  return pLimit(concurrency);
}

/** At most as many requests in flight as there are slots, over everything that shares them. */
export function limited(store: ObjectStore, slots: Slots): ObjectStore {
  return layer(store, (call, attempt) => slots(() => attempt(), call));
}
