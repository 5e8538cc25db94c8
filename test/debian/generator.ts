/** Numbers that look random and are the same on every run: property tests that fail must fail again. */
export class Generator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `limit` − 1 (mulberry32). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  /** One of several values. */
  of<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }

  /** The same values in another order. */
  shuffled<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, place: this.below(2 ** 31) }))
      .sort((a, b) => a.place - b.place)
      .map(({ value }) => value);
  }
}
