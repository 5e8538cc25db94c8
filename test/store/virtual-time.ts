import type { Clock } from '../../src/timing/clock.ts';

/** How long real work (files, threads) may take while nothing waits for time to pass, milliseconds. */
const patience = 20_000;

/** Time that passes at once, from one due moment to the next: unlike with `TestClock`, many things may wait side by side. */
export class VirtualTime implements Clock {
  readonly #waiting: { readonly due: number; readonly wake: () => void }[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => {
      this.#waiting.push({ due: this.#now + ms, wake });
      // Equal moments in the order of asking: sorting is stable.
      this.#waiting.sort((a, b) => a.due - b.due);
    });
  }

  /** Lets time pass until this has ended. */
  async run<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const end = () => {
      ended = true;
    };
    work.then(end, end);
    let idle = performance.now();
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (ended) return work;
      const next = this.#waiting.shift();
      if (next === undefined) {
        if (performance.now() - idle > patience)
          throw new Error('Nothing is left to happen, and the work has not ended.');
        continue;
      }
      idle = performance.now();
      this.#now = next.due;
      next.wake();
    }
  }
}
