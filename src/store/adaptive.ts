/** Between which bounds, and from where, the number of requests in flight is looked for. */
export interface Bounds {
  readonly start: number;
  readonly floor: number;
  readonly ceiling: number;
}

/** What a request has achieved. */
interface Done {
  /** How long it took. */
  readonly ms: number;
  /** What counts as progress: requests, or bytes. */
  readonly amount: number;
}

/** Of a window: at least, and in round trips. */
const shortestWindow = 1000;
const roundTrips = 2;
/** Growth until goodput grows by less than this, for so many windows in a row. */
const steep = 1.5;
const worthGrowing = 1.05;
const flatWindows = 2;
/** From then on: a small step every few windows, kept if goodput is so much better. */
const step = 1.1;
const windowsBetweenSteps = 5;
const worthKeeping = 1.03;
/** Requests that take so much longer than at best, for no more goodput, only wait for one another. */
const queueing = 2;
const afterThrottle = 0.7;
const afterLoss = 0.9;
/** Milliseconds without growth after a throttle. */
const patience = 2000;

/**
 * How many requests to have in flight: as many as raise the goodput. A pure state machine; it is told what happens and when, in
 * milliseconds of a monotonic clock.
 *
 * The signal is goodput and not latency, since the latency of object stores grows with size and distance, and large uploads would be starved.
 * Goodput is compared over windows of at least a second. First the number grows by half with each window as long as that pays; after two windows
 * in which it did not, it goes back a step. Then it tries a tenth more now and then, and a tenth less where requests only queue. Answers that
 * ask for less take three tenths, lost ones one tenth, once in a window. A window in which fewer than half of the places were in use says nothing.
 */
export class ConcurrencyController {
  readonly #bounds: Bounds;
  #limit: number;
  #growing = true;
  #flat = 0;
  /** Goodput of the last window that says something, and what there was before the step that is being tried. */
  #goodput: number | undefined;
  #tried: { readonly from: number; readonly goodput: number } | undefined;
  #sinceStep = 0;
  #bestMs = Number.POSITIVE_INFINITY;
  #noGrowthBefore = Number.NEGATIVE_INFINITY;

  #inFlight = 0;
  #since: number | undefined;
  #now = 0;
  /** Of the present window: requests in flight times milliseconds, what was achieved, how long requests took, whether it was cut back. */
  #busy = 0;
  #amount = 0;
  #times: number[] = [];
  #reduced = false;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#limit = bounds.start;
  }

  get concurrency(): number {
    return this.#limit;
  }

  started(at: number): void {
    this.#pass(at);
    this.#inFlight += 1;
  }

  /** A request is in flight no more. `done` is absent when it failed. */
  ended(at: number, done?: Done): void {
    this.#pass(at);
    this.#inFlight -= 1;
    if (done !== undefined) {
      this.#amount += done.amount;
      this.#times.push(done.ms);
    }
    this.#judge(at);
  }

  /** The store asks for less; `retryAfter` is for how long, where it says so. */
  throttled(at: number, retryAfter = 0): void {
    this.#noGrowthBefore = Math.max(this.#noGrowthBefore, at + Math.max(patience, retryAfter));
    this.#reduce(afterThrottle);
  }

  /** No answer came. */
  lost(): void {
    this.#reduce(afterLoss);
  }

  #reduce(factor: number): void {
    if (this.#reduced) return;
    this.#reduced = true;
    this.#steady(this.#limit * factor);
  }

  /** Accounts for the time since the last event. */
  #pass(at: number): void {
    this.#since ??= at;
    this.#busy += this.#inFlight * Math.max(0, at - Math.max(this.#now, this.#since));
    this.#now = at;
  }

  /** Judges the present window if it has lasted long enough, and begins a new one. */
  #judge(at: number): void {
    const typical = this.#times.toSorted((a, b) => a - b)[Math.floor(this.#times.length / 2)];
    const length = at - (this.#since ?? at);
    if (length < Math.max(shortestWindow, roundTrips * (typical ?? 0))) return;
    const wasUsed = this.#busy / length >= this.#limit / 2;
    if (wasUsed && !this.#reduced && typical !== undefined && this.#amount > 0)
      this.#adapt(this.#amount / length, typical, at);
    this.#since = at;
    this.#busy = 0;
    this.#amount = 0;
    this.#times = [];
    this.#reduced = false;
  }

  #adapt(goodput: number, ms: number, at: number): void {
    const before = this.#goodput;
    this.#goodput = goodput;
    this.#bestMs = Math.min(this.#bestMs, ms);
    const mayGrow = at >= this.#noGrowthBefore;
    if (this.#growing) {
      const pays = before === undefined || goodput >= before * worthGrowing;
      this.#flat = pays ? 0 : this.#flat + 1;
      if (this.#limit === this.#bounds.ceiling) this.#steady(this.#limit);
      else if (this.#flat >= flatWindows) this.#steady(this.#limit / steep);
      else if (pays && mayGrow) this.#set(this.#limit * steep);
      return;
    }
    if (this.#tried !== undefined) {
      if (goodput < this.#tried.goodput * worthKeeping) this.#set(this.#tried.from);
      this.#tried = undefined;
      return;
    }
    this.#sinceStep += 1;
    if (this.#sinceStep < windowsBetweenSteps) return;
    this.#sinceStep = 0;
    if (ms > queueing * this.#bestMs) {
      this.#set(this.#limit / step);
    } else if (mayGrow) {
      this.#tried = { from: this.#limit, goodput };
      this.#set(Math.max(this.#limit + 1, this.#limit * step));
    }
  }

  /** Ends the search for the order of magnitude. */
  #steady(limit: number): void {
    this.#growing = false;
    this.#tried = undefined;
    this.#sinceStep = 0;
    this.#set(limit);
  }

  #set(limit: number): void {
    const { floor, ceiling } = this.#bounds;
    this.#limit = Math.min(ceiling, Math.max(floor, Math.round(limit)));
  }
}
