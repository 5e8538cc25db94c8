import { createHash } from 'node:crypto';
import type { Clock } from '../timing/clock.ts';
import {
  attributesOf,
  type ByteRange,
  type Condition,
  conditionRefused,
  type Found,
  type FoundHead,
  type ListedPage,
  type NotFound,
  type ObjectAttributes,
  type ObjectStore,
  type PartBody,
  type PartPosition,
  type PreconditionFailed,
  type PutOptions,
  type Upload,
  type UploadedPart,
  type Written,
} from './object-store.ts';
import { wholePart } from './part-body.ts';

export interface MemorySettings {
  readonly clock: Clock;
  /** What this store does with conditions; `enforced` when absent. The others act like stores that are known to exist. */
  readonly conditions?: 'enforced' | 'create-only' | 'ignored' | 'refused';
}

interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly attributes: ObjectAttributes;
  readonly modified: number;
}

/** Keys to a page, as S3 has them: callers that forget the second page fail here too. */
const pageSize = 1000;

/**
 * The reference adapter: the port's contract in the fewest words. ETags are hashes of the content, as S3's mostly are, so a
 * caller that takes "same ETag" for "nobody wrote" is wrong here as well.
 */
export class MemoryStore implements ObjectStore {
  readonly #objects = new Map<string, StoredObject>();
  readonly #uploads = new Map<string, Map<number, Uint8Array>>();
  readonly #clock: Clock;
  readonly #conditions: NonNullable<MemorySettings['conditions']>;
  #nextUpload = 1;

  constructor(settings: MemorySettings) {
    this.#clock = settings.clock;
    this.#conditions = settings.conditions ?? 'enforced';
  }

  /** Multipart uploads that were neither completed nor aborted. */
  get openUploads(): number {
    return this.#uploads.size;
  }

  async get(key: string, range?: ByteRange): Promise<Found | NotFound> {
    const object = this.#objects.get(key);
    const { offset, length } = range ?? { offset: 0, length: Number.POSITIVE_INFINITY };
    if (object === undefined || (offset > 0 && offset >= object.body.length)) return { found: false };
    const age = Math.max(0, (this.#clock.now() - object.modified) / 1000);
    return { found: true, body: object.body.slice(offset, offset + length), etag: object.etag, age };
  }

  async head(key: string): Promise<FoundHead | NotFound> {
    const object = this.#objects.get(key);
    if (object === undefined) return { found: false };
    return { found: true, size: object.body.byteLength, etag: object.etag, ...object.attributes };
  }

  async put(key: string, body: Uint8Array, options: PutOptions): Promise<Written | PreconditionFailed> {
    return this.#holds(key, options.condition)
      ? this.#write(key, ownCopy(body), attributesOf(options))
      : { written: false };
  }

  async copy(from: string, to: string, attributes: ObjectAttributes): Promise<Written | NotFound> {
    const object = this.#objects.get(from);
    return object === undefined ? { found: false } : this.#write(to, object.body, attributes);
  }

  async listPage(prefix: string, from?: string): Promise<ListedPage> {
    const all = [...this.#objects].filter(([key]) => key.startsWith(prefix) && (from === undefined || key > from));
    all.sort(([a], [b]) => (a < b ? -1 : 1));
    const page = all.slice(0, pageSize);
    const last = page.at(-1);
    return {
      objects: page.map(([key, { body, modified }]) => ({ key, size: body.byteLength, modified })),
      ...(last !== undefined && page.length < all.length ? { next: last[0] } : {}),
    };
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#objects.delete(key);
  }

  async startUpload(key: string, attributes: ObjectAttributes): Promise<Upload> {
    const id = `${this.#nextUpload++}`;
    this.#uploads.set(id, new Map());
    return { key, id, attributes };
  }

  async putPart(upload: Upload, part: PartPosition, body: PartBody): Promise<UploadedPart> {
    const whole = await wholePart(body);
    this.#parts(upload).set(part.number, whole);
    return { number: part.number, etag: contentHash(whole) };
  }

  async completeUpload(
    upload: Upload,
    parts: readonly UploadedPart[],
    condition?: Condition,
  ): Promise<Written | PreconditionFailed> {
    const sent = this.#parts(upload);
    if (!this.#holds(upload.key, condition)) return { written: false };
    const bodies = parts.toSorted((a, b) => a.number - b.number).map(({ number }) => sent.get(number));
    this.#uploads.delete(upload.id);
    return this.#write(upload.key, Buffer.concat(bodies.filter((body) => body !== undefined)), upload.attributes);
  }

  async abortUpload(upload: Upload): Promise<void> {
    this.#uploads.delete(upload.id);
  }

  #holds(key: string, condition: Condition | undefined): boolean {
    if (condition === undefined || this.#conditions === 'ignored') return true;
    if (this.#conditions === 'refused') throw conditionRefused(key);
    if ('absent' in condition) return !this.#objects.has(key);
    return this.#conditions === 'create-only' || this.#objects.get(key)?.etag === condition.etag;
  }

  #write(key: string, body: Uint8Array, attributes: ObjectAttributes): Written {
    const etag = contentHash(body);
    this.#objects.set(key, { body, etag, attributes, modified: this.#clock.now() });
    return { written: true, etag };
  }

  #parts(upload: Upload): Map<number, Uint8Array> {
    const parts = this.#uploads.get(upload.id);
    if (parts === undefined) throw new Error(`upload ${upload.id} of ${upload.key} is not open`);
    return parts;
  }
}

function contentHash(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}

/** Not `slice()`: that of a Buffer is a view. */
function ownCopy(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
