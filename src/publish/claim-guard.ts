import type { ObjectStore } from '../store/object-store.ts';
import { ownAttributes } from './attributes.ts';
import { recordKey } from './layout.ts';
import type { RunContext } from './run-context.ts';
import { parseSuiteRecord, renderSuiteRecord, type SuiteRecord } from './suite-record.ts';
import { swap } from './swap.ts';

/** Thrown by a claimer whose claim was taken over, or whose time is over: it must not write any more. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/**
 * A claim that this run holds. Within its time limit nobody else acts on it. Past it, the claim has to be renewed before every further
 * write, by compare-and-swap: to read that the record is still one's own would be no lease, since it may be taken over right after.
 */
export class Claim {
  readonly suite: string;
  /** The Release of the claimed generation. */
  readonly releaseText: string;
  #record: SuiteRecord;
  #etag: string;
  #at: number;
  #late = false;
  #renewing: Promise<void> | undefined;

  /** `at`: `monotonic()` just before the claim was sent, for from there its time limit runs; `etag`: of the record that is the claim. */
  constructor(held: { suite: string; record: SuiteRecord; releaseText: string; etag: string; at: number }) {
    this.suite = held.suite;
    this.releaseText = held.releaseText;
    this.#record = held.record;
    this.#etag = held.etag;
    this.#at = held.at;
  }

  get record(): SuiteRecord {
    return this.#record;
  }

  /** Of the record as it was last written by this run. */
  get recordEtag(): string {
    return this.#etag;
  }

  /** Whether a write of this run may have taken effect after its time: only then can it have come after somebody else's. */
  get late(): boolean {
    return this.#late;
  }

  /** To be called when a write has ended. */
  writeEnded(run: RunContext): void {
    if (this.#isOver(run)) this.#late = true;
  }

  /** Throws `Overtaken` once the time limit is over: for writes that can wait for the next run. */
  async assertInTime(run: RunContext): Promise<void> {
    if (this.#isOver(run)) throw new Overtaken(`The time of the claim on suite ${this.suite} is over.`);
  }

  /** Renews the claim when its time is over, and throws `Overtaken` when somebody else holds it. */
  async assertMine(run: RunContext, store: ObjectStore): Promise<void> {
    if (!this.#isOver(run)) return;
    this.#renewing ??= this.#renew(run, store).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  /** Whether the record still is this claim. */
  async isMine(store: ObjectStore): Promise<boolean> {
    const object = await store.get(recordKey(this.suite));
    if (!object.found) return false;
    const now = parseSuiteRecord(object.body, this.suite);
    return now.claim.run === this.#record.claim.run && now.generation.number === this.#record.generation.number;
  }

  /** After the commit: adds to the record what later runs are to know, unless somebody else has claimed since. */
  async learn(run: RunContext, store: ObjectStore, facts: Pick<SuiteRecord, 'slowCopies'>): Promise<void> {
    await this.#replace(run, store, { ...this.#record, ...facts });
  }

  #isOver(run: RunContext): boolean {
    return run.clock.monotonic() - this.#at >= this.#record.claim.limitSeconds * 1000;
  }

  async #renew(run: RunContext, store: ObjectStore): Promise<void> {
    const at = run.clock.monotonic();
    const { claim } = this.#record;
    // Other bytes, so that whoever waits for this claim to end sees that it has begun anew.
    const record = { ...this.#record, claim: { ...claim, renewals: (claim.renewals ?? 0) + 1 } };
    if (!(await this.#replace(run, store, record))) {
      throw new Overtaken(`The claim on suite ${this.suite} was taken over.`);
    }
    this.#at = at;
  }

  /** False when the record is not this claim any more. */
  async #replace(run: RunContext, store: ObjectStore, record: SuiteRecord): Promise<boolean> {
    const swapped = await swap(store, run.clock, record.conditions, {
      key: recordKey(this.suite),
      body: renderSuiteRecord(record),
      attributes: ownAttributes,
      expected: { etag: this.#etag },
    });
    if (!swapped.swapped) return false;
    this.#record = record;
    this.#etag = swapped.etag;
    return true;
  }
}
