/** What every answer earns: in the long run one request in twenty is sent a second time at most. */
const earned = 0.05;
/**
 * What a run has to begin with, or one of a few dozen requests could never send any again. It is why such a run may exceed one in twenty: by
 * these three requests.
 */
const allowance = 3;
const mostSaved = 8;
const mostInFlight = 2;
/** After an answer that asks for less, milliseconds. */
const pause = 10_000;
/** More late ones than a tenth of so many are no tail but an outage, and hedging makes it worse (grafana/loki#4826). */
const window = 50;

/** Whether one more request may be sent a second time. */
export class HedgeBudget {
  #tokens = allowance;
  #inFlight = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly #recent: boolean[] = [];

  /** A request was answered. */
  answered(): void {
    this.#tokens = Math.min(mostSaved, this.#tokens + earned);
  }

  /** A request that might be hedged has turned out to be late, or has ended without. */
  seen(late: boolean): void {
    this.#recent.push(late);
    if (this.#recent.length > window) this.#recent.shift();
  }

  /** The store asks for less. */
  throttled(at: number): void {
    this.#pausedUntil = at + pause;
  }

  /** Takes what a second copy costs, if it may be sent now. Each that is sent has to be `ended`. */
  take(at: number): boolean {
    const late = this.#recent.filter(Boolean).length;
    if (this.#tokens < 1 || this.#inFlight >= mostInFlight || at < this.#pausedUntil || late > window / 10)
      return false;
    this.#tokens -= 1;
    this.#inFlight += 1;
    return true;
  }

  /** A second copy is in flight no more. */
  ended(): void {
    this.#inFlight -= 1;
  }
}
