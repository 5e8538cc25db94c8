import { createHash } from 'node:crypto';
import type { Quirks } from './s3-quirks.ts';

/** An object as the server keeps it. */
export interface StoredObject {
  readonly body: Buffer;
  /** Without quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch, whole seconds: what Last-Modified can say. */
  readonly modified: number;
  /** Headers given with the write that go out with every read: content-type, cache-control, x-amz-meta-…. */
  readonly headers: Readonly<Record<string, string>>;
  readonly checksums: ReadonlyMap<string, string>;
  /** Readable by everybody (ACL `public-read`). */
  readonly public: boolean;
}

/** What a listing shows of an object. */
export type ListedMeta = Pick<StoredObject, 'etag' | 'modified'> & { readonly size: number };

export interface PendingUpload {
  readonly id: string;
  readonly key: string;
  readonly started: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly public: boolean;
  readonly parts: Map<number, { readonly body: Buffer; readonly etag: string }>;
}

type Attributes = Partial<Pick<StoredObject, 'headers' | 'checksums' | 'public'>> & { readonly etag?: string };

/** The contents of one bucket. Every change is one synchronous step, so no reader can see half of one. */
export class Bucket {
  readonly name: string;
  readonly uploads = new Map<string, PendingUpload>();
  /** Prefixes that anybody may read. */
  readonly publicPrefixes = new Set<string>();
  readonly #objects = new Map<string, StoredObject>();
  readonly #changed = new Map<string, number>();
  readonly #journal: { readonly key: string; readonly before: ListedMeta | undefined }[] = [];
  readonly #quirks: Quirks;
  readonly #now: () => number;
  #sorted: readonly string[] | undefined;
  #writes = 0;
  #nothing = Buffer.alloc(0);

  constructor(name: string, quirks: Quirks, now: () => number) {
    this.name = name;
    this.#quirks = quirks;
    this.#now = now;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  has(key: string): boolean {
    return this.#objects.has(key);
  }

  /** The body of an object as text, for tests that look inside. Throws for a key that does not exist. */
  text(key: string): string {
    const object = this.#objects.get(key);
    if (object === undefined) throw new Error(`no object ${key} in bucket ${this.name}`);
    return object.body.toString();
  }

  /** All keys in the order of their UTF-8 bytes, which is the order S3 lists them in. */
  keys(): readonly string[] {
    this.#sorted ??= [...this.#objects.keys()]
      .map((key) => ({ key, bytes: Buffer.from(key) }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
      .map(({ key }) => key);
    return this.#sorted;
  }

  /** Bytes as they are kept: where they are forgotten, zeros of the same length, which take no memory while nobody touches them. */
  kept(pieces: readonly Uint8Array[]): Buffer {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return length >= (this.#quirks.forgets ?? Number.POSITIVE_INFINITY) ? this.#zeros(length) : Buffer.concat(pieces);
  }

  /** Writes an object past all checks; its ETag is the MD5 of the body unless one is given or a quirk says otherwise. */
  write(key: string, body: Uint8Array | string, attributes: Attributes = {}): StoredObject {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const object: StoredObject = {
      body: this.kept([bytes]),
      etag: this.#etag(bytes, attributes.etag),
      modified: Math.floor(this.#now() / 1000) * 1000,
      headers: attributes.headers ?? {},
      checksums: attributes.checksums ?? new Map(),
      public: attributes.public ?? false,
    };
    this.#note(key);
    if (!this.#objects.has(key)) this.#sorted = undefined;
    this.#objects.set(key, object);
    return object;
  }

  remove(key: string): void {
    if (!this.#objects.has(key)) return;
    this.#note(key);
    this.#objects.delete(key);
    this.#sorted = undefined;
  }

  /** `performance.now()` of the last change of a key; undefined when it never changed. */
  changedAt(key: string): number | undefined {
    return this.#changed.get(key);
  }

  /** What a listing shows, in order; as it was `changesAgo` changes ago when asked for a stale one. */
  listing(changesAgo: number): readonly (readonly [string, ListedMeta])[] {
    if (changesAgo === 0) return this.keys().flatMap((key) => this.#listed(key));
    const state = new Map(this.keys().flatMap((key) => this.#listed(key)));
    for (const { key, before } of this.#journal.slice(-changesAgo).reverse()) {
      if (before === undefined) state.delete(key);
      else state.set(key, before);
    }
    return [...state].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** All of one buffer, since an allocator that has free memory at hand would fill a new one. */
  #zeros(length: number): Buffer {
    if (this.#nothing.length < length) this.#nothing = Buffer.alloc(length);
    return this.#nothing.subarray(0, length);
  }

  #listed(key: string): (readonly [string, ListedMeta])[] {
    const object = this.#objects.get(key);
    return object === undefined ? [] : [[key, meta(object)]];
  }

  #note(key: string): void {
    const before = this.#objects.get(key);
    this.#journal.push({ key, before: before === undefined ? undefined : meta(before) });
    if (this.#journal.length > 2000) this.#journal.splice(0, 1000);
    this.#changed.set(key, performance.now());
  }

  #etag(body: Uint8Array, given: string | undefined): string {
    this.#writes += 1;
    if (this.#quirks.opaqueEtags === true)
      return createHash('md5').update(`${this.name} ${this.#writes}`).digest('hex');
    return given ?? createHash('md5').update(body).digest('hex');
  }
}

const meta = (object: StoredObject): ListedMeta => ({
  etag: object.etag,
  modified: object.modified,
  size: object.body.length,
});
