import { createHash } from 'node:crypto';
import type {
  ByteRange,
  Condition,
  Found,
  FoundHead,
  NotFound,
  ObjectAttributes,
  ObjectStore,
  PreconditionFailed,
  Written,
} from '../../src/store/object-store.ts';
import type { Verb } from '../../src/timing/span.ts';

/** One object of a store that never changes in place: a write makes a new map. */
interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly attributes: ObjectAttributes;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/** All objects of a store at one instant. Holding on to one is a snapshot, and handing it out is a fork. */
export type Objects = ReadonlyMap<string, StoredObject>;

/**
 * One request as a value. `apply` is pure, so a scheduler can ask what a request would do without doing it: that is what lets an
 * exploration of interleavings recognise a state before it goes there.
 */
export interface Operation<Answer> {
  readonly verb: Verb;
  /** The key, the prefix of a listing, or the first of the keys of a batch. */
  readonly key: string;
  apply(objects: Objects, now: number): { readonly answer: Answer; readonly objects: Objects };
}

/** A store whose every request is handed to `send` as a value. Multipart uploads are left out: nothing here is large. */
export function storeOver(send: <Answer>(operation: Operation<Answer>) => Promise<Answer>): ObjectStore {
  const multipart = () => Promise.reject(new Error('The model has no multipart uploads.'));
  return {
    get: (key, range) =>
      send<Found | NotFound>({
        verb: 'GET',
        key,
        apply: (objects, now) => ({ answer: found(objects, key, now, range) ?? { found: false }, objects }),
      }),
    head: (key) =>
      send<FoundHead | NotFound>({
        verb: 'HEAD',
        key,
        apply: (objects) => {
          const object = objects.get(key);
          if (object === undefined) return { answer: { found: false }, objects };
          const { body, etag, attributes } = object;
          return { answer: { found: true, size: body.byteLength, etag, ...attributes }, objects };
        },
      }),
    put: (key, body, { condition, once: _, ...attributes }) =>
      send<Written | PreconditionFailed>({
        verb: 'PUT',
        key,
        apply: (objects, now) =>
          holds(objects, key, condition)
            ? written(objects, key, new Uint8Array(body), attributes, now)
            : { answer: { written: false }, objects },
      }),
    copy: (from, to, attributes) =>
      send<Written | NotFound>({
        verb: 'COPY',
        key: to,
        apply: (objects, now) => {
          const source = objects.get(from);
          if (source === undefined) return { answer: { found: false }, objects };
          return written(objects, to, source.body, attributes, now);
        },
      }),
    listPage: (prefix) =>
      send({
        verb: 'LIST',
        key: prefix,
        apply: (objects) => {
          const listed = [...objects].filter(([key]) => key.startsWith(prefix));
          const page = listed.map(([key, { body, modified }]) => ({ key, size: body.byteLength, modified }));
          return { answer: { objects: page.sort((a, b) => (a.key < b.key ? -1 : 1)) }, objects };
        },
      }),
    delete: (keys) =>
      send({
        verb: 'DELETE',
        key: keys[0] ?? '',
        apply: (objects) => {
          const gone = new Set(keys);
          return { answer: undefined, objects: new Map([...objects].filter(([key]) => !gone.has(key))) };
        },
      }),
    startUpload: multipart,
    putPart: multipart,
    completeUpload: multipart,
    abortUpload: multipart,
  };
}

function found(objects: Objects, key: string, now: number, range?: ByteRange): Found | undefined {
  const object = objects.get(key);
  if (object === undefined || (range !== undefined && range.offset > 0 && range.offset >= object.body.length))
    return undefined;
  const body = range === undefined ? object.body : object.body.subarray(range.offset, range.offset + range.length);
  return { found: true, body, etag: object.etag, age: Math.max(0, (now - object.modified) / 1000) };
}

function holds(objects: Objects, key: string, condition: Condition | undefined): boolean {
  if (condition === undefined) return true;
  const object = objects.get(key);
  return 'absent' in condition ? object === undefined : object?.etag === condition.etag;
}

/** ETags are hashes of the content, as S3's mostly are: whoever takes "same ETag" for "nobody wrote" is wrong here too. */
function written(objects: Objects, key: string, body: Uint8Array, attributes: ObjectAttributes, now: number) {
  const etag = contentHash(body).slice(0, 32);
  return {
    answer: { written: true, etag } as const,
    objects: new Map([...objects, [key, { body, etag, attributes, modified: now }]]),
  };
}

const hashes = new WeakMap<Uint8Array, string>();

/** SHA-256 of a body, computed once for each body. */
export function contentHash(body: Uint8Array): string {
  const known = hashes.get(body);
  if (known !== undefined) return known;
  const sum = createHash('sha256').update(body).digest('hex');
  hashes.set(body, sum);
  return sum;
}

/** The bodies alone, for whoever judges what a reader sees. */
export function bodies(objects: Objects): ReadonlyMap<string, Uint8Array> {
  return new Map([...objects].map(([key, { body }]) => [key, body]));
}
