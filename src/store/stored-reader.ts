import { Problem } from '../problem.ts';
import type { ObjectStore } from './object-store.ts';
import { singleRequestLimit } from './parts.ts';
import type { ByteReader } from './source-file.ts';

/** An object of another store, by what its index says of it. */
export interface StoredFile {
  readonly key: string;
  readonly size: number;
}

/** Reads an object on its way into another store: in one request up to the size of one PUT, above that in one for each part. */
export function storedReader(store: Pick<ObjectStore, 'get'>, file: StoredFile): ByteReader {
  let position = 0;
  return {
    next: async (length) => {
      const whole = length === file.size && length <= singleRequestLimit;
      const object = await store.get(file.key, whole ? undefined : { offset: position, length });
      if (!object.found) throw position === 0 ? missing(file) : changed(file);
      if (object.body.length !== length) throw changed(file);
      position += length;
      return object.body;
    },
    changed: () => changed(file),
    [Symbol.asyncDispose]: async () => {},
  };
}

function changed({ key, size }: StoredFile): Problem {
  return new Problem({
    code: 'import-file-changed',
    title: 'A file to import is not what its index says',
    what: `${key}, where it is to be imported from, does not have the ${size} bytes and the SHA256 that its index lists.`,
    advice: 'Have that repository put right, then run the job again: it goes on where it was.',
  });
}

function missing({ key }: StoredFile): Problem {
  return new Problem({
    code: 'import-file-missing',
    title: 'A file to import does not exist',
    what: `${key} is listed by an index of the repository to import, and does not exist there.`,
    advice: 'Restore it there, or take it out of the index there; then run the job again: it goes on where it was.',
  });
}
