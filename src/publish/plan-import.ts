import { entryFile } from '../debian/packages.ts';
import type { IndexEntry } from '../debian/stanza-index.ts';
import { Problem } from '../problem.ts';
import type { ForeignIndex } from './foreign-indexes.ts';
import type { ImportedFiles } from './imported-files.ts';
import { namesPoolFiles, type PackagesKind, packagesPath, sourcesPath } from './index-paths.ts';
import { gathered, type ListChanges, noChanges, type SuitePlan } from './list-changes.ts';
import { sourcePoolFiles } from './listed-source.ts';
import { type Arriving, arrivingCopy, closeLists, keyOf, openList, type PackageList } from './package-list.ts';
import { giveIndependentPackages } from './plan-binaries.ts';
import type { OnConflict } from './request.ts';
import type { PublishedShape } from './shape.ts';
import { closeSources, openSources, type SourceList } from './source-list.ts';

/** An import into one suite, as far as it is known before it is planned. */
export interface Importing {
  readonly suite: string;
  readonly has: PublishedShape;
  /** Of the suite after it. */
  readonly architectures: readonly string[];
  readonly components: readonly string[];
  /** Whether the suite keeps Contents of its own. */
  readonly contents: boolean;
  readonly onConflict: OnConflict;
  /** Indexes of the suite, and those that are imported: uncompressed, by path without form. */
  readonly own: ReadonlyMap<string, Uint8Array>;
  readonly foreign: ReadonlyMap<string, Uint8Array>;
  /** What the imported ones are about. */
  readonly indexes: readonly ForeignIndex[];
}

/**
 * Puts every package of the imported lists into the lists of the suite. Stanzas are carried byte for byte, and the work is proportional to
 * their number: a suite of a hundred thousand packages is imported like one of ten. Packages for all that the other tool has kept in a list
 * apart, or in some lists only, are in every list afterwards.
 */
export function planImport(importing: Importing, files: ImportedFiles): SuitePlan {
  const changes = noChanges();
  for (const component of importing.components) {
    for (const kind of ['deb', 'udeb'] as const) importBinaries(importing, component, kind, files, changes);
    importSources(importing, component, files, changes);
  }
  takeOthers(importing, changes);
  changes.poolFiles.push(...files.all);
  return gathered([changes], importing.contents);
}

function importBinaries(
  { suite, has, architectures, own, foreign, indexes, onConflict }: Importing,
  component: string,
  kind: PackagesKind,
  files: ImportedFiles,
  changes: ListChanges,
): void {
  const exists = (architecture: string) => has.indexes.has(packagesPath(component, architecture, kind));
  const imported = indexes.flatMap(({ component: of, architecture, path }) =>
    of === component && architecture !== undefined && path === packagesPath(component, architecture, kind)
      ? [openList({ suite, component, kind, architecture }, foreign.get(path))]
      : [],
  );
  if (kind === 'udeb' && imported.length === 0 && !architectures.some(exists)) return;
  const lists = architectures.map((architecture) => {
    const bytes = own.get(packagesPath(component, architecture, kind));
    return openList({ suite, component, kind, architecture }, exists(architecture) ? bytes : undefined);
  });
  const judge = new Judge(onConflict, changes, component);
  const independent = entriesOf(imported, (entry) => entry.architecture === 'all');
  for (const list of lists) {
    const belonging = imported.filter(({ architecture }) => architecture === list.architecture);
    const offered = new Map([...entriesOf(belonging, (entry) => entry.architecture !== 'all'), ...independent]);
    for (const [key, { from, entry }] of offered) {
      const file = entryFile(from.bytes, entry, from.origin);
      const held = list.find(entry);
      const listed = held && entryFile(list.bytes, held, list.origin);
      if (listed !== undefined && listed.sha256 === file.sha256) continue;
      const item = { ...entry, origin: from.origin, size: file.size };
      if (!judge.accepts(key, item, listed)) continue;
      if (held !== undefined) list.remove.add(held);
      files.add(file, from.origin);
      list.add.push(arrivingCopy(from, entry));
    }
  }
  giveIndependentPackages(lists);
  closeLists(lists, changes);
}

interface Offered {
  readonly from: PackageList;
  readonly entry: IndexEntry;
}

/** By key. Of several with one key the first counts, as for apt; with other bytes in another list nobody can tell which is meant. */
function entriesOf(lists: readonly PackageList[], wanted: (entry: IndexEntry) => boolean): Map<string, Offered> {
  const found = new Map<string, Offered>();
  for (const from of lists) {
    for (const entry of from.entries.filter(wanted)) {
      requirePlainText(from, entry);
      const key = keyOf(entry);
      const earlier = found.get(key);
      if (earlier === undefined) found.set(key, { from, entry });
      else if (earlier.from !== from && sha256Of(earlier) !== sha256Of({ from, entry }))
        throw contradiction(earlier, from);
    }
  }
  return found;
}

function sha256Of({ from, entry }: Offered): string | undefined {
  return entryFile(from.bytes, entry, from.origin).sha256;
}

function importSources(
  { suite, own, foreign, onConflict }: Importing,
  component: string,
  files: ImportedFiles,
  changes: ListChanges,
): void {
  const bytes = foreign.get(sourcesPath(component));
  if (bytes === undefined) return;
  const from = openSources(suite, component, bytes);
  const list = openSources(suite, component, own.get(sourcesPath(component)));
  const origin = `${sourcesPath(component)} of suite ${suite}`;
  const judge = new Judge(onConflict, changes, component);
  const present = new Map(list.entries.map((entry) => [sourceKey(entry), entry]));
  const taken = new Set<string>();
  for (const entry of from.entries) {
    const key = sourceKey(entry);
    if (taken.has(key)) continue;
    taken.add(key);
    requirePlainText({ origin }, entry);
    const arriving = sourcePoolFiles(from.bytes, entry);
    const held = present.get(key);
    const [first] = held === undefined ? [] : sourcePoolFiles(list.bytes, held);
    if (held !== undefined && sumsOf(list, held) === sumsOf(from, entry)) continue;
    const size = arriving.reduce((sum, file) => sum + file.size, 0);
    const item = { package: entry.package, version: entry.version, architecture: 'source', origin, size };
    if (!judge.accepts(key, item, first)) continue;
    if (held !== undefined) list.remove.add(held);
    for (const file of arriving) files.add(file, origin);
    list.add.push({ ...item, bytes: from.bytes.subarray(entry.start, entry.end) });
  }
  closeSources([list], changes);
}

function sourceKey({ package: name, version }: IndexEntry): string {
  return `${name} ${version}`;
}

function sumsOf({ bytes }: SourceList, entry: IndexEntry): string {
  return sourcePoolFiles(bytes, entry)
    .map(({ filename, sha256 }) => `${filename.slice(filename.lastIndexOf('/') + 1)} ${sha256}`)
    .sort()
    .join('\n');
}

/** Translations and Contents, as they are: into a suite that has none of its own. */
function takeOthers({ has, foreign }: Importing, changes: ListChanges): void {
  for (const [path, bytes] of foreign) {
    if (namesPoolFiles(path)) continue;
    if (!has.indexes.has(path)) changes.lists.set(path, bytes);
    else changes.warnings.push(`${path} was not imported, since the suite has one of its own.`);
  }
}

/** Decides once about each package, in however many lists it stands, and tells of it. */
class Judge {
  readonly #onConflict: OnConflict;
  readonly #changes: ListChanges;
  readonly #component: string;
  readonly #decided = new Map<string, boolean>();

  constructor(onConflict: OnConflict, changes: ListChanges, component: string) {
    this.#onConflict = onConflict;
    this.#changes = changes;
    this.#component = component;
  }

  accepts(
    key: string,
    item: Omit<Arriving, 'bytes' | 'fileList'> & { readonly origin: string; readonly size: number },
    listed: { readonly filename: string; readonly sha256?: string | undefined } | undefined,
  ): boolean {
    const decided = this.#decided.get(key);
    if (decided !== undefined) return decided;
    const accepted = listed === undefined || this.#onConflict === 'replace';
    this.#decided.set(key, accepted);
    const { package: name, version, architecture, origin, size } = item;
    const what = `${name} ${version} (${architecture})`;
    if (accepted) {
      const change = listed === undefined ? 'added' : 'replaced';
      const component = this.#component;
      this.#changes.packages.push({ change, package: name, version, architecture, component, size });
      if (listed !== undefined && architecture !== 'source') {
        this.#changes.unlisted.push({ filename: listed.filename, sha256: listed.sha256 });
      }
    } else if (this.#onConflict === 'error') this.#changes.problems.push(conflict(what, origin, listed.filename));
    else
      this.#changes.warnings.push(
        `${what} was not imported: the suite holds it with other bytes as ${listed.filename}.`,
      );
    return accepted;
  }
}

/** Names go into records and reports; scanned packages have been checked for more than this. */
function requirePlainText({ origin }: Pick<PackageList, 'origin'>, entry: IndexEntry): void {
  const { package: name, version, architecture } = entry;
  if (!/[\p{C}\s]/u.test(`${name}${version}`) && name.length + version.length + architecture.length < 512) return;
  throw new Problem({
    code: 'import-entry',
    title: 'A package cannot be imported',
    what: `${JSON.stringify(name.slice(0, 100))} ${JSON.stringify(version.slice(0, 100))} in ${origin} is no name and version of a package.`,
    advice: 'Take it out of that repository, or leave its component or architecture out of the import.',
  });
}

function contradiction({ from: earlier, entry }: Offered, other: PackageList): Problem {
  return new Problem({
    code: 'package-twice',
    title: 'Two packages would be the same one',
    what: `${entry.package} ${entry.version} (${entry.architecture}) has other bytes in ${earlier.origin} than in ${other.origin}.`,
    advice: 'Have that repository put right, or import only one of these architectures.',
  });
}

function conflict(what: string, origin: string, held: string): Problem {
  return new Problem({
    code: 'package-conflict',
    title: 'Already published with other bytes',
    what: `${what} in ${origin}, as it is to be imported, is not what the suite already holds as ${held}.`,
    advice: 'Set `on-conflict: skip` to keep what is there, or `on-conflict: replace`.',
  });
}
