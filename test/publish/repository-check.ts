import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { entryFile } from '../../src/debian/packages.ts';
import { parseRelease, type Release } from '../../src/debian/release.ts';
import { scanStanzas } from '../../src/debian/stanza-index.ts';
import { digest } from '../../src/publish/digest.ts';
import { namesPoolFiles, splitForm } from '../../src/publish/index-paths.ts';
import { byHashKey, canonicalKey, headKey, recordKey, suiteOfRecordKey } from '../../src/publish/layout.ts';
import { listedSource } from '../../src/publish/listed-source.ts';
import { parseSuiteRecord, type StoredIndex, type SuiteRecord } from '../../src/publish/suite-record.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { publicKeys, verifyInRelease } from '../../src/signing/verify.ts';

/** Every object of a store at one instant. */
export type Snapshot = ReadonlyMap<string, Uint8Array>;

/** Something that a reader, or the next writer, of the repository would stumble over. */
export interface Finding {
  /** Number of the invariant in ARCHITECTURE.md. */
  readonly invariant: 1 | 2 | 4 | 5;
  /**
   * `by-hash`: an index cannot be read by its hash. `pool`: a listed pool file is missing or differs. `claimed-pool`: the same, of a
   * generation that is claimed and not committed. `canonical`: an index cannot be read by its name. `head`, `release`: the
   * Release files. `immutable`: a name that never changes did.
   */
  readonly rule: 'by-hash' | 'pool' | 'claimed-pool' | 'canonical' | 'head' | 'release' | 'immutable';
  /** Empty where it concerns no suite by itself. */
  readonly suite: string;
  readonly what: string;
}

/** A pool file as an index lists it. */
interface Listed {
  readonly filename: string;
  /** Absent in a list of source packages. */
  readonly size?: number;
  readonly sha256?: string | undefined;
}

interface Generation {
  readonly release: Release;
  readonly text: string;
}

/** What one suite's record and head say. */
interface Suite {
  readonly name: string;
  readonly head: Generation | undefined;
  readonly record: SuiteRecord | undefined;
  readonly claimed: Generation | undefined;
  /** Record and head stand for one generation. */
  readonly settled: boolean;
}

/**
 * Reads a repository as its clients and the next publisher would, at any instant of a publish, and says what they could not read.
 * It shares the parsers with what it judges, and nothing of the transaction.
 */
export class RepositoryCheck {
  readonly #keys: SigningKeys | undefined;
  readonly #generations = new Map<string, Promise<Generation>>();
  readonly #files = new Map<string, readonly Listed[]>();
  readonly #numbers = new Map<string, number>();
  readonly #sums = new WeakMap<Uint8Array, string>();
  readonly #pool = new Map<string, string>();

  constructor(keys?: SigningKeys) {
    this.#keys = keys;
  }

  /** What is wrong at this instant. With `ended` nobody is at work any more, so nothing may be half done either. */
  async findings(snapshot: Snapshot, ended = false): Promise<Finding[]> {
    const found: Finding[] = [];
    for (const name of suitesIn(snapshot)) {
      const suite = await this.#suite(snapshot, name).catch((error: unknown) => {
        found.push({ invariant: 5, rule: 'head', suite: name, what: `suite ${name} cannot be read: ${error}` });
        return undefined;
      });
      if (suite === undefined) continue;
      found.push(...this.#byHash(snapshot, suite), ...this.#byName(snapshot, suite), ...forgotten(suite));
      if (ended) found.push(...this.#ended(snapshot, suite));
    }
    for (const [key, body] of snapshot) {
      const sum = this.#sum(body);
      const stands = key.includes('/by-hash/SHA256/') ? key.slice(key.lastIndexOf('/') + 1) : this.#pool.get(key);
      if (key.startsWith('pool/') && stands === undefined) this.#pool.set(key, sum);
      else if (stands !== undefined && stands !== sum) {
        found.push({ invariant: 2, rule: 'immutable', suite: '', what: `${key} holds other bytes than it stands for` });
      }
    }
    return found;
  }

  /** Whether a head has gone back, or gone, from one instant to the next. Both were given to `findings` before. */
  headsGoneBack(before: Snapshot, after: Snapshot): Finding[] {
    return suitesIn(before).flatMap((suite): Finding[] => {
      const key = this.#headKey(suite);
      const old = before.get(key);
      const now = after.get(key);
      if (old === undefined || old === now) return [];
      const from = this.#numbers.get(this.#sum(old)) ?? 0;
      const to = now === undefined ? -1 : (this.#numbers.get(this.#sum(now)) ?? 0);
      if (to >= from) return [];
      return [
        { invariant: 4, rule: 'head', suite, what: `the head of ${suite} went from generation ${from} to ${to}` },
      ];
    });
  }

  /** `list: package version sha256` of everything that a reader of the suite sees, sorted. */
  async packages(snapshot: Snapshot, name: string): Promise<string[]> {
    const { head } = await this.#suite(snapshot, name);
    return storedIn(head?.release)
      .filter(({ path }) => namesPoolFiles(splitForm(path).index))
      .flatMap(({ path, sha256 }) => {
        const body = snapshot.get(byHashKey(name, path, sha256));
        return body === undefined
          ? [`${path} is missing`]
          : this.#filesIn(path, body).map((file) => `${path}: ${file.filename} ${file.sha256}`);
      })
      .sort();
  }

  /** Every by-hash object that the head, the record, or a kept generation of some suite names, or that a claim has condemned. */
  async explained(snapshot: Snapshot): Promise<Set<string>> {
    const names = await Promise.all(
      suitesIn(snapshot).map(async (name) => {
        const { head, claimed, record } = await this.#suite(snapshot, name);
        const dropped = record?.kept.flatMap((kept) => kept.dropped) ?? [];
        const all = [...storedIn(head?.release), ...storedIn(claimed?.release), ...dropped];
        return [...all, ...(record?.condemned ?? []), ...(record?.fading ?? [])].map(({ path, sha256 }) =>
          byHashKey(name, path, sha256),
        );
      }),
    );
    return new Set(names.flat());
  }

  #byHash(snapshot: Snapshot, { name, head, claimed, record, settled }: Suite): Finding[] {
    const generations: [who: string, rule: 'pool' | 'claimed-pool', stored: readonly StoredIndex[]][] = [
      ['the head', 'pool', storedIn(head?.release)],
      ['the record', settled ? 'pool' : 'claimed-pool', storedIn(claimed?.release)],
      ...(record?.kept ?? []).map(
        ({ number, dropped }) => [`kept generation ${number}`, 'pool', dropped] as [string, 'pool', StoredIndex[]],
      ),
    ];
    return generations.flatMap(([who, rule, stored]) =>
      stored.flatMap(({ path, sha256 }): Finding[] => {
        const key = byHashKey(name, path, sha256);
        const body = snapshot.get(key);
        if (body === undefined) {
          return [
            {
              invariant: 2,
              rule: 'by-hash',
              suite: name,
              what: `${who} of ${name} names ${path}, and ${key} is missing`,
            },
          ];
        }
        if (!namesPoolFiles(splitForm(path).index)) return [];
        return this.#filesIn(path, body).flatMap((file): Finding[] => {
          const held = snapshot.get(file.filename);
          const fits = file.sha256 === undefined || (held !== undefined && this.#sum(held) === file.sha256);
          if (held !== undefined && fits && (file.size ?? held.length) === held.length) return [];
          const fault = held === undefined ? 'is missing' : 'has other bytes';
          return [
            { invariant: 2, rule, suite: name, what: `${who} of ${name} lists ${file.filename}, which ${fault}` },
          ];
        });
      }),
    );
  }

  /** A canonical name says what the head says or, between claim and commit, what the claimed generation renames it to. */
  #byName(snapshot: Snapshot, { name, head, record, settled }: Suite): Finding[] {
    const claimed = new Map(settled ? [] : record?.generation.renames.map(({ path, sha256 }) => [path, sha256]));
    return storedIn(head?.release).flatMap(({ path, sha256 }): Finding[] => {
      const body = snapshot.get(canonicalKey(name, path));
      const sum = body === undefined ? undefined : this.#sum(body);
      if (sum === sha256 || (sum !== undefined && sum === claimed.get(path))) return [];
      const what = `${path} of ${name} ${sum === undefined ? 'is missing' : 'is not what the head says'}`;
      return [{ invariant: 1, rule: 'canonical', suite: name, what }];
    });
  }

  #ended(snapshot: Snapshot, { name, head, record, settled }: Suite): Finding[] {
    const found: Finding[] = [];
    const report = (rule: 'head' | 'release', what: string) => found.push({ invariant: 4, rule, suite: name, what });
    if (!settled) report('head', `record and head of ${name} are apart`);
    if (this.#keys === undefined) return found;
    const text = (file: string) => new TextDecoder().decode(snapshot.get(canonicalKey(name, file)));
    if (text('Release') !== head?.text) report('release', `Release of ${name} is not the text of its InRelease`);
    if (settled && text('Release.gpg') !== record?.generation.releaseGpg) {
      report('release', `Release.gpg of ${name} is not that of its newest generation`);
    }
    return found;
  }

  async #suite(snapshot: Snapshot, name: string): Promise<Suite> {
    const recordBody = snapshot.get(recordKey(name));
    const headBody = snapshot.get(this.#headKey(name));
    const record = recordBody === undefined ? undefined : parseSuiteRecord(recordBody, name);
    const head = headBody === undefined ? undefined : await this.#generation(Buffer.from(headBody), name);
    if (record === undefined) return { name, head, record, claimed: undefined, settled: head === undefined };
    const claimedHead = Buffer.from(record.generation.head);
    this.#numbers.set(digest(claimedHead), record.generation.number);
    const claimed = await this.#generation(claimedHead, name);
    return { name, head, record, claimed, settled: headBody !== undefined && claimedHead.equals(headBody) };
  }

  #generation(head: Buffer, suite: string): Promise<Generation> {
    const sum = digest(head);
    const known = this.#generations.get(sum);
    if (known !== undefined) return known;
    const fresh = this.#verified(head, suite);
    this.#generations.set(sum, fresh);
    return fresh;
  }

  async #verified(head: Buffer, suite: string): Promise<Generation> {
    const origin = `The head of ${suite}`;
    const text =
      this.#keys === undefined
        ? head.toString()
        : (await verifyInRelease(head, publicKeys(this.#keys), origin)).release;
    return { release: parseRelease(text, origin), text };
  }

  #filesIn(path: string, body: Uint8Array): readonly Listed[] {
    const sum = this.#sum(body);
    const known = this.#files.get(sum);
    if (known !== undefined) return known;
    const index = gunzipSync(body);
    const files = scanStanzas(index, path).flatMap((entry): Listed[] => {
      if (splitForm(path).index.endsWith('/Packages')) return [entryFile(index, entry, path)];
      const { directory, files } = listedSource(index, entry);
      return [...files].map(([file, sha256]) => ({ filename: `${directory}/${file}`, sha256 }));
    });
    this.#files.set(sum, files);
    return files;
  }

  #sum(body: Uint8Array): string {
    const known = this.#sums.get(body);
    if (known !== undefined) return known;
    const sum = createHash('sha256').update(body).digest('hex');
    this.#sums.set(body, sum);
    return sum;
  }

  #headKey(suite: string): string {
    return headKey(suite, this.#keys !== undefined);
  }
}

/** Generations besides the newest that stay readable, however old they are. */
const keptAtLeast = 2;

/** What a client read a moment ago has to be readable, whatever the record says: it names two generations before the newest. */
function forgotten({ name, record }: Suite): Finding[] {
  const missing = record === undefined ? 0 : Math.min(keptAtLeast, record.generation.number - 1) - record.kept.length;
  if (missing <= 0) return [];
  return [
    { invariant: 2, rule: 'by-hash', suite: name, what: `${name} has forgotten ${missing} of its last generations` },
  ];
}

function suitesIn(snapshot: Snapshot): string[] {
  const names = [...snapshot.keys()].flatMap((key) => {
    const head = /^dists\/(.+)\/(?:InRelease|Release)$/.exec(key)?.[1];
    return [suiteOfRecordKey(key) ?? head ?? []].flat();
  });
  return [...new Set(names)].sort();
}

/** The files of a Release that are stored. The twin of an index without its form is only listed. */
function storedIn(release: Release | undefined): StoredIndex[] {
  return (release?.files ?? []).filter(({ path }) => splitForm(path).extension !== '');
}
