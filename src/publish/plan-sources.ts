import { poolFolder } from '../debian/pool.ts';
import { sourcesStanza } from '../debian/sources.ts';
import { conflict, poolConflict } from './conflict.ts';
import type { ListChanges, TakenName } from './list-changes.ts';
import { type ListedSource, listedSource } from './listed-source.ts';
import type { OnConflict } from './request.ts';
import type { ScannedSource } from './scanned.ts';
import type { SourceList } from './source-list.ts';

/** Puts source packages into the Sources list of one component. */
export function placeSources(
  list: SourceList,
  sources: readonly ScannedSource[],
  input: { readonly suite: string; readonly reserved: readonly TakenName[]; readonly onConflict: OnConflict },
  changes: ListChanges,
): void {
  const { bytes, entries, component } = list;
  /** Of the source packages placed so far in this run: an orig tarball may come with several of them. */
  const placed: { package: string; listed: ListedSource }[] = [];
  for (const source of sources) {
    const siblings = entries.filter((entry) => entry.package === source.package);
    const entry = siblings.find(({ version }) => version === source.version);
    const others = [
      ...siblings.map((sibling) => ({ entry: sibling, listed: listedSource(bytes, sibling) })),
      ...placed.filter((other) => other.package === source.package).map(({ listed }) => ({ entry: undefined, listed })),
    ];
    const clash = others.find(({ listed }) => differs(source, listed));
    if (clash === undefined && entry !== undefined) continue;
    if (clash !== undefined && input.onConflict !== 'replace') {
      const [dsc] = source.files;
      const filename = `${clash.listed.directory}/${nameOf(dsc?.path ?? '')}`;
      if (input.onConflict === 'error') changes.problems.push(conflict(source, input.suite, { filename }));
      else
        changes.warnings.push(
          `${dsc?.path ?? source.package} was skipped: suite ${input.suite} already holds files of that name with other bytes.`,
        );
      continue;
    }
    const folder = poolFolder(component, source.package);
    const held = heldOtherwise(source, folder, input.reserved);
    const elsewhere = held.find(({ suites }) => suites.length > 0);
    if (elsewhere !== undefined && input.onConflict !== 'replace') {
      const problem = poolConflict(elsewhere, elsewhere.suites);
      if (input.onConflict === 'error') changes.problems.push(problem);
      else changes.warnings.push(`${source.files[0]?.path ?? source.package} was skipped: ${problem.what}`);
      continue;
    }
    if (entry !== undefined) list.remove.add(entry);
    const directory =
      clash === undefined && held.length === 0 ? folder : `${folder}/${source.files[0]?.sha256.slice(0, 8) ?? ''}`;
    const files = source.files.map((file) => ({ ...file, name: nameOf(file.path) }));
    for (const file of files) changes.poolFiles.push({ key: `${directory}/${file.name}`, file });
    list.add.push({
      package: source.package,
      version: source.version,
      architecture: 'source',
      bytes: sourcesStanza({ control: source.control, directory, files }),
    });
    placed.push({
      package: source.package,
      listed: { directory, files: new Map(files.map(({ name, sha256 }) => [name, sha256])) },
    });
    changes.packages.push({
      change: entry === undefined ? 'added' : 'replaced',
      package: source.package,
      version: source.version,
      architecture: 'source',
      component,
      size: files.reduce((sum, { size }) => sum + size, 0),
    });
  }
}

/** Its files whose names in this folder stand for other bytes, and the suites that list those. */
function heldOtherwise(source: ScannedSource, folder: string, reserved: readonly TakenName[]) {
  return source.files.flatMap((file) => {
    const key = `${folder}/${nameOf(file.path)}`;
    const holder = reserved.find(({ filename }) => filename === key);
    const differs = holder?.sha256 === undefined ? holder?.suites !== undefined : holder.sha256 !== file.sha256;
    return differs ? [{ key, file, suites: holder?.suites ?? [] }] : [];
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Whether a file of this name is already published with other bytes. */
function differs(source: ScannedSource, listed: ListedSource): boolean {
  return source.files.some(({ path, sha256 }) => (listed.files.get(nameOf(path)) ?? sha256) !== sha256);
}
