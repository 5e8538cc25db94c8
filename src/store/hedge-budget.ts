/** What every answer earns for second copies among many, and for those that everything waits for: together one in twenty at most. */
const earned = { many: 0.045, few: 0.005 };
/**
 * What a run has to begin with, or one of a few dozen requests could never send any again. It is why such a run may exceed one in twenty: by
 * these four requests.
 */
const allowance = { many: 1, few: 3 };
const mostSaved = 8;
/** With so few operations in flight each of them is one that everything waits for; among many a late one only takes a place. */
const few = 4;
const mostInFlight = 2;
/** After an answer that asks for less, milliseconds. */
const pause = 10_000;
/**
 * More late ones than a fifth of so many are no tail but an outage, and hedging makes it worse (grafana/loki#4826). A tenth, as is often
 * said, comes about by chance again and again where 5 % are late: for one in 26 windows of 50.
 */
const window = 50;
const outage = window / 5;

/** Whether one more request may be sent a second time. */
export class HedgeBudget {
  readonly #tokens = { ...allowance };
  #inFlight = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly #recent: boolean[] = [];

  /** A request was answered. */
  answered(): void {
    for (const kind of ['many', 'few'] as const) {
      this.#tokens[kind] = Math.min(mostSaved, this.#tokens[kind] + earned[kind]);
    }
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

  /** Takes what a second copy costs, if it may be sent now, beside so many operations. Each that is sent has to be `ended`. */
  take(at: number, operations: number): boolean {
    const late = this.#recent.filter(Boolean).length;
    const kind = operations <= few && this.#tokens.few >= 1 ? 'few' : 'many';
    if (this.#tokens[kind] < 1 || this.#inFlight >= mostInFlight || at < this.#pausedUntil || late > outage)
      return false;
    this.#tokens[kind] -= 1;
    this.#inFlight += 1;
    return true;
  }

  /** A second copy is in flight no more. */
  ended(): void {
    this.#inFlight -= 1;
  }
}
