import { Problem } from '../problem.ts';
import type { PoolContent, PoolFile } from './list-changes.ts';
import { isPoolPath } from './stored-path.ts';

/** A pool file as an index of the repository to import lists it. */
interface ListedFile {
  /** As the index spells it. */
  readonly filename: string;
  readonly size: number;
  readonly sha256: string | undefined;
}

/**
 * The pool files that an import brings, each once. They keep their names, so that stanzas keep their bytes. An index of somebody else may
 * say anything, and here it decides which objects are written.
 */
export class ImportedFiles {
  readonly #files = new Map<string, PoolFile>();
  readonly #contentAt: (key: string, size: number, sha256: string) => PoolContent;

  /** `contentAt` says where the bytes come from. */
  constructor(contentAt: (key: string, size: number, sha256: string) => PoolContent) {
    this.#contentAt = contentAt;
  }

  /** `origin` names the index. Throws `import-entry` for what cannot be imported, `import-name-twice` for one name with two hashes. */
  add({ filename, size, sha256 }: ListedFile, origin: string): void {
    const key = keyOfName(filename);
    if (!isPoolPath(key) || key.startsWith('.apt-publish-'))
      throw unusable(origin, filename, 'is no place for a package');
    if (sha256 === undefined || !/^[0-9a-f]{64}$/.test(sha256))
      throw unusable(origin, filename, 'is listed without a SHA256, and apt refuses such packages');
    const present = this.#files.get(key);
    if (present === undefined) this.#files.set(key, { key, file: this.#contentAt(key, size, sha256) });
    else if (present.file.sha256 !== sha256) throw twice(origin, key);
  }

  get all(): PoolFile[] {
    return [...this.#files.values()];
  }
}

/** What a `Filename` stands for: apt takes `./pool/…` and `/pool/…` for `pool/…`. */
export function keyOfName(filename: string): string {
  return filename.replace(/^(?:\.?\/)+/, '');
}

function unusable(origin: string, filename: string, why: string): Problem {
  return new Problem({
    code: 'import-entry',
    title: 'A package cannot be imported',
    what: `${JSON.stringify(filename.slice(0, 200))} in ${origin} ${why}.`,
    advice: 'Take it out of that repository, or leave its component or architecture out of the import.',
  });
}

function twice(origin: string, key: string): Problem {
  return new Problem({
    code: 'import-name-twice',
    title: 'One name stands for two files',
    what: `${key} in ${origin} is listed with another SHA256 elsewhere in the repository to import.`,
    advice: 'Have that repository put right, or leave the component or architecture out whose list is out of date.',
  });
}
