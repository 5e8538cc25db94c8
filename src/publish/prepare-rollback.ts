import type { Release } from '../debian/release.ts';
import { publicKeys } from '../signing/verify.ts';
import { compareLists } from './compare-lists.ts';
import { findGeneration, type GenerationName } from './generation-name.ts';
import { namesPoolFiles, splitForm } from './index-paths.ts';
import { readKeptIndexes, readKeptRelease } from './kept-generation.ts';
import { gathered } from './list-changes.ts';
import { requirePoolFiles } from './pool-look.ts';
import { type Prepare, type Prepared, prepared } from './prepare.ts';
import { missingSuite } from './prepare-remove.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { publishedShape, readSuite, readSuiteIndexes, type SuiteState } from './suite-state.ts';

/**
 * The phases read and plan of a rollback: the suite gets a new generation with the indexes, components and architectures of an earlier
 * one. Nothing is staged, since every by-hash object of a kept generation is still there. Fields that describe the suite (Origin, Codename …)
 * stay as they are now: clients pin them.
 */
export function prepareRollback(run: RunContext, settings: GenerationSettings, to: GenerationName): Prepare {
  return async (suite) => {
    const state = await readSuite(run, suite, settings);
    const { published, has } = state;
    if (published === undefined) throw missingSuite(suite);
    const unchanged = { ...has, command: 'rollback', indexes: new Map(), plan: gathered([], false) } as const;
    const found = findGeneration(published.record, to);
    if (found.number === published.record.generation.number) {
      run.warn(`Suite ${suite} is at generation ${found.number} already.`);
      return prepared(state, settings, unchanged);
    }
    const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
    const release = await phase(run, 'read', suite, (reading) =>
      readKeptRelease(reading, suite, published, found, trusted),
    );
    const changed = storedOtherwise(release, published.release);
    const kept = await phase(run, 'read', suite, (reading) => readKeptIndexes(reading, suite, found, release, changed));
    const lists = await comparedLists(run, state, release, kept);
    const changes = await phase(run, 'plan', suite, ({ scope }) => {
      const bytes = [...lists.before.values(), ...lists.after.values()].reduce((sum, list) => sum + list.length, 0);
      return scope.work('merge', bytes, () => compareLists(suite, lists.before, lists.after));
    });
    await phase(run, 'read', suite, (reading) => requirePoolFiles(reading, suite, changes.referenced));
    const { components, architectures } = publishedShape(release);
    const plan = gathered([changes], false);
    const ready = prepared(state, settings, { ...unchanged, components, architectures, plan });
    const differs = changed.length > 0 || release.files.length !== published.release.files.length;
    return { ...ready, listed: release.files, changed: ready.changed || differs } satisfies Prepared;
  };
}

function storedOtherwise(release: Release, published: Release) {
  const now = new Map(published.files.map(({ path, sha256 }) => [path, sha256]));
  return release.files.filter(({ path, sha256 }) => splitForm(path).extension !== '' && now.get(path) !== sha256);
}

/** Every list of the components in which something changes, as it is now and as it was. */
async function comparedLists(
  run: RunContext,
  state: SuiteState,
  release: Release,
  kept: ReadonlyMap<string, Uint8Array>,
): Promise<{ before: ReadonlyMap<string, Uint8Array>; after: ReadonlyMap<string, Uint8Array> }> {
  const was = publishedShape(release);
  const all = new Set([...state.has.indexes, ...was.indexes].filter(namesPoolFiles));
  const different = [...all].filter((index) => kept.has(index) || !was.indexes.has(index));
  const components = [...new Set([...was.components, ...state.has.components])].filter((component) =>
    different.some((index) => index.startsWith(`${component}/`)),
  );
  const compared = [...all].filter((index) => components.some((component) => index.startsWith(`${component}/`)));
  const before = await readSuiteIndexes(run, state, compared);
  const after = compared
    .filter((index) => was.indexes.has(index))
    .map((index): [string, Uint8Array] => [index, kept.get(index) ?? before.get(index) ?? new Uint8Array()]);
  return { before, after: new Map(after) };
}
