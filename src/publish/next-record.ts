import type { Release } from '../debian/release.ts';
import type { BuiltIndex } from './build-indexes.ts';
import { digest } from './digest.ts';
import { splitForm } from './index-paths.ts';
import { byHashKey } from './layout.ts';
import type { PoolName } from './list-changes.ts';
import { packageLists } from './listed-files.ts';
import type { Abandoned, Baseline } from './look.ts';
import type { PoolSight } from './pool-look.ts';
import { isSettled } from './pool-record.ts';
import { isPoolPath } from './stored-path.ts';
import type { Conditions, KeptGeneration, Making, StoredIndex, SuiteRecord } from './suite-record.ts';
import { nextSuperseded } from './superseded.ts';

/** Generations besides the newest that are kept however old they are. */
const keptAtLeast = 2;
/** How long a replaced generation is kept at least: what a client or a cache may still hold, milliseconds. */
const keptFor = 24 * 3600_000;
/** How long an object that is not deleted any more stays listed as fading, beyond the time limit of the claim: clocks differ. */
const fadingMargin = 5 * 60_000;
/** Bytes of small indexes that travel in the record. They spare a whole round trip; larger ones would cost more than that. */
const embeddedAtMost = 96 * 1024;
/** Bytes of digests of lists in the record: of the newest generation's lists first, then of the kept ones', as far as they fit. */
const digestsAtMost = 32 * 1024;

/** What the claim of the next generation writes. Pure. */
export function nextRecord(input: {
  suite: string;
  published: Baseline | undefined;
  /** False where the head comes to stand beside what it follows: a signed suite made of an unsigned one. */
  replacesHead: boolean;
  release: Release;
  head: string;
  releaseGpg: string | undefined;
  built: readonly BuiltIndex[];
  added: readonly string[];
  unlisted: readonly PoolName[];
  /** What the plan says of the versions of packages. */
  versions: Parameters<typeof nextSuperseded>[1];
  pool: PoolSight;
  /** A generation that was claimed after the published one and never committed: its names are put back, its objects go. */
  abandoned: Abandoned | undefined;
  /** By-hash objects that nothing names. */
  orphans: readonly StoredIndex[];
  conditions: Conditions;
  slowCopies: boolean;
  claim: SuiteRecord['claim'];
  made: Making;
  /** The moment of un-listing for what this generation replaces, milliseconds since the epoch. */
  now: number;
}): SuiteRecord {
  const { suite, published, release, head, releaseGpg, pool, abandoned, now } = input;
  const before = published?.record;
  const stored = storedIndexes(release);
  const reached = new Set(stored.map((index) => keyOf(suite, index)));
  const since = new Date(now).toISOString();
  const replaced = published === undefined || !input.replacesHead ? [] : [replacedGeneration(published, stored, since)];
  const all = [...replaced, ...(before?.kept ?? [])];
  const young = all.findLastIndex(({ until }) => now - Date.parse(until) < keptFor);
  const kept = all.slice(0, Math.max(keptAtLeast, young + 1));
  const expired = all.slice(kept.length).flatMap(({ dropped }) => dropped);
  const keptKeys = new Set(kept.flatMap(({ dropped }) => dropped.map((index) => keyOf(suite, index))));
  const goes = (index: StoredIndex) => !reached.has(keyOf(suite, index)) && !keptKeys.has(keyOf(suite, index));
  const nowhere = [...expired, ...input.orphans, ...(abandoned === undefined ? [] : storedIndexes(abandoned.release))];
  const condemned = [
    ...nowhere.map((index) => ({ ...index, again: true })),
    ...(before?.condemned ?? []).filter(({ again }) => again).map((index) => ({ ...index, again: false })),
  ].filter(goes);
  const gone = now + input.claim.limitSeconds * 1000 + fadingMargin;
  const fading = [
    ...(before?.condemned ?? [])
      .filter(({ again }) => !again)
      .map(({ path, sha256 }) => ({ path, sha256, until: new Date(gone).toISOString() })),
    ...(before?.fading ?? []).filter(({ until }) => Date.parse(until) > now),
  ].filter(goes);
  const listedAgain = new Set(input.added);
  const superseded = nextSuperseded(before?.superseded, input.versions, now);
  return {
    schema: 'apt-publish/suite/1',
    suite,
    claim: input.claim,
    generation: {
      number: (before?.generation.number ?? 0) + 1,
      head,
      ...(releaseGpg === undefined ? {} : { releaseGpg }),
      renames: renames([published?.release, abandoned?.release], stored),
      added: [...input.added],
      poolVersion: pool.version,
      made: input.made,
    },
    kept,
    condemned,
    fading,
    unlisted: [
      ...(before?.unlisted ?? []),
      ...[...input.unlisted, ...(abandoned?.added ?? []).map((filename): PoolName => ({ filename }))].map(
        ({ filename, sha256 }) => ({
          filename,
          ...(sha256 === undefined ? {} : { sha256 }),
          since,
        }),
      ),
    ].filter(
      (file) => isPoolPath(file.filename) && !listedAgain.has(file.filename) && !isSettled(pool.record, suite, file),
    ),
    ...(superseded === undefined ? {} : { superseded }),
    conditions: input.conditions,
    ...(input.slowCopies ? { slowCopies: true as const } : {}),
    named: digestsOf([stored, ...kept.map(({ dropped }) => dropped)].flatMap(packageLists), before?.named, input.built),
    embedded: embed(stillEmbedded(published, stored), stored, input.built),
  };
}

function replacedGeneration(published: Baseline, stored: readonly StoredIndex[], until: string): KeptGeneration {
  const { number, made } = published.record.generation;
  const head = storedHead(published.record);
  const before = storedIndexes(published.release);
  const now = new Map(stored.map(({ path, sha256 }) => [path, sha256]));
  return {
    number,
    headSha256: head.sha256,
    until,
    ...(made === undefined ? {} : { made }),
    dropped: [head, ...before.filter(({ path, sha256 }) => now.get(path) !== sha256)],
  };
}

/** The files of a Release that are stored: all but the uncompressed twins. */
export function storedIndexes(release: Release): StoredIndex[] {
  return release.files
    .filter(({ path }) => splitForm(path).extension !== '')
    .map(({ path, sha256 }) => ({ path, sha256 }));
}

/** The newest generation's head, which gets a name of its own when another takes its place: a rollback wants to verify it. */
export function storedHead({ generation }: Pick<SuiteRecord, 'generation'>): StoredIndex {
  const path = generation.releaseGpg === undefined ? 'Release' : 'InRelease';
  return { path, sha256: digest(generation.head) };
}

function keyOf(suite: string, index: StoredIndex): string {
  return byHashKey(suite, index.path, index.sha256);
}

/** Names whose object is, or may be, another one than the new generation says. */
function renames(before: readonly (Release | undefined)[], stored: readonly StoredIndex[]): StoredIndex[] {
  const states = before
    .filter((release) => release !== undefined)
    .map((release) => new Map(storedIndexes(release).map(({ path, sha256 }) => [path, sha256])));
  if (states.length === 0) return [...stored];
  return stored.filter(({ path, sha256 }) => states.some((state) => state.get(path) !== sha256));
}

/** The digests of these lists, of those that were built now and of those that the record has had. */
function digestsOf(
  lists: readonly StoredIndex[],
  before: SuiteRecord['named'],
  built: readonly BuiltIndex[],
): Record<string, string> {
  const known = new Map(Object.entries(before ?? {}));
  for (const { named, stored } of built) {
    const [form] = packageLists(stored);
    if (named !== undefined && form !== undefined) known.set(form.sha256, Buffer.from(named).toString('base64'));
  }
  const digests: Record<string, string> = {};
  let total = 0;
  for (const { sha256 } of lists) {
    const named = known.get(sha256);
    if (named === undefined || sha256 in digests) continue;
    total += (named.length * 3) / 4;
    if (total > digestsAtMost) break;
    digests[sha256] = named;
  }
  return digests;
}

/** What the record holds of indexes that are in the next generation what they are in this one. */
function stillEmbedded(published: Baseline | undefined, stored: readonly StoredIndex[]): Record<string, string> {
  if (published === undefined) return {};
  const changed = new Set(renames([published.release], stored).map(({ path }) => path));
  return Object.fromEntries(Object.entries(published.record.embedded).filter(([path]) => !changed.has(path)));
}

/** The smallest first, as many as fit. */
function embed(
  before: Readonly<Record<string, string>>,
  stored: readonly StoredIndex[],
  built: readonly BuiltIndex[],
): Record<string, string> {
  const fresh = new Map(built.flatMap((index) => index.stored.slice(0, 1).map(({ path, bytes }) => [path, bytes])));
  const rebuilt = new Set(built.map(({ path }) => path));
  const candidates: { path: string; base64: string; size: number }[] = [];
  for (const { path } of stored) {
    const bytes = fresh.get(path);
    const base64 = rebuilt.has(splitForm(path).index) ? undefined : before[path];
    if (bytes !== undefined && bytes.length <= embeddedAtMost) {
      candidates.push({ path, base64: Buffer.from(bytes).toString('base64'), size: bytes.length });
    } else if (base64 !== undefined) candidates.push({ path, base64, size: (base64.length * 3) / 4 });
  }
  const embedded: Record<string, string> = {};
  let total = 0;
  for (const { path, base64, size } of candidates.sort((a, b) => a.size - b.size || (a.path < b.path ? -1 : 1))) {
    total += size;
    if (total > embeddedAtMost) break;
    embedded[path] = base64;
  }
  return embedded;
}
