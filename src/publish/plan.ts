import type { Problem } from '../problem.ts';
import type { IndexContributor, PackageChange } from '../timing/record.ts';
import { packagesPath, sourcesPath } from './index-paths.ts';
import { type ContentsChange, type ListChanges, type PoolFile, type PoolName, planBinaries } from './plan-binaries.ts';
import { planSources } from './plan-sources.ts';
import type { PublishRequest } from './request.ts';
import type { Shape } from './shape.ts';

/** Everything a suite's change comes to, judged before anything is written. */
export interface SuitePlan {
  /** New content of the indexes that change, uncompressed, by path without form. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  readonly poolFiles: readonly PoolFile[];
  readonly unlisted: readonly PoolName[];
  /** For a suite that has Contents; merged in the index phase, since it may need file lists from the store. */
  readonly contents: readonly ContentsChange[];
  /** Who brings most into each index that changes, by path without form. */
  readonly contributors: ReadonlyMap<string, readonly IndexContributor[]>;
  readonly packages: readonly PackageChange[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * Merges what comes in with what is published. Pure: the same arguments give the same bytes. Conflicts are collected rather than
 * thrown, so that all suites of a run can be judged together.
 *
 * `indexes` has every index that the shape needs, uncompressed, by path without form.
 */
export function planSuite(input: {
  suite: string;
  shape: Shape;
  indexes: ReadonlyMap<string, Uint8Array>;
  reserved: readonly PoolName[];
  onConflict: PublishRequest['onConflict'];
}): SuitePlan {
  const { suite, shape, indexes, reserved, onConflict } = input;
  const changes: ListChanges[] = [];
  for (const { component, kind, packages, read, created } of shape.lists) {
    const published = new Map<string, Uint8Array>();
    for (const architecture of read) {
      published.set(architecture, indexes.get(packagesPath(component, architecture, kind)) ?? new Uint8Array());
    }
    changes.push(planBinaries({ suite, component, kind, published, created, packages, reserved, onConflict }));
  }
  for (const { component, sources } of shape.sources) {
    const published = indexes.get(sourcesPath(component));
    changes.push(planSources({ suite, component, published, sources, onConflict }));
  }
  return {
    lists: new Map(changes.flatMap(({ lists }) => [...lists])),
    poolFiles: changes.flatMap(({ poolFiles }) => poolFiles),
    unlisted: changes.flatMap(({ unlisted }) => unlisted),
    contents: shape.contents ? changes.flatMap(({ contents }) => contents) : [],
    contributors: new Map(changes.flatMap(({ contributors }) => [...contributors])),
    packages: changes.flatMap(({ packages }) => packages),
    problems: changes.flatMap(({ problems }) => problems),
    warnings: changes.flatMap(({ warnings }) => warnings),
  };
}
