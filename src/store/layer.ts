import type { Verb } from '../timing/span.ts';
import type { ObjectStore } from './object-store.ts';

/** What a layer needs to know of a call to decide how to make it. */
export interface Call {
  readonly verb: Verb;
  /** The key, the prefix of a listing, or the first of the keys of a batch. */
  readonly key: string;
  readonly bytesUp: number;
  /** Bytes to be read at most; absent where only the answer will tell, and of what is no read. */
  readonly bytesDown?: number;
  /** False where a second attempt after an ambiguous failure could meet the success of the first, or undo another's. */
  readonly repeatable: boolean;
  /** Whether it may be sent twice at the same time and one of the two be left to its fate. */
  readonly overlaps: boolean;
  /** Gives the call up. */
  readonly signal?: AbortSignal | undefined;
}

/** How a layer makes a call: it runs `attempt` when, and as often as, it sees fit; with a signal of its own or with that of the call. */
export type Around = <T>(call: Call, attempt: (signal?: AbortSignal) => Promise<T>) => Promise<T>;

/** A store around a store: every call goes through `around`. */
export function layer(store: ObjectStore, around: Around): ObjectStore {
  const through = <T>(
    verb: Verb,
    key: string,
    attempt: (signal?: AbortSignal) => Promise<T>,
    more: Partial<Call> = {},
  ): Promise<T> => {
    const call = { verb, key, bytesUp: 0, repeatable: true, overlaps: false, ...more };
    return around(call, (signal = call.signal) => attempt(signal));
  };
  return {
    get: (key, range, signal) => {
      const size = range === undefined ? {} : { bytesDown: range.length };
      return through('GET', key, (given) => store.get(key, range, given), { overlaps: true, ...size, signal });
    },
    head: (key, signal) => through('HEAD', key, (given) => store.head(key, given), { overlaps: true, signal }),
    put: (key, body, options, signal) => {
      const once = options.once === true || (options.condition !== undefined && 'etag' in options.condition);
      const overlaps = options.overlaps === true;
      const more = { bytesUp: body.byteLength, repeatable: !once, overlaps, signal };
      return through('PUT', key, (given) => store.put(key, body, options, given), more);
    },
    copy: (from, to, attributes) => through('COPY', to, () => store.copy(from, to, attributes)),
    listPage: (prefix, from, signal) =>
      through('LIST', prefix, (given) => store.listPage(prefix, from, given), { overlaps: true, signal }),
    delete: (keys) => through('DELETE', keys[0] ?? '', () => store.delete(keys)),
    startUpload: (key, attributes) => through('CREATE', key, () => store.startUpload(key, attributes)),
    putPart: (upload, part, body) =>
      through('PART', upload.key, () => store.putPart(upload, part, body), { bytesUp: body.length }),
    completeUpload: (upload, parts, condition) =>
      through('COMPLETE', upload.key, () => store.completeUpload(upload, parts, condition), { repeatable: false }),
    abortUpload: (upload) => through('ABORT', upload.key, () => store.abortUpload(upload)),
  };
}
