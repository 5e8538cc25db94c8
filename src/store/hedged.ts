import type { Clock } from '../timing/clock.ts';
import type { HedgeCounts } from '../timing/record.ts';
import { HedgeBudget } from './hedge-budget.ts';
import { Lateness } from './lateness.ts';
import { type Call, layer } from './layer.ts';
import { type ObjectStore, TransientStoreError } from './object-store.ts';

/** How often late requests are looked for, milliseconds. */
const interval = 20;
/** A second copy may be late itself. */
const mostCopies = 2;

/** One operation that may be sent again, while it is in flight. */
interface Watched {
  readonly call: Call;
  /** When its newest copy was sent. */
  sent: number;
  late: boolean;
  /** Second copies so far. */
  copies: number;
  readonly sendAgain: () => void;
}

/**
 * Sends late requests a second time and takes the answer that comes first; the other copy is given up. For one endpoint, and for all phases of
 * a run together.
 *
 * What is sent again is what does no harm whenever it takes effect, since a copy that is given up may still do so: reads, and writes that say
 * so of themselves (`PutOptions.overlaps`): of names that ever have one content, and compare-and-swap, whose second copy finds the ETag gone. One of
 * two conditional copies is told that its condition does not hold, and that answer may come first: whoever sends one looks what is there.
 * **Never an unconditional write of a canonical name, Release or Release.gpg, and never a copy**: once the answer of one copy let the run go on to
 * its commit, the next publisher need not wait for anything, and a first copy that lands after *his* rename brings old bytes back under the
 * name. That copy's end would have to be awaited before the commit, and then nothing is gained. Nor a large body or a part of one: when it has
 * left cannot be seen from here, and on a full link it is late because of the others.
 *
 * A second copy takes no slot of a limiter: it would have to wait for one in exactly those waves that it is to speed up. It goes over the limit by
 * two requests at most.
 */
export class Hedging {
  readonly #clock: Clock;
  readonly #lateness = new Lateness();
  readonly #budget = new HedgeBudget();
  readonly #watched = new Set<Watched>();
  #watching = false;
  #sent = 0;
  #won = 0;
  #wastedBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined when nothing was sent again. */
  get counts(): HedgeCounts | undefined {
    if (this.#sent === 0) return undefined;
    return { sent: this.#sent, won: this.#won, wastedBytes: this.#wastedBytes };
  }

  /** Makes a call, of one copy or several. */
  async run<T>(call: Call, attempt: (signal?: AbortSignal) => Promise<T>): Promise<T> {
    if (call.overlaps) return this.#first(call, attempt);
    try {
      const answer = await attempt();
      this.#budget.answered();
      return answer;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** The first answer; an error only when no copy is left that might answer. */
  async #first<T>(call: Call, attempt: (signal?: AbortSignal) => Promise<T>): Promise<T> {
    const result = Promise.withResolvers<T>();
    const inFlight = new Map<AbortController, 'first' | 'again'>();
    const end = (copy: AbortController) => {
      if (inFlight.get(copy) === 'again') this.#budget.ended();
      inFlight.delete(copy);
    };
    const giveUp = (copy: AbortController) => {
      end(copy);
      copy.abort();
    };
    const send = async (which: 'first' | 'again') => {
      const copy = new AbortController();
      const sent = this.#clock.monotonic();
      inFlight.set(copy, which);
      operation.sent = sent;
      try {
        const answer = await attempt(copy.signal);
        if (!inFlight.has(copy)) return;
        end(copy);
        this.#lateness.answered(call, this.#clock.monotonic() - sent);
        if (which === 'again') this.#won += 1;
        result.resolve(answer);
        for (const other of inFlight.keys()) giveUp(other);
      } catch (error) {
        if (!inFlight.has(copy)) return;
        end(copy);
        this.#failed(error);
        if (inFlight.size === 0) result.reject(error);
      }
    };
    const sendAgain = () => {
      for (const [copy, which] of inFlight) if (which === 'again') giveUp(copy);
      operation.copies += 1;
      this.#sent += 1;
      this.#wastedBytes += call.bytesUp;
      void send('again');
    };
    const operation: Watched = { call, sent: 0, late: false, copies: 0, sendAgain };
    void send('first');
    this.#watched.add(operation);
    void this.#watch();
    try {
      const answer = await result.promise;
      this.#budget.answered();
      return answer;
    } finally {
      this.#watched.delete(operation);
      if (!operation.late) this.#budget.seen(false);
    }
  }

  /** Runs while something is in flight. */
  async #watch(): Promise<void> {
    if (this.#watching) return;
    this.#watching = true;
    while (this.#watched.size > 0) {
      const from = this.#clock.monotonic();
      await this.#clock.sleep(interval);
      // A machine that has been busy itself has answers lying there that it has not looked at.
      if (this.#clock.monotonic() - from > 3 * interval) await this.#clock.sleep(interval);
      const now = this.#clock.monotonic();
      for (const operation of this.#watched) this.#look(operation, now);
    }
    this.#watching = false;
  }

  /** What may not be sent again now may be a little later. */
  #look(operation: Watched, now: number): void {
    const delay = this.#lateness.delay(operation.call);
    if (delay === undefined || now - operation.sent < delay) return;
    if (!operation.late) this.#budget.seen(true);
    operation.late = true;
    if (operation.copies < mostCopies && this.#budget.take(now, this.#watched.size)) operation.sendAgain();
  }

  #failed(error: unknown): void {
    if (error instanceof TransientStoreError && error.kind === 'throttled')
      this.#budget.throttled(this.#clock.monotonic());
  }
}

/** A store whose late requests are sent a second time where that is harmless. */
export function hedged(store: ObjectStore, hedging: Hedging): ObjectStore {
  return layer(store, (call, attempt) => hedging.run(call, attempt));
}
