import { contentsLocation, entryFile, packagesStanza } from '../debian/packages.ts';
import { ownPoolName, poolName } from '../debian/pool.ts';
import { entryFields, type IndexEntry, mergeEntries, type StanzaKey, scanStanzas } from '../debian/stanza-index.ts';
import type { Problem } from '../problem.ts';
import type { IndexContributor, PackageChange } from '../timing/record.ts';
import { conflict } from './conflict.ts';
import { contributors } from './contributors.ts';
import { contentsPath, type PackagesKind, packagesPath } from './index-paths.ts';
import type { PublishRequest } from './request.ts';
import type { ScannedBinary, ScannedFile } from './scanned.ts';

/** A file that the pool must hold before the claim. */
export interface PoolFile {
  /** Key and `Filename` alike. */
  readonly key: string;
  readonly file: ScannedFile;
}

/** A name in the pool with the hash of its bytes, where an index told it. */
export interface PoolName {
  readonly filename: string;
  readonly sha256?: string | undefined;
}

/** The file list of one package, by the hash of its .deb; `paths` when this run has read it itself. */
export interface FileList {
  readonly location: string;
  readonly sha256: string;
  readonly paths?: readonly string[] | undefined;
}

/** What happens to one Contents index. What is both removed and added stays. */
export interface ContentsChange {
  readonly path: string;
  readonly add: readonly FileList[];
  readonly remove: readonly FileList[];
}

/** What a change of some lists comes to. */
export interface ListChanges {
  /** Uncompressed, by path without form; only those that differ from the published ones or are new. */
  readonly lists: Map<string, Uint8Array>;
  readonly poolFiles: PoolFile[];
  /** Pool files that the changed lists no longer hold. */
  readonly unlisted: PoolName[];
  readonly contents: ContentsChange[];
  /** Who brings most into each list and Contents index, by path without form. */
  readonly contributors: Map<string, readonly IndexContributor[]>;
  readonly packages: PackageChange[];
  readonly problems: Problem[];
  readonly warnings: string[];
}

export function noChanges(): ListChanges {
  return {
    lists: new Map(),
    poolFiles: [],
    unlisted: [],
    contents: [],
    contributors: new Map(),
    packages: [],
    problems: [],
    warnings: [],
  };
}

/** One published Packages list, scanned. */
interface List {
  readonly architecture: string;
  readonly published: boolean;
  readonly bytes: Uint8Array;
  readonly entries: readonly IndexEntry[];
  readonly byKey: ReadonlyMap<string, IndexEntry>;
  readonly origin: string;
  readonly add: Arriving[];
  readonly remove: Set<IndexEntry>;
}

interface Arriving extends StanzaKey {
  readonly bytes: Uint8Array;
  readonly fileList: FileList;
}

/**
 * Puts packages into the lists of one component. `all` packages stand in every architecture's list, since debootstrap,
 * reprepro and aptly never read `binary-all`; an architecture that is new gets those that the others hold already.
 *
 * `published` has the lists that were read, by architecture; `created` names the architectures that have no list yet.
 */
export function planBinaries(input: {
  suite: string;
  component: string;
  kind: PackagesKind;
  published: ReadonlyMap<string, Uint8Array>;
  created: readonly string[];
  packages: readonly ScannedBinary[];
  /** Names that the pool still holds although no list does, with the hash of their bytes. */
  reserved: readonly PoolName[];
  onConflict: PublishRequest['onConflict'];
}): ListChanges {
  const changes = noChanges();
  const lists = [
    ...[...input.published].map(([architecture, bytes]) => list(input, architecture, bytes)),
    ...input.created.map((architecture) => list(input, architecture, undefined)),
  ];
  giveIndependentPackages(lists);
  const taken = new Map(input.reserved.map(({ filename, sha256 }) => [filename, sha256 ?? '']));
  for (const item of input.packages) place(item, lists, taken, input, changes);
  for (const each of lists) {
    if (each.published && each.add.length === 0 && each.remove.size === 0) continue;
    const path = packagesPath(input.component, each.architecture, input.kind);
    const stanzas = each.add.map((item) => ({ package: item.package, amount: item.bytes.length }));
    changes.lists.set(path, merged(each));
    changes.contributors.set(path, contributors(stanzas, 'bytes'));
    if (input.kind !== 'deb') continue;
    const change = contentsChange(input.component, each);
    const paths = each.add.map((item) => ({ package: item.package, amount: item.fileList.paths?.length ?? 0 }));
    changes.contents.push(change);
    changes.contributors.set(change.path, contributors(paths, 'paths'));
  }
  return changes;
}

function list(
  input: { suite: string; component: string; kind: PackagesKind },
  architecture: string,
  published: Uint8Array | undefined,
): List {
  const bytes = published ?? new Uint8Array();
  const origin = `${packagesPath(input.component, architecture, input.kind)} of suite ${input.suite}`;
  const entries = scanStanzas(bytes, origin);
  const byKey = new Map(entries.map((entry) => [keyOf(entry), entry]));
  return {
    architecture,
    published: published !== undefined,
    bytes,
    entries,
    byKey,
    origin,
    add: [],
    remove: new Set(),
  };
}

function merged({ bytes, entries, add, remove }: List): Uint8Array {
  return mergeEntries(bytes, entries, { add, remove });
}

/** A line of Contents names no version, so the versions that stay of a package that loses one are named again. */
function contentsChange(component: string, each: List): ContentsChange {
  const losers = new Set([...each.remove].map((entry) => entry.package));
  const staying = each.entries.filter((entry) => losers.has(entry.package) && !each.remove.has(entry));
  return {
    path: contentsPath(component, each.architecture),
    add: [...each.add.map(({ fileList }) => fileList), ...staying.map((entry) => fileListOf(each, entry))],
    remove: [...each.remove].map((entry) => fileListOf(each, entry)),
  };
}

function fileListOf(from: List, entry: IndexEntry): FileList {
  const { sha256 } = entryFile(from.bytes, entry, from.origin);
  return { location: contentsLocation(entryFields(from.bytes, entry)), sha256: sha256 ?? '' };
}

function keyOf(item: StanzaKey): string {
  return `${item.package} ${item.version} ${item.architecture}`;
}

/** Copies the `all` stanzas of a published list, byte for byte, into the lists that are new. */
function giveIndependentPackages(lists: readonly List[]): void {
  const donor = lists.find(({ published }) => published);
  const created = lists.filter(({ published }) => !published);
  if (donor === undefined || created.length === 0) return;
  for (const entry of donor.entries) {
    if (entry.architecture !== 'all') continue;
    for (const target of created) target.add.push(arrivingCopy(donor, entry));
  }
}

function arrivingCopy(from: List, entry: IndexEntry): Arriving {
  const { package: name, version, architecture } = entry;
  const bytes = from.bytes.subarray(entry.start, entry.end);
  return { package: name, version, architecture, bytes, fileList: fileListOf(from, entry) };
}

function place(
  item: ScannedBinary,
  lists: readonly List[],
  taken: Map<string, string>,
  input: { suite: string; component: string; onConflict: PublishRequest['onConflict'] },
  changes: ListChanges,
): void {
  const key = keyOf(item);
  const targets = lists.filter(({ architecture }) => item.architecture === 'all' || item.architecture === architecture);
  const holders = targets.filter(({ byKey }) => byKey.has(key));
  const [holder] = holders;
  const entry = holder?.byKey.get(key);
  if (holder !== undefined && entry !== undefined) {
    const listed = entryFile(holder.bytes, entry, holder.origin);
    if (listed.sha256 === item.file.sha256) {
      const missing = targets.filter(
        (target) => !holders.includes(target) && !target.add.some((has) => keyOf(has) === key),
      );
      for (const target of missing) target.add.push(arrivingCopy(holder, entry));
      return;
    }
    if (input.onConflict === 'error') {
      changes.problems.push(conflict(item, input.suite, listed));
      return;
    }
    if (input.onConflict === 'skip') {
      changes.warnings.push(
        `${item.file.path} was skipped: suite ${input.suite} already holds ${item.package} ${item.version} (${item.architecture}) with other bytes.`,
      );
      return;
    }
    for (const each of holders) {
      const old = each.byKey.get(key);
      if (old !== undefined) each.remove.add(old);
    }
    changes.unlisted.push({ filename: listed.filename, sha256: listed.sha256 });
  }
  const filename = freeName(item, input.component, lists, taken);
  changes.poolFiles.push({ key: filename, file: item.file });
  changes.packages.push({
    change: entry === undefined ? 'added' : 'replaced',
    package: item.package,
    version: item.version,
    architecture: item.architecture,
    component: input.component,
    size: item.file.size,
  });
  const { size, md5, sha256 } = item.file;
  const bytes = packagesStanza({ control: item.control, filename, size, md5, sha256 });
  const fileList = { location: contentsLocation(item.control), sha256, paths: item.contents };
  const { package: name, version, architecture } = item;
  for (const target of targets) target.add.push({ package: name, version, architecture, bytes, fileList });
}

/**
 * The pool never changes under a name: where the ordinary name stands for other bytes (a replaced package, or versions that
 * differ in their epoch only), the new bytes get a name of their own.
 */
function freeName(item: ScannedBinary, component: string, lists: readonly List[], taken: Map<string, string>): string {
  const { sha256 } = item.file;
  const name = poolName({ ...item, component, extension: item.kind });
  const line = Buffer.from(`\nFilename: ${name}\n`);
  const listed = lists.some(({ bytes }) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(line),
  );
  const holder = taken.get(name);
  const free = (!listed && holder === undefined) || holder === sha256 ? name : ownPoolName(name, sha256);
  taken.set(free, sha256);
  return free;
}
