import type { ObjectStore } from '../store/object-store.ts';
import type { Clock } from '../timing/clock.ts';
import { recordKey } from './layout.ts';
import { parseSuiteRecord, type SuiteRecord } from './suite-record.ts';

/** A claim that this run holds, or held. */
export interface Claim {
  readonly suite: string;
  readonly record: SuiteRecord;
  /** The Release of the claimed generation. */
  readonly releaseText: string;
  /** `monotonic()` just before the claim was sent: from here its time limit runs. */
  readonly at: number;
}

/** Thrown by a claimer that finds that its claim was taken over: it must not write any more. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/**
 * Called before every write between claim and commit. Within the time limit nobody else acts on the claim, so nothing has to be
 * asked; past it the record is read, and a claim that is no longer one's own throws `Overtaken`.
 */
export async function assertMine(claim: Claim, store: ObjectStore, clock: Clock): Promise<void> {
  const elapsed = clock.monotonic() - claim.at;
  if (elapsed < claim.record.claim.limitSeconds * 1000) return;
  if (!(await isMine(claim, store))) throw new Overtaken(`The claim on suite ${claim.suite} was taken over.`);
}

/** Whether the record still is this claim. */
export async function isMine({ suite, record }: Claim, store: ObjectStore): Promise<boolean> {
  const object = await store.get(recordKey(suite));
  if (!object.found) return false;
  const now = parseSuiteRecord(object.body, suite);
  return now.claim.run === record.claim.run && now.generation.number === record.generation.number;
}
