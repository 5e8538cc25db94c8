import { contentsLocation, entryFile } from '../debian/packages.ts';
import { entryFields, type IndexEntry, mergeEntries, type StanzaKey, scanStanzas } from '../debian/stanza-index.ts';
import { contributors } from './contributors.ts';
import { contentsPath, type PackagesKind, packagesPath } from './index-paths.ts';
import type { ContentsChange, FileList, ListChanges } from './list-changes.ts';

/** Which Packages index of a suite. */
export interface ListName {
  readonly suite: string;
  readonly component: string;
  readonly kind: PackagesKind;
  readonly architecture: string;
}

/** A Packages index, scanned, with what is to happen to it. */
export interface PackageList extends ListName {
  readonly published: boolean;
  readonly bytes: Uint8Array;
  readonly entries: readonly IndexEntry[];
  readonly find: FindEntry;
  /** For messages. */
  readonly origin: string;
  readonly add: Arriving[];
  readonly remove: Set<IndexEntry>;
}

/** The entry of a list for one package. */
type FindEntry = (item: StanzaKey) => IndexEntry | undefined;

/** A stanza that joins a list. */
export interface Arriving extends StanzaKey {
  readonly bytes: Uint8Array;
  readonly fileList: FileList;
}

/** `published` is absent for a list that does not exist yet. */
export function openList(name: ListName, published: Uint8Array | undefined): PackageList {
  const bytes = published ?? new Uint8Array();
  const origin = `${packagesPath(name.component, name.architecture, name.kind)} of suite ${name.suite}`;
  const entries = scanStanzas(bytes, origin);
  const find = finding(entries);
  return { ...name, published: published !== undefined, bytes, entries, find, origin, add: [], remove: new Set() };
}

/**
 * By name first, whose strings are there already: a key of its own for each of a hundred thousand entries would take as long as finding them. Of
 * several entries for one package the last counts.
 */
function finding(entries: readonly IndexEntry[]): FindEntry {
  const first = new Map<string, IndexEntry>();
  const further = new Map<string, IndexEntry>();
  for (const entry of entries) {
    if (first.has(entry.package)) further.set(keyOf(entry), entry);
    else first.set(entry.package, entry);
  }
  return (item) => {
    const entry = first.get(item.package);
    if (entry === undefined) return undefined;
    const { version, architecture } = entry;
    const isFirst = version === item.version && architecture === item.architecture;
    return further.get(keyOf(item)) ?? (isFirst ? entry : undefined);
  };
}

/** Name, version and architecture: what is one package, and the same in every list. */
export function keyOf(item: StanzaKey): string {
  return `${item.package} ${item.version} ${item.architecture}`;
}

/** The stanza of a published entry, byte for byte, to join another list. */
export function arrivingCopy(from: PackageList, entry: IndexEntry): Arriving {
  const { package: name, version, architecture } = entry;
  const bytes = from.bytes.subarray(entry.start, entry.end);
  return { package: name, version, architecture, bytes, fileList: fileListOf(from, entry) };
}

/** Carries out what is to happen to the lists; one that does not change is left out, one that is new is there even if empty. */
export function closeLists(lists: readonly PackageList[], changes: ListChanges): void {
  for (const list of lists) {
    if (list.published && list.add.length === 0 && list.remove.size === 0) continue;
    const path = packagesPath(list.component, list.architecture, list.kind);
    const stanzas = list.add.map((item) => ({ package: item.package, amount: item.bytes.length }));
    changes.lists.set(path, mergeEntries(list.bytes, list.entries, list));
    changes.contributors.set(path, contributors(stanzas, 'bytes'));
    if (list.kind !== 'deb') continue;
    const change = contentsChange(list);
    const paths = list.add.map((item) => ({ package: item.package, amount: item.fileList.paths?.length ?? 0 }));
    changes.contents.push(change);
    changes.contributors.set(change.path, contributors(paths, 'paths'));
  }
}

/** A line of Contents names no version, so the versions that stay of a package that loses one are named again. */
function contentsChange(list: PackageList): ContentsChange {
  const losers = new Set([...list.remove].map((entry) => entry.package));
  const staying = list.entries.filter((entry) => losers.has(entry.package) && !list.remove.has(entry));
  return {
    path: contentsPath(list.component, list.architecture),
    add: [...list.add.map(({ fileList }) => fileList), ...staying.map((entry) => fileListOf(list, entry))],
    remove: [...list.remove].map((entry) => fileListOf(list, entry)),
  };
}

function fileListOf(from: PackageList, entry: IndexEntry): FileList {
  const { sha256 } = entryFile(from.bytes, entry, from.origin);
  return { location: contentsLocation(entryFields(from.bytes, entry)), sha256: sha256 ?? '' };
}
