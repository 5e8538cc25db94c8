import { fieldValue } from '../debian/deb822.ts';
import { parseRelease, type Release } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { type publicKeys, verifyInRelease } from '../signing/verify.ts';
import type { Found, NotFound, ObjectStore } from '../store/object-store.ts';
import { digest } from './digest.ts';
import { headKey, recordKey } from './layout.ts';
import { parseSuiteRecord, type SuiteRecord } from './suite-record.ts';

/** Keys whose signatures are believed; absent for an unsigned repository. */
export type Trusted = ReturnType<typeof publicKeys> | undefined;

/** A state of a suite that a new one is made from. */
export interface Baseline {
  readonly record: SuiteRecord;
  /** Seconds since the record was written, by the store's clock, when it was read. */
  readonly recordAge: number | undefined;
  /** The Release of the record's newest generation, as the signature covers it. */
  readonly releaseText: string;
  readonly release: Release;
}

/** A suite as its record describes it: the newest generation, verified. */
export interface Published extends Baseline {
  readonly recordEtag: string;
}

/** A suite that something else has made, or whose head something else has written: its head, with nothing verified. */
export interface Foreign {
  /** The text of InRelease, or of Release where there is none. */
  readonly head: string;
  /** Of the object that this run's head will replace; absent where it has another name. */
  readonly headEtag: string | undefined;
  /** Of the record that no longer fits the head. */
  readonly recordEtag: string | undefined;
  readonly signed: boolean;
}

/** A generation that was claimed and cannot be committed, because pool files of it were removed and nobody here has them. */
export interface Abandoned {
  readonly release: Release;
  /** Pool files that only it names. */
  readonly added: readonly string[];
}

/** What record and head say together. */
export type Sight =
  /** There is no head, and no record, or one that cannot be used and was said to be replaced. */
  | { readonly state: 'new'; readonly recordEtag: string | undefined }
  /** Something else wrote the head, and that was said to be taken over. */
  | { readonly state: 'foreign'; readonly foreign: Foreign }
  /** The head stands for the record's newest generation. */
  | { readonly state: 'settled'; readonly published: Published; readonly headEtag: string }
  /** A generation was claimed and is not committed yet: the head is the one before it, or missing when it is the first. */
  | { readonly state: 'apart'; readonly published: Published; readonly headEtag: string | undefined };

/**
 * Reads record and head together and tells how they stand to each other. "Apart" is believed only of a head that was read after
 * the record. Throws when either is not signed by a trusted key, or when the head was written by something else (invariant 5).
 */
export async function look(store: ObjectStore, suite: string, trusted: Trusted, adopt: boolean): Promise<Sight> {
  const signed = trusted !== undefined;
  const getRecord = () => store.get(recordKey(suite));
  const getHead = () => store.get(headKey(suite, signed));
  let [recordObject, head] = await Promise.all([getRecord(), getHead()]);
  for (;;) {
    if (!recordObject.found) {
      const other = await foreignHead(store, suite, signed, head);
      if (other === undefined) return { state: 'new', recordEtag: undefined };
      recordObject = await getRecord();
      if (!recordObject.found) {
        if (!adopt) throw foreign(suite);
        return { state: 'foreign', foreign: { ...other, recordEtag: undefined } };
      }
    }
    const published = await readRecord(recordObject, suite, trusted).catch((error: unknown) => {
      if (adopt && error instanceof Problem) return undefined;
      throw error;
    });
    if (published === undefined) {
      const other = await foreignHead(store, suite, signed, await getHead());
      if (other === undefined) return { state: 'new', recordEtag: recordObject.etag };
      return { state: 'foreign', foreign: { ...other, recordEtag: recordObject.etag } };
    }
    if (head.found && matches(head, published.record)) return { state: 'settled', published, headEtag: head.etag };
    head = await getHead();
    if (head.found && matches(head, published.record)) return { state: 'settled', published, headEtag: head.etag };
    if (precedes(head, published.record)) {
      return { state: 'apart', published, headEtag: head.found ? head.etag : undefined };
    }
    const again = await getRecord();
    if (again.found && again.etag === recordObject.etag) {
      const other = adopt ? await foreignHead(store, suite, signed, head) : undefined;
      if (other === undefined) throw overwritten(suite, published.record);
      return { state: 'foreign', foreign: { ...other, recordEtag: again.etag } };
    }
    recordObject = again;
  }
}

/**
 * The head of a suite without a record. Where readers find no InRelease they fall back to Release, so a suite is new only when
 * neither exists.
 */
async function foreignHead(
  store: ObjectStore,
  suite: string,
  signed: boolean,
  head: Found | NotFound,
): Promise<Omit<Foreign, 'recordEtag'> | undefined> {
  if (head.found) return { head: textOf(head), headEtag: head.etag, signed };
  const other = await store.get(headKey(suite, !signed));
  return other.found ? { head: textOf(other), headEtag: undefined, signed: !signed } : undefined;
}

function textOf(object: Found): string {
  return Buffer.from(object.body).toString();
}

/** Whether a head is that of the record's newest generation. */
export function matches(head: Found, record: SuiteRecord): boolean {
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
  requireSuite(release, suite);
  return { record, recordEtag: object.etag, recordAge: object.age, releaseText, release };
}

/** One key signs many suites, so a good signature does not tell that a Release is this suite's. */
function requireSuite(release: Release, suite: string): void {
  const names = ['Suite', 'Codename'].map((field) => fieldValue(release.fields, field));
  if (names.includes(suite)) return;
  throw new Problem({
    code: 'release-other-suite',
    title: 'The Release is that of another suite',
    what: `The Release in the record of suite ${suite} calls itself ${names.map((name) => name ?? 'nothing').join(' and ')}.`,
    advice: 'Find out who writes into this repository; nothing has been signed or changed.',
  });
}

function foreign(suite: string): Problem {
  return new Problem({
    code: 'suite-foreign',
    title: 'The suite was made by something else',
    what: `Suite ${suite} is already published here (dists/${suite}/), but has no record of this action: another tool made it, or the record was lost.`,
    advice:
      'Stop whatever else publishes into it and set `adopt: true` once to take it over, or publish into another suite.',
  });
}

function overwritten(suite: string, record: SuiteRecord): Problem {
  return new Problem({
    code: 'head-overwritten',
    title: 'Something else wrote the head of the suite',
    what: `The head of suite ${suite} (dists/${suite}/InRelease) is neither generation ${record.generation.number}, which its record names, nor the one before it.`,
    advice:
      'Find out what else writes into this repository and stop it; then restore the head, or set `adopt: true` once to go on from it.',
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

export function unsignedBefore(suite: string): Problem {
  return new Problem({
    code: 'suite-unsigned',
    title: 'The suite is not signed',
    what: `Suite ${suite} is published without a signature, so nothing tells whether its packages are the ones you published.`,
    advice: 'Set `adopt: true` once to sign it as it is, publish into a new suite, or go on with `unsigned: true`.',
  });
}
