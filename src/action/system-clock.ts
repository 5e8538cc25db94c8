import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../timing/clock.ts';

/** The machine's own time. Everything else gets it as an argument. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms) => {
    await delay(ms);
  },
};
