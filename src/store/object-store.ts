import { Problem } from '../problem.ts';

/**
 * The port through which everything reaches a repository's store. Adapters (`s3`, `directory`, `memory`) make exactly one
 * attempt per call; layers (`traced`, `retried`, `limited`, `multipart`) are stores around a store. `test/store/contract.ts`
 * runs over every adapter and every layer.
 *
 * What holds for every method:
 * - Keys are relative to the repository (the prefix is the adapter's business), raw, UTF-8, never beginning with `/`.
 * - An object appears whole or not at all, and a read that begins after a write was acknowledged sees that write.
 * - "Not found" and "precondition failed" are values, never errors. "Forbidden" is an error even where a store uses it for a
 *   missing key: only "not found" may ever be taken for "new".
 * - Errors are `Problem` (access denied, bucket missing, wrong region, bad credentials …: trying again will not help) or
 *   `TransientStoreError` (throttled, reset, timed out, 5xx: it may).
 * - Bytes handed in are not kept or changed after the call resolves.
 * - A `signal` gives a call up: it rejects soon, in any way, and what it was to do may still happen. An adapter whose calls are short need
 *   not heed it.
 */
export interface ObjectStore {
  /**
   * The bytes of an object with its ETag. Of a `range`, at most those bytes; an object that ends before it begins is "not found" too.
   * Large objects are read piece by piece, so that none is in memory as a whole.
   */
  get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Found | NotFound>;

  /**
   * Size, ETag and the SHA-256 this project stored with the object (absent on objects written by others). A directory, which
   * keeps no attributes, reads the file and answers with the hash of what is there.
   */
  head(key: string, signal?: AbortSignal): Promise<FoundHead | NotFound>;

  /**
   * Writes an object. With a condition it answers `precondition-failed` and changes nothing when the condition does not
   * hold. An error after a conditional write says nothing about whether it took effect (`TransientStoreError.ambiguous`).
   * A store that refuses conditions throws `conditionRefused`; one that ignores them writes: only `probe` can tell.
   */
  put(key: string, body: Uint8Array, options: PutOptions, signal?: AbortSignal): Promise<Written | PreconditionFailed>;

  /** Server-side copy that replaces `to`, with the attributes given rather than those of `from`. */
  copy(from: string, to: string, attributes: ObjectAttributes): Promise<Written | NotFound>;

  /**
   * One page of the objects whose key begins with `prefix`, in no particular order; `from` is the `next` of the page before.
   * A page is one request, as every other method is, so that layers can repeat, limit and time it. `listed` walks all pages.
   */
  listPage(prefix: string, from?: string, signal?: AbortSignal): Promise<ListedPage>;

  /** Removes objects; a key that does not exist is no error. At most 1000 keys a call. */
  delete(keys: readonly string[]): Promise<void>;

  /** Multipart upload, for bodies too large for one request: start, parts in any order, complete or abort. */
  startUpload(key: string, attributes: ObjectAttributes): Promise<Upload>;
  /** Part numbers begin at 1; every part but the last has the same size, `offset` = (number − 1) × that size. */
  putPart(upload: Upload, part: PartPosition, body: PartBody): Promise<UploadedPart>;
  completeUpload(
    upload: Upload,
    parts: readonly UploadedPart[],
    condition?: Condition,
  ): Promise<Written | PreconditionFailed>;
  abortUpload(upload: Upload): Promise<void>;
}

/** Headers that travel with an object. There is never a Content-Encoding: `.gz` objects are what their name says. */
export interface ObjectAttributes {
  readonly contentType: string;
  readonly cacheControl: string;
  /** Lower-case hex SHA-256 of the body, stored with the object (S3: user metadata `sha256`). */
  readonly sha256?: string;
}

/**
 * `absent`: the key must not exist yet. `etag`: the object must still be the one this ETag was read from. ETags in this port
 * have no quotes; `spelled` says how the store wants them in `If-Match`, which `probe` finds out (Ceph before 20 knows only
 * the bare form, RFC 9110 only the quoted one). Bare when absent; stores without headers do not care.
 */
export type Condition = { readonly absent: true } | { readonly etag: string; readonly spelled?: EtagSpelling };
export type EtagSpelling = 'bare' | 'quoted';

export interface PutOptions extends ObjectAttributes {
  readonly condition?: Condition;
  /**
   * Never sent twice after an ambiguous failure: the caller reads back and compares. For names whose content changes, where a
   * second copy could meet the first one's success or undo somebody else's. A condition on an ETag implies it.
   */
  readonly once?: boolean;
  /**
   * A second copy of this write does no harm, whenever it takes effect and whatever was written since: these are the only bytes that the
   * name ever has, or the condition, which the store is known to hold, cannot be true again once it was not. `hedged` may send such a write
   * twice and leave one to its fate; what is then told that its condition does not hold may have met its own first copy.
   */
  readonly overlaps?: true;
}

/** What of the options of a write travels with the object. */
export function attributesOf({ contentType, cacheControl, sha256 }: PutOptions): ObjectAttributes {
  return { contentType, cacheControl, ...(sha256 === undefined ? {} : { sha256 }) };
}

export interface ByteRange {
  readonly offset: number;
  /** At least 1. */
  readonly length: number;
}

export interface Found {
  readonly found: true;
  readonly body: Uint8Array;
  readonly etag: string;
  /** Seconds since the object was written, by the store's own clock; absent when the store does not tell. */
  readonly age?: number;
}

export interface FoundHead {
  readonly found: true;
  readonly size: number;
  readonly etag: string;
  readonly sha256?: string;
  readonly cacheControl?: string;
  readonly contentType?: string;
}

export interface NotFound {
  readonly found: false;
}

export interface Written {
  readonly written: true;
  /** Absent where a store does not return one (old Ceph after a multipart upload or a copy). */
  readonly etag?: string;
}

export interface PreconditionFailed {
  readonly written: false;
}

export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** What to hand in as `from` for the page after this one; absent on the last. */
  readonly next?: string;
}

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly modified: number;
}

export interface Upload {
  readonly key: string;
  readonly id: string;
  readonly attributes: ObjectAttributes;
}

export interface PartPosition {
  readonly number: number;
  readonly offset: number;
}

/** The bytes of a part. A store reads them as it sends them, from the beginning again when it sends them again, and need not hold more than a few pieces. */
export interface PartBody {
  readonly length: number;
  /** Lower-case hex. S3 compares it with what arrives. */
  readonly sha256: string;
  /** The bytes from `position` on, at least one: as many as fit in `room` and read into it, or any number where they are in memory already. */
  read(position: number, room: Buffer): Promise<Uint8Array>;
}

export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}

/** A request failed in a way that may pass. Thrown by adapters; `retried` decides what to do with it. */
export class TransientStoreError extends Error {
  override readonly name = 'TransientStoreError';
  readonly kind: 'throttled' | 'timeout' | 'connection' | 'server';
  /** True when the request may have taken effect although no answer says so (the body was sent, no final answer came). */
  readonly ambiguous: boolean;
  /** What the store asked to wait, milliseconds. */
  readonly retryAfter?: number;

  constructor(details: {
    kind: TransientStoreError['kind'];
    ambiguous: boolean;
    message: string;
    retryAfter?: number;
    cause?: unknown;
  }) {
    super(details.message, { cause: details.cause });
    this.kind = details.kind;
    this.ambiguous = details.ambiguous;
    if (details.retryAfter !== undefined) this.retryAfter = details.retryAfter;
  }
}

/** Every object whose key begins with `prefix`, in no particular order. Pages are fetched as they are consumed. */
export async function* listed(store: ObjectStore, prefix: string): AsyncIterable<ListedObject> {
  let next: string | undefined;
  do {
    const page = await store.listPage(prefix, next);
    yield* page.objects;
    next = page.next;
  } while (next !== undefined);
}

export const conditionRefusedCode = 'store-condition-refused';

/** What a store throws that answers a condition with an error (501, 400) instead of holding it. */
export function conditionRefused(key: string, cause?: unknown): Problem {
  return new Problem({
    code: conditionRefusedCode,
    title: 'The store refuses conditional writes',
    what: `The store refused a conditional write of ${key}, although it is known to hold conditions.`,
    advice:
      'Run the job again to have the store tried anew; if this stays, use a store that supports `If-None-Match` and `If-Match`.',
    cause,
  });
}
