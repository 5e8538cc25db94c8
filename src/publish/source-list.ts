import { type ArrivingStanza, type IndexEntry, mergeEntries, scanStanzas } from '../debian/stanza-index.ts';
import { contributors } from './contributors.ts';
import { sourcesPath } from './index-paths.ts';
import type { ListChanges } from './list-changes.ts';
import { listedSource } from './listed-source.ts';

/** A Sources index, scanned, with what is to happen to it. */
export interface SourceList {
  readonly component: string;
  readonly bytes: Uint8Array;
  readonly entries: readonly IndexEntry[];
  readonly add: ArrivingStanza[];
  readonly remove: Set<IndexEntry>;
}

/** `published` is absent for a list that does not exist yet. */
export function openSources(suite: string, component: string, published: Uint8Array | undefined): SourceList {
  const bytes = published ?? new Uint8Array();
  const entries = scanStanzas(bytes, `${sourcesPath(component)} of suite ${suite}`);
  return { component, bytes, entries, add: [], remove: new Set() };
}

/** Carries out what is to happen to the lists; one that does not change is left out. */
export function closeSources(lists: readonly SourceList[], changes: ListChanges): void {
  for (const list of lists) {
    if (list.add.length === 0 && list.remove.size === 0) continue;
    const path = sourcesPath(list.component);
    const stanzas = list.add.map((source) => ({ package: source.package, amount: source.bytes.length }));
    changes.lists.set(path, mergeEntries(list.bytes, list.entries, list));
    changes.contributors.set(path, contributors(stanzas, 'bytes'));
    changes.unlisted.push(...unlistedFiles(list));
  }
}

/** The files of what leaves, but for those that another revision of the package shares and that stay with it. */
function unlistedFiles({ bytes, entries, remove }: SourceList) {
  const leaving = new Set([...remove].map((entry) => entry.package));
  const staying = entries.filter((entry) => leaving.has(entry.package) && !remove.has(entry));
  const needed = new Set(staying.flatMap((entry) => sourceFiles(bytes, entry).map(({ filename }) => filename)));
  return [...remove].flatMap((entry) => sourceFiles(bytes, entry)).filter(({ filename }) => !needed.has(filename));
}

/** Every file of a listed source package, as the pool names it. */
export function sourceFiles(index: Uint8Array, entry: IndexEntry): { filename: string; sha256: string }[] {
  const { directory, files } = listedSource(index, entry);
  return Array.from(files, ([name, sha256]) => ({ filename: `${directory}/${name}`, sha256 }));
}
