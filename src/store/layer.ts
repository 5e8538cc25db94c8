import type { Verb } from '../timing/span.ts';
import type { ObjectStore } from './object-store.ts';

/** What a layer needs to know of a call to decide how to make it. */
interface Call {
  readonly verb: Verb;
  /** The key, the prefix of a listing, or the first of the keys of a batch. */
  readonly key: string;
  readonly bytesUp: number;
  /** False where a second attempt after an ambiguous failure could meet the success of the first, or undo another's. */
  readonly repeatable: boolean;
}

/** How a layer makes a call: it runs `attempt` when, and as often as, it sees fit. */
export type Around = <T>(call: Call, attempt: () => Promise<T>) => Promise<T>;

/** A store around a store: every call goes through `around`. */
export function layer(store: ObjectStore, around: Around): ObjectStore {
  const through = <T>(verb: Verb, key: string, attempt: () => Promise<T>, bytesUp = 0, repeatable = true) =>
    around({ verb, key, bytesUp, repeatable }, attempt);
  return {
    get: (key, range) => through('GET', key, () => store.get(key, range)),
    head: (key) => through('HEAD', key, () => store.head(key)),
    put: (key, body, options) => {
      const once = options.once === true || (options.condition !== undefined && 'etag' in options.condition);
      return through('PUT', key, () => store.put(key, body, options), body.byteLength, !once);
    },
    copy: (from, to, attributes) => through('COPY', to, () => store.copy(from, to, attributes)),
    listPage: (prefix, from) => through('LIST', prefix, () => store.listPage(prefix, from)),
    delete: (keys) => through('DELETE', keys[0] ?? '', () => store.delete(keys)),
    startUpload: (key, attributes) => through('CREATE', key, () => store.startUpload(key, attributes)),
    putPart: (upload, part, body) =>
      through('PART', upload.key, () => store.putPart(upload, part, body), body.byteLength),
    completeUpload: (upload, parts, condition) =>
      through('COMPLETE', upload.key, () => store.completeUpload(upload, parts, condition), 0, false),
    abortUpload: (upload) => through('ABORT', upload.key, () => store.abortUpload(upload)),
  };
}
