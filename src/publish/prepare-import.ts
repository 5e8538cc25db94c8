import { fieldValue } from '../debian/deb822.ts';
import type { Release } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { listed, type ObjectStore } from '../store/object-store.ts';
import { storedReader } from '../store/stored-reader.ts';
import { architecturesUnknown } from './adopt.ts';
import { type ForeignIndex, foreignIndexes, readForeignIndexes } from './foreign-indexes.ts';
import { doubtsAbout, type ForeignRelease, readForeignHead, readForeignRelease } from './foreign-release.ts';
import { ImportedFiles } from './imported-files.ts';
import { contentsPath, packagesPath, sourcesPath } from './index-paths.ts';
import type { PoolContent, SuitePlan } from './list-changes.ts';
import { planImport } from './plan-import.ts';
import { type Prepare, prepared } from './prepare.ts';
import type { ImportRequest, ReleaseInfo } from './request.ts';
import { originStore, phase, type RunContext } from './run-context.ts';
import { hasContents } from './shape.ts';
import { ownContents } from './suite-contents.ts';
import { readSuite, readSuiteIndexes, type SuiteState } from './suite-state.ts';
import { together } from './wave.ts';

/**
 * The phases read and plan of an import from another repository. Everything is read by the hashes of a Release that is signed by a given
 * key, or that the user vouches for; what the pool holds already, from an import that was cut short, is not fetched again. Into a suite that
 * does not exist yet it is one transaction with one claim and one commit, whatever its size.
 */
export function prepareImport(run: RunContext, request: ImportRequest, origin: ObjectStore): Prepare {
  return async (suite) => {
    const [state, foreign] = await together(readSuite(run, suite, request), readOrigin(run, suite, origin));
    const chosen = choose(suite, foreign.release, request);
    const [imported, own] = await together(
      phase(run, 'read', suite, ({ scope }) => {
        const reading = { scope, store: originStore(run, origin, scope) };
        return readForeignIndexes(reading, suite, foreign.release, chosen.indexes);
      }),
      readSuiteIndexes(run, state, ownIndexes(state, chosen)),
    );
    const shape = {
      components: union(state.has.components, chosen.components),
      architectures: union(state.has.architectures, chosen.architectures),
      contents: state.published !== undefined && hasContents(state.has),
    };
    const fileAt = (key: string, size: number, sha256: string): PoolContent => ({
      path: key,
      size,
      sha256,
      open: (scope) => storedReader(originStore(run, origin, scope), { key, size }),
    });
    const plan = await phase(run, 'plan', suite, ({ scope }) => {
      const { lists, apart } = ownContents(suite, imported, chosen);
      const foreign = new Map([...[...imported].filter(([path]) => !apart.has(path)), ...lists]);
      const bytes = [...imported.values(), ...own.values()].reduce((sum, index) => sum + index.length, 0);
      const { onConflict } = request;
      const about = { ...shape, suite, has: state.has, onConflict, own, foreign, indexes: chosen.indexes };
      return scope.work('merge', bytes, () => planImport(about, new ImportedFiles(fileAt)));
    });
    for (const doubt of doubtsAbout(suite, foreign, run.clock.now())) run.warn(doubt);
    if (state.published === undefined) run.warn(description(suite, foreign, plan, chosen.others));
    const settings = { ...request, release: { ...describedBy(foreign.release, state), ...request.release } };
    const seen = request.dryRun ? plan : await withSeenFiles(run, suite, plan);
    return prepared(state, settings, { command: 'import', ...shape, indexes: own, plan: seen });
  };
}

function readOrigin(run: RunContext, suite: string, origin: ObjectStore): Promise<ForeignRelease> {
  return phase(run, 'read', suite, async ({ scope }) => {
    const store = originStore(run, origin, scope);
    return readForeignRelease(store, suite, await readForeignHead(store, suite), run.origin?.trusted);
  });
}

interface Chosen {
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  readonly indexes: readonly ForeignIndex[];
  /** Listed files that are left behind. */
  readonly others: number;
}

/** What of the other repository is imported. Throws `import-part-missing` for a component or architecture that it has not. */
function choose(suite: string, release: Release, { components: wanted, architectures }: ImportRequest): Chosen {
  const { known: all, others } = foreignIndexes(release);
  // Readers of a suite that does not name `all` never look into a list apart.
  const withAll = (fieldValue(release.fields, 'Architectures') ?? '').split(/\s+/).includes('all');
  const known = all.filter(({ kind, architecture }) => kind !== 'packages' || architecture !== 'all' || withAll);
  const lists = known.filter(({ kind }) => kind === 'packages' || kind === 'sources');
  const components = union(lists.flatMap(({ component }) => component ?? []));
  const binary = union(known.flatMap(({ kind, architecture }) => (kind === 'packages' ? (architecture ?? []) : [])));
  const own = binary.filter((architecture) => architecture !== 'all');
  for (const component of wanted ?? []) {
    if (!components.includes(component)) throw partMissing(suite, 'component', component, components);
  }
  // Where packages for all have a list apart, they are enough to give a suite for any architecture.
  const named = architectures?.filter((name) => name !== 'all' && name !== 'source');
  for (const name of named ?? []) {
    if (!binary.includes(name) && !binary.includes('all')) throw partMissing(suite, 'architecture', name, own);
  }
  if (binary.length > 0 && (named ?? own).length === 0 && !(architectures?.includes('source') ?? false)) {
    throw architecturesUnknown(suite);
  }
  const taken = new Set([...(named ?? own), 'all']);
  const withSources = architectures?.includes('source') ?? true;
  const contentsApart = known.some(({ kind, component }) => kind === 'contents' && component !== undefined);
  // A Contents of the whole suite says which component a path belongs to where there is but one.
  const isTaken = ({ kind, component }: ForeignIndex) =>
    kind !== 'contents' || component !== undefined || (components.length === 1 && !contentsApart);
  return {
    components: components.filter((component) => wanted?.includes(component) ?? true),
    architectures: named ?? own,
    indexes: known.filter(isTaken).filter(({ kind, component, architecture }) => {
      if (component !== undefined && !(wanted?.includes(component) ?? true)) return false;
      return kind === 'sources' ? withSources : architecture === undefined || taken.has(architecture);
    }),
    others: others + known.filter((index) => !isTaken(index)).length,
  };
}

/** Indexes of the suite itself that the import is merged into. */
function ownIndexes({ has }: SuiteState, { components, architectures }: Chosen): string[] {
  const all = union(has.architectures, architectures);
  // A new architecture is given the packages for all of every component.
  const touched = all.length > has.architectures.length ? union(has.components, components) : components;
  return touched.flatMap((component) => [
    sourcesPath(component),
    ...all.flatMap((architecture) => [
      packagesPath(component, architecture, 'deb'),
      packagesPath(component, architecture, 'udeb'),
      contentsPath(component, architecture),
    ]),
  ]);
}

/** How a new suite is described: as it was, since its users pin those fields. One that exists keeps its own. */
function describedBy({ fields }: Release, { published }: SuiteState): ReleaseInfo {
  if (published !== undefined) return {};
  const text = (name: string) => fieldValue(fields, name)?.trim() || undefined;
  const flag = (name: string) => (text(name) === undefined ? undefined : text(name) === 'yes');
  const info = {
    origin: text('Origin'),
    label: text('Label'),
    codename: text('Codename'),
    description: text('Description'),
    version: text('Version'),
    notAutomatic: flag('NotAutomatic'),
    butAutomaticUpgrades: flag('ButAutomaticUpgrades'),
  };
  return Object.fromEntries(Object.entries(info).filter(([, value]) => value !== undefined));
}

/** One listing, of a thousand names a request, tells what an earlier run has copied already: only that is asked after, file by file. */
async function withSeenFiles(run: RunContext, suite: string, plan: SuitePlan): Promise<SuitePlan> {
  if (plan.poolFiles.length === 0) return plan;
  const there = await phase(run, 'read', suite, async ({ store }) => {
    const keys = new Set<string>();
    for await (const { key } of listed(store, commonFolder(plan.poolFiles.map((file) => file.key)))) keys.add(key);
    return keys;
  });
  const poolFiles = plan.poolFiles.map(({ key, file }) => ({ key, file: { ...file, seen: there.has(key) } }));
  return { ...plan, poolFiles };
}

/** The longest `pool/main/` that all of these begin with; empty where they share none. */
export function commonFolder(keys: readonly string[]): string {
  const [first = ''] = keys;
  let length = first.lastIndexOf('/') + 1;
  for (const key of keys) {
    while (!key.startsWith(first.slice(0, length))) length = first.lastIndexOf('/', length - 2) + 1;
  }
  return first.slice(0, length);
}

function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

function description(suite: string, { vouched }: ForeignRelease, { packages }: SuitePlan, others: number): string {
  const left = others === 0 ? '' : ` Left behind: ${others} other files that its Release lists.`;
  return `Suite ${suite} was imported from ${vouched}: ${packages.length} packages.${left}`;
}

function partMissing(suite: string, kind: string, name: string, there: readonly string[]): Problem {
  return new Problem({
    code: 'import-part-missing',
    title: `There is no such ${kind} to import`,
    what: `Suite ${suite} of the repository to import has no ${kind} ${name}; it has ${there.join(' ') || 'none'}.`,
    advice: `Look at the spelling of \`${kind}s\`.`,
  });
}
