import { entryFile } from '../debian/packages.ts';
import { type ExactRelation, sourceOf } from '../debian/relations.ts';
import { entryValue, type IndexEntry } from '../debian/stanza-index.ts';
import { Problem } from '../problem.ts';
import { sourcesPath } from './index-paths.ts';
import { keyOf, type PackageList } from './package-list.ts';
import { matches, type PackagePattern } from './package-pattern.ts';
import { openPublished } from './prepare-remove.ts';
import type { PromoteRequest } from './request.ts';
import { openSources, type SourceList } from './source-list.ts';
import type { SuiteState } from './suite-state.ts';

/** What one suite has to give to others. */
export interface Offer {
  readonly binaries: readonly OfferedBinary[];
  readonly sources: readonly OfferedSource[];
}

export interface OfferedBinary {
  /** That it is to go into. */
  readonly component: string;
  /** That it stands in; one for `all` in others too. */
  readonly list: PackageList;
  readonly entry: IndexEntry;
}

export interface OfferedSource {
  readonly component: string;
  readonly list: SourceList;
  readonly entry: IndexEntry;
}

/**
 * The packages of these components that a promotion is about, each once, and their sources: every binary that is promoted takes along the
 * source package that it was built from, where the suite lists it. A pattern that fits nothing is a problem, as it is with files.
 */
export function offeredPackages(
  from: SuiteState,
  components: readonly string[],
  indexes: ReadonlyMap<string, Uint8Array>,
  { selection, moves }: Pick<PromoteRequest, 'selection' | 'moves'>,
): { readonly offer: Offer; readonly problems: readonly Problem[] } {
  const { patterns, architectures } = selection;
  const idle = new Set(patterns);
  const problems: Problem[] = [];
  const binaries = new Map<string, OfferedBinary>();
  const sources: OfferedSource[] = [];
  const fits = (item: { package: string; version: string }, architecture: string) => {
    if (!(architectures?.includes(architecture) ?? true)) return false;
    const fitting = patterns.filter((pattern) => matches(pattern, item));
    for (const pattern of fitting) idle.delete(pattern);
    return fitting.length > 0;
  };
  for (const component of components) {
    const target = moves.find((move) => move.from === component)?.to ?? component;
    const lists = (['deb', 'udeb'] as const).flatMap((kind) => openPublished(from, { component, kind }, indexes));
    const needed: ExactRelation[] = [];
    for (const list of lists) {
      for (const entry of list.entries.filter((each) => fits(each, each.architecture))) {
        const key = `${target} ${list.kind} ${keyOf(entry)}`;
        const earlier = binaries.get(key);
        if (earlier === undefined) binaries.set(key, { component: target, list, entry });
        else if (sha256Of(earlier) !== sha256Of({ list, entry })) problems.push(twice(from.suite, target, entry));
        if (earlier === undefined) needed.push(sourceOf(entry, entryValue(list.bytes, entry, 'Source')));
      }
    }
    const list = openSources(from.suite, component, indexes.get(sourcesPath(component)));
    const isNeeded = (entry: IndexEntry) =>
      needed.some(({ package: name, version }) => name === entry.package && version === entry.version);
    for (const entry of list.entries.filter((each) => fits(each, 'source') || isNeeded(each))) {
      sources.push({ component: target, list, entry });
    }
  }
  problems.push(...[...idle].map((pattern) => nothingFits(from.suite, pattern)));
  return { offer: { binaries: [...binaries.values()], sources }, problems };
}

function sha256Of({ list, entry }: Pick<OfferedBinary, 'list' | 'entry'>): string | undefined {
  return entryFile(list.bytes, entry, list.origin).sha256;
}

function nothingFits(suite: string, { name, relation }: PackagePattern): Problem {
  const written = relation === undefined ? name : `${name} (${relation.operator} ${relation.version})`;
  return new Problem({
    code: 'pattern-fits-nothing',
    title: 'No package fits a line of the input promote',
    what: `Suite ${suite} lists no package that fits \`${written}\` in the components and architectures that are to be promoted.`,
    advice: 'Look at the spelling, and at `from`, `components` and `architectures`; nothing was promoted.',
  });
}

function twice(suite: string, component: string, { package: name, version, architecture }: IndexEntry): Problem {
  return new Problem({
    code: 'package-twice',
    title: 'Two packages would be the same one',
    what: `Suite ${suite} lists ${name} ${version} (${architecture}) more than once with different bytes, and all of them would go into component ${component}.`,
    advice: 'Promote only one of its components, or put them into different ones.',
  });
}
