import type { Verb } from '../timing/span.ts';
import { layer } from './layer.ts';
import type { ObjectStore } from './object-store.ts';

/** What surrounds every attempt at a write: it may throw before, and is told when the attempt has ended. */
export interface Guard {
  readonly before: () => Promise<void>;
  readonly after?: () => void;
}

const writes: ReadonlySet<Verb> = new Set(['PUT', 'COPY', 'DELETE', 'CREATE', 'PART', 'COMPLETE', 'ABORT']);

/**
 * Asks the guard before every attempt at a write. It belongs inside of everything that makes a request wait (retries, limits): what was
 * allowed a minute ago may not be any more when it is sent.
 */
export function guarded(store: ObjectStore, guard: Guard): ObjectStore {
  return layer(store, async (call, attempt) => {
    if (!writes.has(call.verb)) return attempt();
    await guard.before();
    try {
      return await attempt();
    } finally {
      guard.after?.();
    }
  });
}
