import { packagesPath, sourcesPath } from './index-paths.ts';
import { gathered, noChanges, type SuitePlan, type TakenName } from './list-changes.ts';
import { closeLists, openList, type PackageList } from './package-list.ts';
import { giveIndependentPackages, placeBinaries } from './plan-binaries.ts';
import { placeSources } from './plan-sources.ts';
import type { OnConflict } from './request.ts';
import { type Retention, retain } from './retention.ts';
import type { ListGroup, Shape } from './shape.ts';
import { closeSources, openSources } from './source-list.ts';

/**
 * Merges what comes in with what is published. Pure: the same arguments give the same bytes. Conflicts are collected rather than
 * thrown, so that all suites of a run can be judged together.
 *
 * `indexes` has every index that the shape and the retention need, uncompressed, by path without form.
 */
export function planSuite(input: {
  suite: string;
  shape: Shape;
  indexes: ReadonlyMap<string, Uint8Array>;
  reserved: readonly TakenName[];
  onConflict: OnConflict;
  /** Absent when no version is to leave for others. */
  retention?: Retention;
}): SuitePlan {
  const { suite, shape, indexes, retention } = input;
  const changes = noChanges();
  const groups = shape.lists.map((group) => ({ group, lists: openGroup(suite, group, indexes) }));
  for (const { group, lists } of groups) {
    placeBinaries(lists, group.packages, { ...input, component: group.component }, changes);
  }
  const incoming = [...shape.sources, ...(retention?.incoming ?? [])].map(({ component }) => component);
  const sources = [...new Set(incoming)].map((component) =>
    openSources(suite, component, indexes.get(sourcesPath(component))),
  );
  for (const list of sources) {
    const arriving = shape.sources.filter(({ component }) => component === list.component);
    for (const each of arriving) placeSources(list, each.sources, input, changes);
  }
  const lists = groups.flatMap((group) => group.lists);
  if (retention !== undefined) retain(retention, { suite, indexes, lists, sources }, changes);
  for (const group of groups) giveIndependentPackages(group.lists);
  closeLists(lists, changes);
  closeSources(sources, changes);
  return gathered([changes], shape.contents);
}

function openGroup(
  suite: string,
  { component, kind, read, created }: ListGroup,
  indexes: ReadonlyMap<string, Uint8Array>,
): PackageList[] {
  const open = (architecture: string, bytes: Uint8Array | undefined) =>
    openList({ suite, component, kind, architecture }, bytes);
  return [
    ...read.map((architecture) =>
      open(architecture, indexes.get(packagesPath(component, architecture, kind)) ?? new Uint8Array()),
    ),
    ...created.map((architecture) => open(architecture, undefined)),
  ];
}
