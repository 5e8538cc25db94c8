import { entryFile } from '../debian/packages.ts';
import { scanStanzas } from '../debian/stanza-index.ts';
import { compressionOf, namesPoolFiles, readableForms, splitForm } from './index-paths.ts';
import { listedSource } from './listed-source.ts';
import type { StoredIndex } from './suite-record.ts';

/** A pool file as an index lists it. */
export interface ListedPoolFile {
  readonly filename: string;
  /** Absent where the index does not tell. */
  readonly size?: number;
  readonly sha256?: string | undefined;
}

/** The pool files in an uncompressed Packages or Sources; `index` is its path without form, `origin` names it in problems. */
export function listedFiles(bytes: Uint8Array, index: string, origin: string): ListedPoolFile[] {
  return scanStanzas(bytes, origin).flatMap((entry): ListedPoolFile[] => {
    if (!index.endsWith('/Sources')) return [entryFile(bytes, entry, origin)];
    const { directory, files } = listedSource(bytes, entry);
    return [...files].map(([name, sha256]) => ({ filename: `${directory}/${name}`, sha256 }));
  });
}

/** One form of every list of packages among these, the one that is read with the least work. */
export function packageLists(stored: readonly StoredIndex[]): StoredIndex[] {
  const chosen = new Map<string, StoredIndex>();
  for (const extension of readableForms.keys()) {
    for (const each of stored) {
      const { index, extension: own } = splitForm(each.path);
      if (own === extension && namesPoolFiles(index) && !chosen.has(index)) chosen.set(index, each);
    }
  }
  return [...chosen.values()];
}

/** These forms of one index, the one that is read with the least work first. */
export function byEffort(forms: readonly StoredIndex[]): StoredIndex[] {
  const order = [...readableForms.values()];
  const effort = ({ path }: StoredIndex) => {
    const compression = compressionOf(path);
    return compression === undefined ? order.length : order.indexOf(compression);
  };
  return forms.toSorted((a, b) => effort(a) - effort(b));
}
