import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/timing/clock.ts';
import { publishedAt } from '../publish/publishing.ts';

/** How much faster than the machine's time a `VendorClock` runs. A store that counts by the second is given a tenth of one. */
export const speed = 10;

/** Time that runs, ten times as fast as the machine's, and can be moved on by days. */
export class VendorClock implements Clock {
  readonly #origin = performance.now();
  #passed = 0;

  now(): number {
    return publishedAt + Math.round(this.monotonic());
  }

  monotonic(): number {
    return (performance.now() - this.#origin) * speed + this.#passed;
  }

  async sleep(ms: number): Promise<void> {
    await sleep(ms / speed);
  }

  pass(ms: number): void {
    this.#passed += ms;
  }
}
