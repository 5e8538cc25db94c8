import pLimit from 'p-limit';
import { layer } from './layer.ts';
import type { ObjectStore } from './object-store.ts';

/** Slots for requests, handed out in the order of asking. Several stores may share one. */
export interface Limiter {
  /** How many requests may be in flight together; may be changed while some are. */
  concurrency: number;
  readonly activeCount: number;
  readonly pendingCount: number;
  <T>(request: () => Promise<T>): Promise<T>;
}

export function limiter(concurrency: number): Limiter {
  return pLimit(concurrency);
}

/** At most as many requests in flight as the limiter has slots, over everything that shares the limiter. */
export function limited(store: ObjectStore, slots: Limiter): ObjectStore {
  return layer(store, (_call, attempt) => slots(attempt));
}
