import { fieldValue, type Stanza } from '../debian/deb822.ts';
import { entryFields, type IndexEntry } from '../debian/stanza-index.ts';

/** A source package as a published Sources describes it: SHA-256 by file name. */
export interface ListedSource {
  readonly directory: string;
  readonly files: ReadonlyMap<string, string>;
}

/** Every file of a listed source package, as the pool names it. A size that is no number is NaN. */
export function sourcePoolFiles(
  index: Uint8Array,
  entry: IndexEntry,
): { filename: string; size: number; sha256: string }[] {
  const fields = entryFields(index, entry);
  const directory = fieldValue(fields, 'Directory') ?? '';
  return checksums(fields).map(({ name, size, sha256 }) => ({
    filename: `${directory}/${name}`,
    size: /^\d{1,15}$/.test(size) ? Number(size) : Number.NaN,
    sha256,
  }));
}

export function listedSource(index: Uint8Array, entry: IndexEntry): ListedSource {
  const fields = entryFields(index, entry);
  const files = new Map(checksums(fields).map(({ name, sha256 }) => [name, sha256]));
  return { directory: fieldValue(fields, 'Directory') ?? '', files };
}

function checksums(fields: Stanza): { name: string; size: string; sha256: string }[] {
  return (fieldValue(fields, 'Checksums-Sha256') ?? '').split('\n').flatMap((line) => {
    const [sha256, size, name] = line.trim().split(/\s+/);
    return sha256 === undefined || size === undefined || name === undefined ? [] : [{ name, size, sha256 }];
  });
}
