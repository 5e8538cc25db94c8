import { mergeEntries } from '../debian/stanza-index.ts';
import { type PackagesKind, packagesPath } from './index-paths.ts';
import { openList } from './package-list.ts';

/** What lists of packages for all become: those of the architectures, with these packages in each. */
export interface MergedLists {
  /** Lists that differ from what they were, or are new: uncompressed, by path without form. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  /** The lists apart, which nobody needs any more. */
  readonly apart: ReadonlySet<string>;
}

/**
 * Puts packages that another tool keeps in `binary-all` into the list of every architecture: debootstrap, reprepro, aptly mirror and
 * apt-mirror never read a list apart. Stanzas are carried byte for byte.
 */
export function mergeIndependentLists(
  suite: string,
  contents: ReadonlyMap<string, Uint8Array>,
  architectures: readonly string[],
): MergedLists {
  const lists = new Map<string, Uint8Array>();
  const apart = new Set<string>();
  for (const [path, bytes] of contents) {
    const [, component, installer] = /^(.+?)\/(debian-installer\/)?binary-all\/Packages$/.exec(path) ?? [];
    if (component === undefined) continue;
    apart.add(path);
    const kind: PackagesKind = installer === undefined ? 'deb' : 'udeb';
    const independent = openList({ suite, component, kind, architecture: 'all' }, bytes);
    for (const architecture of architectures) {
      const own = packagesPath(component, architecture, kind);
      const list = openList({ suite, component, kind, architecture }, contents.get(own));
      const missing = independent.entries.filter((entry) => list.find(entry) === undefined);
      if (list.published && missing.length === 0) continue;
      const add = missing.map((entry) => ({ ...entry, bytes: independent.bytes.subarray(entry.start, entry.end) }));
      lists.set(own, mergeEntries(list.bytes, list.entries, { add, remove: new Set() }));
    }
  }
  return { lists, apart };
}
