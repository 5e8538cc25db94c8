import { entryFile } from '../debian/packages.ts';
import { Problem } from '../problem.ts';
import { contentsPath, type PackagesKind, packagesPath, sourcesPath } from './index-paths.ts';
import { gathered, type ListChanges, noChanges } from './list-changes.ts';
import { closeLists, keyOf, openList, type PackageList } from './package-list.ts';
import { matches, type Selection } from './package-pattern.ts';
import { type Prepare, prepared } from './prepare.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { hasContents } from './shape.ts';
import { closeSources, openSources } from './source-list.ts';
import { readSuite, readSuiteIndexes, type SuiteState } from './suite-state.ts';

const kinds: readonly PackagesKind[] = ['deb', 'udeb'];

/**
 * The phases read and plan of a removal. Packages leave the lists now and the pool after their grace, once no kept generation of any
 * suite reaches them.
 */
export function prepareRemove(run: RunContext, settings: GenerationSettings, selection: Selection): Prepare {
  return async (suite) => {
    const state = await readSuite(run, suite, settings);
    if (state.published === undefined) throw missingSuite(suite);
    const components = state.has.components.filter((component) => selection.components?.includes(component) ?? true);
    const indexes = await readSuiteIndexes(run, state, listsOf(state, components));
    return phase(run, 'plan', suite, async () => {
      const changes = components.flatMap((component) => [
        ...kinds.map((kind) => removeBinaries(state, { component, kind }, indexes, selection)),
        removeSources(suite, component, indexes.get(sourcesPath(component)), selection),
      ]);
      const plan = gathered(changes, hasContents(state.has));
      if (plan.packages.length === 0) run.warn(`Nothing in suite ${suite} matches what is to be removed.`);
      return prepared(state, settings, { ...state.has, command: 'remove', indexes, plan });
    });
  };
}

/** Every list of these components, and what stands beside it. */
export function listsOf({ has }: SuiteState, components: readonly string[]): string[] {
  const contents = hasContents(has);
  return components.flatMap((component) => [
    sourcesPath(component),
    ...has.architectures.flatMap((architecture) => [
      ...kinds.map((kind) => packagesPath(component, architecture, kind)),
      ...(contents ? [contentsPath(component, architecture)] : []),
    ]),
  ]);
}

/** The published lists of one kind in one component. */
export function openPublished(
  { suite, has }: SuiteState,
  { component, kind }: { component: string; kind: PackagesKind },
  indexes: ReadonlyMap<string, Uint8Array>,
): PackageList[] {
  return has.architectures.flatMap((architecture) => {
    const bytes = indexes.get(packagesPath(component, architecture, kind));
    return bytes === undefined ? [] : [openList({ suite, component, kind, architecture }, bytes)];
  });
}

function removeBinaries(
  state: SuiteState,
  which: { component: string; kind: PackagesKind },
  indexes: ReadonlyMap<string, Uint8Array>,
  { patterns, architectures }: Selection,
): ListChanges {
  const changes = noChanges();
  const lists = openPublished(state, which, indexes);
  const seen = new Set<string>();
  for (const list of lists) {
    for (const entry of list.entries) {
      if (architectures !== undefined && !architectures.includes(entry.architecture)) continue;
      if (!patterns.some((pattern) => matches(pattern, entry))) continue;
      list.remove.add(entry);
      // A package for all stands in several lists, and leaves once.
      if (seen.has(keyOf(entry))) continue;
      seen.add(keyOf(entry));
      const { filename, sha256, size } = entryFile(list.bytes, entry, list.origin);
      const { package: name, version, architecture } = entry;
      changes.unlisted.push({ filename, sha256 });
      changes.packages.push({
        change: 'removed',
        package: name,
        version,
        architecture,
        component: which.component,
        size,
      });
    }
  }
  closeLists(lists, changes);
  return changes;
}

function removeSources(
  suite: string,
  component: string,
  bytes: Uint8Array | undefined,
  { patterns, architectures }: Selection,
): ListChanges {
  const changes = noChanges();
  if (bytes === undefined || !(architectures?.includes('source') ?? true)) return changes;
  const list = openSources(suite, component, bytes);
  for (const entry of list.entries) {
    if (!patterns.some((pattern) => matches(pattern, entry))) continue;
    list.remove.add(entry);
    const { package: source, version } = entry;
    changes.packages.push({ change: 'removed', package: source, version, architecture: 'source', component, size: 0 });
  }
  closeSources([list], changes);
  return changes;
}

/** `input` names what the suite was named by. */
export function missingSuite(suite: string, input = 'suites'): Problem {
  return new Problem({
    code: 'suite-missing',
    title: 'There is no such suite',
    what: `Suite ${suite} is not published here.`,
    advice: `Look at the spelling of \`${input}\`, and at \`bucket\` and \`prefix\`.`,
  });
}
