import type { Call } from './layer.ts';
import { objectClass } from './traced.ts';

/** Bytes that travel in no time that matters: how long such a request takes says something about the store and not about the link. */
const small = 64 * 1024;
/** Larger ones are never sent a second time: they would take from the link what they are late for. */
const largest = 1024 ** 2;
const remembered = 200;
/** Below so many samples a 95th percentile is little else than the maximum (perf-reporting: AWS and "The Tail at Scale" both count in hundreds). */
const enough = 50;
/** Milliseconds: the shortest delay, the shortest while there are few samples, and that before there are any. */
const shortest = 150;
const shortestEarly = 400;
const first = 2000;

/** Times of requests of one kind, and what is ordinary among them. Sorted when that is asked for and not before. */
class Samples {
  readonly #times: number[] = [];
  #sorted: readonly number[] | undefined;

  add(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length > remembered) this.#times.shift();
    this.#sorted = undefined;
  }

  get count(): number {
    return this.#times.length;
  }

  quantile(part: number): number {
    this.#sorted ??= this.#times.toSorted((a, b) => a - b);
    return this.#sorted[Math.min(this.count - 1, Math.floor(part * this.count))] ?? 0;
  }

  /** Four times the median: in the wild the slow mode of a bimodal store is five times its quick one and more. */
  get farOut(): number {
    return Math.max(shortestEarly, 4 * this.quantile(0.5));
  }
}

/**
 * From when on a request counts as late, learnt from the answers of this run.
 *
 * With 50 answers to small requests of the same verb: later than their 95th percentile and than 150 ms, but four times their median (400 ms at
 * least) is late in any case, since a tail that has 5 % of the requests would be its own percentile and never be cut. With fewer, small
 * requests are measured by one another whatever their verb, as each of them is a round trip and little else, by that second rule alone; and
 * before one of them is answered 2 s are late, which is when AWS's guidance has small requests sent again ("Performance guidelines for Amazon
 * S3"). A copy is not among them: stores take their time for it.
 *
 * Larger ones are late by the second rule alone, with 50 answers: on a full link some take longer than others, one in twenty is above the 95th
 * percentile by definition, and their second copies would slow down everybody on that link.
 */
export class Lateness {
  readonly #kinds = new Map<string, Samples>();
  readonly #small = new Samples();

  answered(call: Call, ms: number): void {
    const size = sizeOf(call);
    const kind = `${call.verb} ${size}`;
    const samples = this.#kinds.get(kind) ?? new Samples();
    samples.add(ms);
    this.#kinds.set(kind, samples);
    if (size === 'small') this.#small.add(ms);
  }

  /** Milliseconds from the sending of a request to where it is late; undefined where nothing can be said, or it is too large to be sent again. */
  delay(call: Call): number | undefined {
    const size = sizeOf(call);
    if (size === 'large') return undefined;
    const samples = this.#kinds.get(`${call.verb} ${size}`);
    if (samples !== undefined && samples.count >= enough) {
      const far = samples.farOut;
      return size === 'small' ? Math.max(shortest, Math.min(samples.quantile(0.95), far)) : far;
    }
    if (size !== 'small') return undefined;
    return this.#small.count === 0 ? first : this.#small.farOut;
  }
}

/** `unknown`: the answer may be a list of any length. */
function sizeOf({ verb, key, bytesUp, bytesDown }: Call): 'small' | 'medium' | 'large' | 'unknown' {
  if (verb === 'COPY' || verb === 'LIST') return 'unknown';
  const bytes = verb === 'GET' ? (bytesDown ?? readBytes(key)) : bytesUp;
  if (bytes === undefined) return 'unknown';
  return bytes <= small ? 'small' : bytes <= largest ? 'medium' : 'large';
}

/** What reading a whole object may bring: this tool's own and heads are small, a package is large, and of an index nobody knows. */
function readBytes(key: string): number | undefined {
  const object = objectClass(key);
  if (object === 'index' || object === 'by-hash') return undefined;
  return object === 'pool' ? Number.POSITIVE_INFINITY : 0;
}
