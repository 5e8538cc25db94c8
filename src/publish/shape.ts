import { Problem } from '../problem.ts';
import { contentsPath, isContents, type PackagesKind, packagesPath, sourcesPath } from './index-paths.ts';
import type { Scanned, ScannedBinary, ScannedSource } from './scanned.ts';

/** What comes into one component of a suite. */
export interface Incoming {
  readonly component: string;
  readonly packages: readonly Scanned[];
}

/** What a suite has before the run, as its Release says; all empty for a new one. */
export interface PublishedShape {
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  /** Every index it lists, without form. */
  readonly indexes: ReadonlySet<string>;
}

/** A suite that has Contents keeps them. */
export function hasContents(published: PublishedShape): boolean {
  return [...published.indexes].some(isContents);
}

/** The lists of one kind in one component that this run may change. */
export interface ListGroup {
  readonly component: string;
  readonly kind: PackagesKind;
  readonly packages: readonly ScannedBinary[];
  /** Architectures whose published list must be read. */
  readonly read: readonly string[];
  /** Architectures that get their list now. */
  readonly created: readonly string[];
}

/** What a suite has after the run, and which published indexes have to be read to get there. */
export interface Shape {
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  readonly lists: readonly ListGroup[];
  readonly sources: readonly { component: string; sources: readonly ScannedSource[] }[];
  /** Whether the suite has Contents after this run. */
  readonly contents: boolean;
  /** Indexes, without form, that the plan needs as far as they are published. */
  readonly needed: readonly string[];
}

/**
 * Works out components and architectures: what is published, what is declared, what comes in, nothing else. Throws when a package
 * is for an architecture that the declared ones leave out, or when there is nothing but `all` packages to go by.
 */
export function shapeOf(input: {
  suite: string;
  published: PublishedShape;
  incoming: readonly Incoming[];
  declared: readonly string[] | undefined;
  contents: boolean;
}): Shape {
  const { suite, published, incoming } = input;
  const components = union(
    published.components,
    incoming.map(({ component }) => component),
  );
  const architectures = architecturesOf(suite, published, incoming, input.declared);
  const lists: ListGroup[] = [];
  const needed = new Set<string>();
  for (const component of components) {
    const packages = incoming.filter((each) => each.component === component).flatMap((each) => each.packages);
    for (const kind of ['deb', 'udeb'] as const) {
      const group = listGroup(component, kind, packages.filter(isBinary), architectures, published);
      if (group.created.length === 0 && group.packages.length === 0) continue;
      lists.push(group);
      for (const architecture of group.read) needed.add(packagesPath(component, architecture, kind));
    }
  }
  const sources = components
    .map((component) => ({
      component,
      sources: incoming
        .filter((each) => each.component === component)
        .flatMap((each) => each.packages)
        .filter((item) => item.kind === 'source'),
    }))
    .filter((each) => each.sources.length > 0);
  for (const { component } of sources) needed.add(sourcesPath(component));
  if (input.contents) {
    // Also that of a donor: it vouches for the file lists of what it gives.
    for (const { component, read } of lists) {
      for (const architecture of read) needed.add(contentsPath(component, architecture));
    }
  }
  return {
    components,
    architectures,
    lists,
    sources,
    contents: input.contents,
    needed: [...needed].sort(),
  };
}

function isBinary(item: Scanned): item is ScannedBinary {
  return item.kind !== 'source';
}

function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

function architecturesOf(
  suite: string,
  published: PublishedShape,
  incoming: readonly Incoming[],
  declared: readonly string[] | undefined,
): string[] {
  const binaries = incoming.flatMap(({ packages }) => packages).filter(isBinary);
  const own = binaries.filter(({ architecture }) => architecture !== 'all');
  const known = union(published.architectures, declared ?? own.map(({ architecture }) => architecture));
  const stray = own.find(({ architecture }) => !known.includes(architecture));
  if (stray !== undefined) {
    throw new Problem({
      code: 'architecture-not-declared',
      title: 'A package for an architecture that is not declared',
      what: `${stray.file.path} is for ${stray.architecture}, but suite ${suite} is to have ${known.join(' ')} only.`,
      advice: `Add ${stray.architecture} to \`architectures\`, or leave that package out.`,
    });
  }
  if (known.length === 0 && binaries.length > 0) {
    throw new Problem({
      code: 'architectures-unknown',
      title: 'Which architectures is this suite for?',
      what: `Suite ${suite} is new and gets packages of architecture "all" only, which does not tell whose lists they belong in.`,
      advice: 'Say it once: `architectures: amd64 arm64`.',
    });
  }
  return known;
}

function listGroup(
  component: string,
  kind: PackagesKind,
  binaries: readonly ScannedBinary[],
  architectures: readonly string[],
  published: PublishedShape,
): ListGroup {
  const packages = binaries.filter((item) => (item.kind === 'udeb') === (kind === 'udeb'));
  const exists = (architecture: string) => published.indexes.has(packagesPath(component, architecture, kind));
  const existing = architectures.filter(exists);
  const wanted = kind === 'deb' || packages.length > 0 || existing.length > 0;
  const created = wanted ? architectures.filter((architecture) => !exists(architecture)) : [];
  const touched = existing.filter((own) =>
    packages.some(({ architecture }) => architecture === 'all' || architecture === own),
  );
  // A new architecture takes the `all` packages from any list there is.
  const [donor] = existing;
  const read = created.length > 0 && touched.length === 0 && donor !== undefined ? [donor] : touched;
  return { component, kind, packages, read, created };
}
