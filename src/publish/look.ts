import { parseRelease, type Release } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { type publicKeys, verifyInRelease } from '../signing/verify.ts';
import type { Found, NotFound, ObjectStore } from '../store/object-store.ts';
import { digest } from './digest.ts';
import { headKey, recordKey } from './layout.ts';
import { parseSuiteRecord, type SuiteRecord } from './suite-record.ts';

/** Keys whose signatures are believed; absent for an unsigned repository. */
export type Trusted = ReturnType<typeof publicKeys> | undefined;

/** A suite as its record describes it: the newest generation, verified. */
export interface Published {
  readonly record: SuiteRecord;
  readonly recordEtag: string;
  /** Seconds since the record was written, by the store's clock, when it was read. */
  readonly recordAge: number | undefined;
  /** The Release of the record's newest generation, as the signature covers it. */
  readonly releaseText: string;
  readonly release: Release;
}

/** What record and head say together. */
export type Sight =
  /** Neither exists. */
  | { readonly state: 'new' }
  /** The head stands for the record's newest generation. */
  | { readonly state: 'settled'; readonly published: Published; readonly headEtag: string }
  /** A generation was claimed and is not committed yet: the head is the one before it, or missing when it is the first. */
  | { readonly state: 'apart'; readonly published: Published; readonly headEtag: string | undefined };

/**
 * Reads record and head together and tells how they stand to each other. "Apart" is believed only of a head that was read after
 * the record. Throws when either is not signed by a trusted key, or when the head was written by something else (invariant 5).
 */
export async function look(store: ObjectStore, suite: string, trusted: Trusted): Promise<Sight> {
  const signed = trusted !== undefined;
  const getRecord = () => store.get(recordKey(suite));
  const getHead = () => store.get(headKey(suite, signed));
  let [recordObject, head] = await Promise.all([getRecord(), getHead()]);
  for (;;) {
    if (!recordObject.found) {
      if (!head.found) return { state: 'new' };
      recordObject = await getRecord();
      if (!recordObject.found) throw foreign(suite);
    }
    const published = await readRecord(recordObject, suite, trusted);
    if (head.found && matches(head, published.record)) return { state: 'settled', published, headEtag: head.etag };
    head = await getHead();
    if (head.found && matches(head, published.record)) return { state: 'settled', published, headEtag: head.etag };
    if (precedes(head, published.record)) {
      return { state: 'apart', published, headEtag: head.found ? head.etag : undefined };
    }
    const again = await getRecord();
    if (again.found && again.etag === recordObject.etag) throw overwritten(suite, published.record);
    recordObject = again;
  }
}

function matches(head: Found, record: SuiteRecord): boolean {
  return Buffer.from(record.generation.head).equals(head.body);
}

function precedes(head: Found | NotFound, record: SuiteRecord): boolean {
  const [previous] = record.kept;
  return head.found ? previous?.headSha256 === digest(head.body) : previous === undefined;
}

/** Parses a record and verifies the signature of the Release in it. */
export async function readRecord(object: Found, suite: string, trusted: Trusted): Promise<Published> {
  const record = parseSuiteRecord(object.body, suite);
  const { head, releaseGpg } = record.generation;
  const origin = `The newest generation in the record of suite ${suite}`;
  if (trusted === undefined && releaseGpg !== undefined) throw signedBefore(suite);
  if (trusted !== undefined && releaseGpg === undefined) throw unsignedBefore(suite);
  const releaseText =
    trusted === undefined ? head : (await verifyInRelease(Buffer.from(head), trusted, origin)).release;
  const release = parseRelease(releaseText, origin);
  return { record, recordEtag: object.etag, recordAge: object.age, releaseText, release };
}

function foreign(suite: string): Problem {
  return new Problem({
    code: 'suite-foreign',
    title: 'The suite was made by something else',
    what: `Suite ${suite} is already published here, but has no record of this action.`,
    advice:
      'Publish into another suite, bucket or prefix: taking over a suite made by another tool is not supported yet.',
  });
}

function overwritten(suite: string, record: SuiteRecord): Problem {
  return new Problem({
    code: 'head-overwritten',
    title: 'Something else wrote the head of the suite',
    what: `The head of suite ${suite} is neither generation ${record.generation.number}, which its record names, nor the one before it.`,
    advice:
      'Find out what else writes into this repository and stop it; then restore the head from a backup, or publish into another suite.',
  });
}

function signedBefore(suite: string): Problem {
  return new Problem({
    code: 'suite-signed',
    title: 'The suite is signed',
    what: `Suite ${suite} is published with a signature, and this run is to publish it without one.`,
    advice: 'Give `gpg-private-key`, and leave out `unsigned`.',
  });
}

function unsignedBefore(suite: string): Problem {
  return new Problem({
    code: 'suite-unsigned',
    title: 'The suite is not signed',
    what: `Suite ${suite} is published without a signature, so nothing tells whether its packages are the ones you published.`,
    advice: 'Publish the packages into a new suite with your key, or go on with `unsigned: true`.',
  });
}
