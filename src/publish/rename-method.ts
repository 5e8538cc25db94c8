import type { ObjectStore } from '../store/object-store.ts';
import type { RequestSpan, Span } from '../timing/span.ts';
import { canonicalAttributes } from './attributes.ts';
import type { BuiltIndex } from './build-indexes.ts';
import { createName } from './canonical-name.ts';
import type { Claim } from './claim-guard.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';

/**
 * How a canonical name comes to stand for what is staged under its hash: by a copy within the store, or by a write of the same bytes. A copy costs no
 * upload, and there are stores that take a second for it where a small write takes 50 ms. The names of a new suite are written on the condition
 * that they are not there, which a copy cannot say.
 */

/** What this run has staged itself, by SHA-256. */
export type StagedBytes = ReadonlyMap<string, Uint8Array>;

export function stagedBytes(built: readonly BuiltIndex[]): StagedBytes {
  return new Map(built.flatMap(({ stored }) => stored.map(({ sha256, bytes }) => [sha256, bytes] as const)));
}

/** Bytes up to which an upload is as good as no upload. Larger ones are copied, however long the store takes. */
const small = 1024 ** 2;
/** So many copies, and half of all, must have taken so many times what a small write does, and so many milliseconds longer, to be called slow. */
const fewest = 2;
const times = 4;
const longer = 200;
/** Newest spans that are looked at: a wave and what was just before it. */
const newest = 1000;

export interface RenameHints {
  readonly staged?: StagedBytes | undefined;
  /** Copies are known to be slow. */
  readonly slowCopies?: boolean;
  /** The suite has had no such names, and the store holds the condition that they are absent. */
  readonly first?: boolean;
}

/**
 * Makes the canonical name of an index stand for it; false when its by-hash object does not exist. Where the run is told no method, small
 * indexes whose bytes are at hand are written when they are the first of their suite, or once copies are known to be slow, by a hint or by
 * what this run has seen.
 */
export async function writeCanonical(
  run: RunContext,
  store: ObjectStore,
  suite: string,
  { path, sha256 }: StoredIndex,
  { staged, slowCopies = false, first = false }: RenameHints = {},
): Promise<boolean> {
  const from = byHashKey(suite, path, sha256);
  const to = canonicalKey(suite, path);
  const attributes = canonicalAttributes(path, sha256);
  const bytes = staged?.get(sha256);
  const isSmall = bytes !== undefined && bytes.length <= small;
  if (isSmall && first && run.renameMethod !== 'copy' && (await createName(store, to, bytes, attributes))) return true;
  const method = run.renameMethod ?? (isSmall && (slowCopies || copiesAreSlow(run.recorder.spans)) ? 'put' : 'copy');
  if (method === 'copy') return 'written' in (await store.copy(from, to, attributes));
  const body = bytes ?? (await bytesOf(store, from));
  if (body === undefined) return false;
  await store.put(to, body, attributes);
  return true;
}

/** Whether copies within the store take much longer than small writes do. */
export function copiesAreSlow(spans: readonly Span[]): boolean {
  const answered = spans.slice(-newest).filter((span) => span.kind === 'request' && span.outcome === 'ok');
  const timesOf = (chosen: (span: RequestSpan) => boolean) =>
    answered.flatMap((span) => (span.kind === 'request' && chosen(span) ? span.end - span.start : []));
  const copies = timesOf(({ verb }) => verb === 'COPY');
  const writes = timesOf(({ verb, bytesUp }) => verb === 'PUT' && bytesUp <= small).sort((a, b) => a - b);
  const typical = writes[Math.floor(writes.length / 2)];
  if (typical === undefined) return false;
  const slow = copies.filter((ms) => ms > Math.max(times * typical, typical + longer)).length;
  return slow >= fewest && slow >= copies.length / 2;
}

/**
 * After the commit: has the next runs begin with what this one has learnt. A request more, once for a store; where somebody else has claimed
 * since, they learn it themselves. A run of fixed date keeps nothing, since its records are to be the same wherever it runs.
 */
export async function keepMethod(run: RunContext, claim: Claim): Promise<void> {
  const isNews = run.renameMethod === undefined && claim.record.slowCopies !== true && run.keepTimings === true;
  if (!isNews || !copiesAreSlow(run.recorder.spans)) return;
  await phase(run, 'clean', claim.suite, ({ store }: Phase) => claim.learn(run, store, { slowCopies: true }));
}

async function bytesOf(store: ObjectStore, key: string): Promise<Uint8Array | undefined> {
  const object = await store.get(key);
  return object.found ? object.body : undefined;
}
