import type { Clock } from '../timing/clock.ts';
import { type Bounds, ConcurrencyController } from './adaptive.ts';
import type { Call } from './layer.ts';
import { limiter, type Slots } from './limited.ts';
import { TransientStoreError } from './object-store.ts';

/** Bytes of a body from which on a request is about the link rather than about the way to the store and back. */
const large = 1024 ** 2;
/** Enough for any wave of a publish without a minute of learning; with four parts of 8 MiB a link of 1 Gbit/s and 250 ms is full. */
const forSmall: Bounds = { start: 16, floor: 2, ceiling: 128 };
const forLarge: Bounds = { start: 4, floor: 2, ceiling: 128 };

/**
 * Slots whose number follows what the store bears, for one endpoint and all phases of a run together. Small and large requests have slots and
 * a controller each, since for the ones requests in a second count and for the others bytes; an answer that asks for less concerns both.
 */
export function adaptiveSlots(clock: Clock): Slots {
  const lanes = {
    small: { slots: limiter(forSmall.start), controller: new ConcurrencyController(forSmall) },
    large: { slots: limiter(forLarge.start), controller: new ConcurrencyController(forLarge) },
  };
  const follow = () => {
    for (const { slots, controller } of Object.values(lanes)) slots.concurrency = controller.concurrency;
  };
  const take = <T>(request: () => Promise<T>, { bytesUp }: Call): Promise<T> => {
    const isLarge = bytesUp >= large;
    const { slots, controller } = isLarge ? lanes.large : lanes.small;
    return slots(async () => {
      const start = clock.monotonic();
      controller.started(start);
      try {
        const answer = await request();
        const at = clock.monotonic();
        controller.ended(at, { ms: at - start, amount: isLarge ? bytesUp : 1 });
        return answer;
      } catch (error) {
        const at = clock.monotonic();
        controller.ended(at);
        if (error instanceof TransientStoreError) {
          const { kind, retryAfter } = error;
          if (kind === 'throttled') for (const lane of Object.values(lanes)) lane.controller.throttled(at, retryAfter);
          if (kind === 'timeout' || kind === 'connection') controller.lost();
        }
        throw error;
      } finally {
        follow();
      }
    });
  };
  return Object.defineProperty(take, 'concurrency', { get: () => lanes.small.controller.concurrency }) as Slots;
}
