import { entryFile } from '../debian/packages.ts';
import { Problem } from '../problem.ts';
import type { PackageChange } from '../timing/record.ts';
import type { ListChanges } from './list-changes.ts';
import type { OfferedBinary, OfferedSource } from './offered.ts';
import { arrivingCopy, keyOf, type PackageList } from './package-list.ts';
import type { OnConflict } from './request.ts';
import { type SourceList, sourceFiles } from './source-list.ts';

interface Promotion {
  readonly suite: string;
  readonly from: string;
  readonly onConflict: OnConflict;
}

/** A package that is to be listed, and in what way the suite lists it already. */
interface Item extends Omit<PackageChange, 'change'> {
  /** As the suite lists it with other bytes; absent where it does not list it. */
  readonly other?: string;
}

/** Lists packages in the lists of one kind in one component; those for `all` in every one of them. */
export function promoteBinaries(
  lists: readonly PackageList[],
  offered: readonly OfferedBinary[],
  promotion: Promotion,
  changes: ListChanges,
): void {
  for (const { component, list: source, entry } of offered) {
    const file = entryFile(source.bytes, entry, source.origin);
    const { package: name, version, architecture } = entry;
    const targets = lists.filter((list) => architecture === 'all' || list.architecture === architecture);
    const [holder] = targets.filter(({ find }) => find(entry) !== undefined);
    const listed = holder?.find(entry);
    const held = holder && listed && entryFile(holder.bytes, listed, holder.origin);
    if (holder !== undefined && listed !== undefined && held?.sha256 === file.sha256) {
      // It is there; an `all` package may still lack in the list of an architecture.
      join(targets, arrivingCopy(holder, listed));
      continue;
    }
    const item = { package: name, version, architecture, component, size: file.size };
    if (!accept(held === undefined ? item : { ...item, other: held.filename }, promotion, changes)) continue;
    for (const target of targets) {
      const old = target.find(entry);
      if (old !== undefined) target.remove.add(old);
    }
    if (held !== undefined) changes.unlisted.push({ filename: held.filename, sha256: held.sha256 });
    changes.referenced.push(file.filename);
    join(targets, arrivingCopy(source, entry));
  }
}

/** Lists source packages in the Sources list of one component. */
export function promoteSources(
  list: SourceList,
  offered: readonly OfferedSource[],
  promotion: Promotion,
  changes: ListChanges,
): void {
  for (const { component, list: source, entry } of offered) {
    const { package: name, version } = entry;
    const files = sourceFiles(source.bytes, entry);
    const listed = list.entries.find((each) => each.package === name && each.version === version);
    const held = listed === undefined ? undefined : sourceFiles(list.bytes, listed);
    if (list.add.some((each) => each.package === name && each.version === version)) continue;
    if (held !== undefined && sumsOf(held) === sumsOf(files)) continue;
    const item = { package: name, version, architecture: 'source', component, size: 0 };
    const [first] = held ?? [];
    if (!accept(first === undefined ? item : { ...item, other: first.filename }, promotion, changes)) continue;
    if (listed !== undefined) list.remove.add(listed);
    list.add.push({ ...item, bytes: source.bytes.subarray(entry.start, entry.end) });
    changes.referenced.push(...files.map(({ filename }) => filename));
  }
}

/** Whether the package is to be listed; a conflict is judged as `on-conflict` says, as it is for a file. */
function accept({ other, ...item }: Item, { suite, from, onConflict }: Promotion, changes: ListChanges): boolean {
  if (other !== undefined && onConflict !== 'replace') {
    const what = `${item.package} ${item.version} (${item.architecture})`;
    if (onConflict === 'error') changes.problems.push(conflict(what, from, suite, other));
    else {
      changes.warnings.push(
        `${what} of suite ${from} was skipped: suite ${suite} already holds it with other bytes as ${other}.`,
      );
    }
    return false;
  }
  changes.packages.push({ change: other === undefined ? 'added' : 'replaced', ...item });
  return true;
}

function join(targets: readonly PackageList[], arriving: PackageList['add'][number]): void {
  const key = keyOf(arriving);
  for (const target of targets) {
    const entry = target.find(arriving);
    const stays = entry !== undefined && !target.remove.has(entry);
    if (!stays && !target.add.some((has) => keyOf(has) === key)) target.add.push(arriving);
  }
}

function sumsOf(files: readonly { readonly filename: string; readonly sha256: string }[]): string {
  return files
    .map(({ filename, sha256 }) => `${filename.slice(filename.lastIndexOf('/') + 1)} ${sha256}`)
    .sort()
    .join('\n');
}

function conflict(what: string, from: string, suite: string, other: string): Problem {
  return new Problem({
    code: 'package-conflict',
    title: 'Already published with other bytes',
    what: `${what} of suite ${from} is not what suite ${suite} already holds as ${other}.`,
    advice:
      'Publish a new version, or set `on-conflict: skip` to keep the one that is there, or `on-conflict: replace`.',
  });
}
