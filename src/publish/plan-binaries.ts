import { contentsLocation, entryFile, packagesStanza } from '../debian/packages.ts';
import { ownPoolName, poolName } from '../debian/pool.ts';
import { conflict } from './conflict.ts';
import type { PackagesKind } from './index-paths.ts';
import { type ListChanges, noChanges, type PoolName } from './list-changes.ts';
import { arrivingCopy, closeLists, keyOf, openList, type PackageList } from './package-list.ts';
import type { PublishRequest } from './request.ts';
import type { ScannedBinary } from './scanned.ts';

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
    ...[...input.published].map(([architecture, bytes]) => openList({ ...input, architecture }, bytes)),
    ...input.created.map((architecture) => openList({ ...input, architecture }, undefined)),
  ];
  giveIndependentPackages(lists);
  const taken = new Map(input.reserved.map(({ filename, sha256 }) => [filename, sha256 ?? '']));
  for (const item of input.packages) place(item, lists, taken, input, changes);
  closeLists(lists, changes);
  return changes;
}

/** Copies the `all` stanzas of a published list, byte for byte, into the lists that are new. */
function giveIndependentPackages(lists: readonly PackageList[]): void {
  const donor = lists.find(({ published }) => published);
  const created = lists.filter(({ published }) => !published);
  if (donor === undefined || created.length === 0) return;
  for (const entry of donor.entries) {
    if (entry.architecture !== 'all') continue;
    for (const target of created) target.add.push(arrivingCopy(donor, entry));
  }
}

function place(
  item: ScannedBinary,
  lists: readonly PackageList[],
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
function freeName(
  item: ScannedBinary,
  component: string,
  lists: readonly PackageList[],
  taken: Map<string, string>,
): string {
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
