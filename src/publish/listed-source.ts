import { fieldValue } from '../debian/deb822.ts';
import { entryFields, type IndexEntry } from '../debian/stanza-index.ts';

/** A source package as a published Sources describes it: SHA-256 by file name. */
export interface ListedSource {
  readonly directory: string;
  readonly files: ReadonlyMap<string, string>;
}

export function listedSource(index: Uint8Array, entry: IndexEntry): ListedSource {
  const fields = entryFields(index, entry);
  const files = new Map<string, string>();
  for (const line of (fieldValue(fields, 'Checksums-Sha256') ?? '').split('\n')) {
    const [sha256, , name] = line.trim().split(/\s+/);
    if (sha256 !== undefined && name !== undefined) files.set(name, sha256);
  }
  return { directory: fieldValue(fields, 'Directory') ?? '', files };
}
