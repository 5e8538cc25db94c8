/** Time, as an argument: nothing below the edge asks the machine for it. */
export interface Clock {
  /** Milliseconds since the epoch, from the machine's clock: for dates that are published. May jump. */
  now(): number;
  /** Milliseconds since an arbitrary moment, never going back: for durations and limits. */
  monotonic(): number;
  /** Resolves after at least `ms` milliseconds of `monotonic()`. */
  sleep(ms: number): Promise<void>;
}
