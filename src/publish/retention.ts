import { entryFile } from '../debian/packages.ts';
import type { ExactRelation } from '../debian/relations.ts';
import type { IndexEntry } from '../debian/stanza-index.ts';
import { compareVersions } from '../debian/version.ts';
import { dependantsOf, isNamed, requiredSources } from './dependants.ts';
import { type PackagesKind, packagesPath, sourcesPath } from './index-paths.ts';
import type { ListChanges } from './list-changes.ts';
import { keyOf, openList, type PackageList } from './package-list.ts';
import type { PublishRequest } from './request.ts';
import type { ScannedBinary, ScannedSource } from './scanned.ts';
import type { Incoming, PublishedShape } from './shape.ts';
import type { SourceList } from './source-list.ts';
import type { SuiteRecord } from './suite-record.ts';
import { supersededSince, versionName } from './superseded.ts';

/**
 * Which versions leave when newer ones come. It is about the packages that this run brings and about no others, so that its work
 * grows with the change:
 * - Of each name and architecture, in each list, the newest versions by Debian's order stay, `keepVersions` of them.
 * - What this run brings stays, however old: nobody publishes a package to see it removed.
 * - What a staying package of the same architecture's lists wants in exactly this version (Depends, Pre-Depends and Recommends with
 *   `(= …)`, by name or as something it Provides) stays.
 * - Of each source package the newest versions stay too, and every one that a listed binary was built from or was Built-Using: a binary
 *   is never listed without the source that it was published with.
 *
 * - With `keepDays`, so does what newer versions have followed for less than so many days. The record tells since when; of a version that it
 *   does not know, the days begin now. Moments at which packages came stand nowhere, and the ages of objects say nothing.
 */
export interface Retention {
  /** At least 1. */
  readonly keepVersions: number;
  /** Absent where the number alone counts. */
  readonly age?: {
    /** Since when newer versions follow, milliseconds since the epoch, by `versionName`. */
    readonly since: ReadonlyMap<string, number>;
    /** What newer ones have followed since this moment, or earlier, need not stay. */
    readonly until: number;
  };
  readonly has: PublishedShape;
  readonly incoming: readonly Incoming[];
}

const kinds: readonly PackagesKind[] = ['deb', 'udeb'];

/** The retention that a publish asks for; undefined when every version stays. */
export function retentionOf(
  { keepVersions, keepDays }: Pick<PublishRequest, 'keepVersions' | 'keepDays'>,
  {
    superseded,
    now,
    ...about
  }: Pick<Retention, 'has' | 'incoming'> & { readonly superseded: SuiteRecord['superseded']; readonly now: number },
): Retention | undefined {
  if (keepVersions === undefined && keepDays === undefined) return undefined;
  const newest = { ...about, keepVersions: keepVersions ?? 1 };
  if (keepDays === undefined) return newest;
  return { ...newest, age: { since: supersededSince(superseded), until: now - keepDays * 24 * 3_600_000 } };
}

/** The published indexes that have to be read to judge what may leave, without form: lists of other components may hold dependants. */
export function retentionReads({ has, incoming }: Retention): string[] {
  const components = incoming.map(({ component }) => component);
  const binaries = incoming.flatMap(({ packages }) => packages).filter((item) => item.kind !== 'source');
  const sources = incoming.some(
    ({ component, packages }) =>
      has.indexes.has(sourcesPath(component)) || packages.some(({ kind }) => kind === 'source'),
  );
  const everywhere = sources || binaries.some(({ architecture }) => architecture === 'all');
  const architectures = has.architectures.filter(
    (own) => everywhere || binaries.some(({ architecture }) => architecture === own),
  );
  return [
    ...components.map(sourcesPath),
    ...has.components.flatMap((component) =>
      architectures.flatMap((architecture) => kinds.map((kind) => packagesPath(component, architecture, kind))),
    ),
  ];
}

/** Marks what is to leave in lists into which everything that comes in has been placed already. */
export function retain(
  retention: Retention,
  scene: {
    readonly suite: string;
    readonly indexes: ReadonlyMap<string, Uint8Array>;
    readonly lists: readonly PackageList[];
    readonly sources: readonly SourceList[];
  },
  changes: ListChanges,
): void {
  const all = [...scene.lists, ...otherLists(retention.has, scene)];
  for (const leaving of leavingBinaries(retention, scene.lists, all, changes).values()) {
    const [first] = leaving;
    if (first === undefined) continue;
    for (const { list, entry } of leaving) list.remove.add(entry);
    const { list, entry } = first;
    const { filename, sha256, size } = entryFile(list.bytes, entry, list.origin);
    changes.unlisted.push({ filename, sha256 });
    changes.packages.push(removal(entry, entry.architecture, list.component, size));
  }
  for (const list of scene.sources) retainSources(retention, list, all, changes);
}

interface Placed {
  readonly list: PackageList;
  readonly entry: IndexEntry;
}

/** By package: an `all` package leaves every list or none, so that its file is unlisted when it has left. */
function leavingBinaries(
  retention: Retention,
  lists: readonly PackageList[],
  all: readonly PackageList[],
  changes: ListChanges,
): Map<string, Placed[]> {
  const { incoming } = retention;
  const binaries = incoming.flatMap(({ component, packages }) =>
    packages.filter((item) => item.kind !== 'source').map((item) => ({ component, item })),
  );
  const leaving = new Map<string, Placed[]>();
  for (const list of lists) {
    const own = binaries.filter(({ component, item }) => component === list.component && kindOf(item) === list.kind);
    const brought = new Set(own.map(({ item }) => keyOf(item)));
    const groups = new Map(own.map(({ item }) => [`${item.package} ${item.architecture}`, item]));
    for (const { package: name, architecture } of groups.values()) {
      const isOf = (item: { package: string; architecture: string }) =>
        item.package === name && item.architecture === architecture;
      const staying = list.entries.filter((entry) => isOf(entry) && !list.remove.has(entry));
      const versions = [...staying, ...list.add.filter(isOf)].map(({ version }) => version);
      const beyond = dispensable(
        retention,
        { component: list.component, architecture, package: name },
        versions,
        changes,
      );
      for (const entry of staying.filter((each) => beyond.has(each.version) && !brought.has(keyOf(each)))) {
        const key = `${list.component} ${list.kind} ${keyOf(entry)}`;
        leaving.set(key, [...(leaving.get(key) ?? []), { list, entry }]);
      }
    }
  }
  for (const [key, placed] of leaving) {
    const [first] = placed;
    const holders = lists.filter(
      (list) =>
        first !== undefined &&
        list.component === first.list.component &&
        list.kind === first.list.kind &&
        list.find(first.entry) !== undefined,
    );
    if (holders.length > placed.length) leaving.delete(key);
  }
  keepWanted(leaving, all);
  return leaving;
}

/** What a staying package wants stays, and what that one wants too, until nothing changes any more. */
function keepWanted(leaving: Map<string, Placed[]>, all: readonly PackageList[]): void {
  if (leaving.size === 0) return;
  const dependants = dependantsOf([...leaving.values()].flat(), all);
  for (let before = -1; before !== leaving.size; ) {
    before = leaving.size;
    const gone = new Set([...leaving.values()].flat().map(({ entry }) => entry));
    for (const [key, placed] of leaving) {
      const wanted = placed.some(({ list, entry }) =>
        dependants.some(
          (other) =>
            other.architecture === list.architecture &&
            (other.entry === undefined || !gone.has(other.entry)) &&
            isNamed(list, entry, other.wants),
        ),
      );
      if (wanted) leaving.delete(key);
    }
  }
}

function retainSources(
  retention: Retention,
  list: SourceList,
  binaries: readonly PackageList[],
  changes: ListChanges,
): void {
  const packages = retention.incoming
    .filter(({ component }) => component === list.component)
    .flatMap((each) => each.packages);
  const brought = new Set(packages.filter(isSource).map((source) => `${source.package} ${source.version}`));
  for (const name of new Set(packages.map((item) => (item.kind === 'source' ? item.package : item.source)))) {
    const staying = list.entries.filter((entry) => entry.package === name && !list.remove.has(entry));
    const versions = [...staying, ...list.add.filter((source) => source.package === name)].map(
      ({ version }) => version,
    );
    const about = { component: list.component, architecture: 'source', package: name };
    const beyond = dispensable(retention, about, versions, changes);
    const old = staying.filter((entry) => beyond.has(entry.version) && !brought.has(`${name} ${entry.version}`));
    if (old.length === 0) continue;
    const required = requiredSources(name, binaries);
    for (const entry of old.filter(({ version }) => !required.some((other) => sameVersion(other, version)))) {
      list.remove.add(entry);
      changes.packages.push(removal(entry, 'source', list.component, 0));
    }
  }
}

/** The versions of one package that may leave by number and age. Notes those that newer ones follow. */
function dispensable(
  { keepVersions, age }: Retention,
  about: Omit<Parameters<typeof versionName>[0], 'version'>,
  versions: readonly string[],
  changes: ListChanges,
): Set<string> {
  const newestFirst = [...new Set(versions)].sort((a, b) => compareVersions(b, a));
  const beyond = newestFirst.slice(keepVersions);
  if (age === undefined) return new Set(beyond);
  const nameOf = (version: string) => versionName({ ...about, version });
  changes.superseded.push(...newestFirst.slice(1).map(nameOf));
  return new Set(beyond.filter((version) => (age.since.get(nameOf(version)) ?? Number.POSITIVE_INFINITY) <= age.until));
}

function otherLists(
  has: PublishedShape,
  scene: { suite: string; indexes: ReadonlyMap<string, Uint8Array>; lists: readonly PackageList[] },
): PackageList[] {
  const open = new Set(scene.lists.map((list) => packagesPath(list.component, list.architecture, list.kind)));
  return has.components.flatMap((component) =>
    has.architectures.flatMap((architecture) =>
      kinds.flatMap((kind) => {
        const path = packagesPath(component, architecture, kind);
        const bytes = scene.indexes.get(path);
        if (bytes === undefined || open.has(path)) return [];
        return [openList({ suite: scene.suite, component, kind, architecture }, bytes)];
      }),
    ),
  );
}

function removal(entry: IndexEntry, architecture: string, component: string, size: number) {
  const { package: name, version } = entry;
  return { change: 'removed', reason: 'retention', package: name, version, architecture, component, size } as const;
}

function sameVersion(relation: ExactRelation, version: string): boolean {
  return compareVersions(relation.version, version) === 0;
}

function kindOf(item: ScannedBinary): PackagesKind {
  return item.kind === 'udeb' ? 'udeb' : 'deb';
}

function isSource(item: { readonly kind: string }): item is ScannedSource {
  return item.kind === 'source';
}
