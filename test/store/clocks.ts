import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/timing/clock.ts';

/** The machine's own time. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms) => sleep(ms),
};

/** Time that passes only in sleeps, at once, and remembers them. */
export class TestClock implements Clock {
  readonly sleeps: number[] = [];
  #time: number;

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#time = start;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  async sleep(ms: number): Promise<void> {
    this.sleeps.push(ms);
    this.#time += ms;
  }
}
