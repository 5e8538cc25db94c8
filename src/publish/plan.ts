import { packagesPath, sourcesPath } from './index-paths.ts';
import { gathered, type ListChanges, type PoolName, type SuitePlan } from './list-changes.ts';
import { planBinaries } from './plan-binaries.ts';
import { planSources } from './plan-sources.ts';
import type { PublishRequest } from './request.ts';
import type { Shape } from './shape.ts';

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
  return gathered(changes, shape.contents);
}
