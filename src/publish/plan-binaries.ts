import { contentsLocation, entryFile, packagesStanza } from '../debian/packages.ts';
import { ownPoolName, poolName } from '../debian/pool.ts';
import { conflict, poolConflict } from './conflict.ts';
import type { ListChanges, TakenName } from './list-changes.ts';
import { arrivingCopy, keyOf, type PackageList } from './package-list.ts';
import type { OnConflict } from './request.ts';
import type { ScannedBinary } from './scanned.ts';

/**
 * Puts packages into the lists of one kind in one component. `all` packages stand in every architecture's list, since debootstrap,
 * reprepro and aptly never read `binary-all`.
 */
export function placeBinaries(
  lists: readonly PackageList[],
  packages: readonly ScannedBinary[],
  input: {
    readonly suite: string;
    readonly component: string;
    /** Names that the pool holds although no list of this suite does, with the hash of their bytes where it is known. */
    readonly reserved: readonly TakenName[];
    readonly onConflict: OnConflict;
  },
  changes: ListChanges,
): void {
  const taken = new Map(input.reserved.map((name) => [name.filename, name]));
  for (const item of packages) place(item, lists, taken, input, changes);
}

/**
 * An architecture that is new gets the `all` packages that the others go on to hold: stanzas copied byte for byte. Comes after everything
 * that was to happen to those.
 */
export function giveIndependentPackages(lists: readonly PackageList[]): void {
  const donor = lists.find(({ published }) => published);
  const created = lists.filter(({ published }) => !published);
  if (donor === undefined || created.length === 0) return;
  const staying = donor.entries.filter((entry) => entry.architecture === 'all' && !donor.remove.has(entry));
  for (const target of created) {
    const has = new Set(target.add.map(keyOf));
    const missing = staying.filter((entry) => !has.has(keyOf(entry)));
    target.add.push(...missing.map((entry) => arrivingCopy(donor, entry)));
  }
}

function place(
  item: ScannedBinary,
  lists: readonly PackageList[],
  taken: Map<string, TakenName>,
  input: { suite: string; component: string; onConflict: OnConflict },
  changes: ListChanges,
): void {
  const key = keyOf(item);
  const targets = lists.filter(({ architecture }) => item.architecture === 'all' || item.architecture === architecture);
  const holders = targets.filter(({ find }) => find(item) !== undefined);
  const [holder] = holders;
  const entry = holder?.find(item);
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
      const old = each.find(item);
      if (old !== undefined) each.remove.add(old);
    }
    changes.unlisted.push({ filename: listed.filename, sha256: listed.sha256 });
  }
  const name = poolName({ ...item, component: input.component, extension: item.kind });
  const elsewhere = taken.get(name)?.suites ?? [];
  if (elsewhere.length > 0 && input.onConflict !== 'replace') {
    const problem = poolConflict({ key: name, file: item.file }, elsewhere);
    if (input.onConflict === 'error') changes.problems.push(problem);
    else changes.warnings.push(`${item.file.path} was skipped: ${problem.what}`);
    return;
  }
  const filename = freeName(name, item, lists, taken);
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
  const { version, architecture } = item;
  for (const target of targets) target.add.push({ package: item.package, version, architecture, bytes, fileList });
}

/**
 * The pool never changes under a name: where the ordinary name stands for other bytes (a replaced package, or versions that
 * differ in their epoch only), the new bytes get a name of their own.
 */
function freeName(
  name: string,
  item: ScannedBinary,
  lists: readonly PackageList[],
  taken: Map<string, TakenName>,
): string {
  const { sha256 } = item.file;
  const line = Buffer.from(`\nFilename: ${name}\n`);
  const listed = lists.some(({ bytes }) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(line),
  );
  const holder = taken.get(name);
  const free = (!listed && holder === undefined) || holder?.sha256 === sha256 ? name : ownPoolName(name, sha256);
  taken.set(free, { filename: free, sha256 });
  return free;
}
