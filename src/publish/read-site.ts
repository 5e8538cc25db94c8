import { fieldValue } from '../debian/deb822.ts';
import { entryFile } from '../debian/packages.ts';
import type { Release } from '../debian/release.ts';
import { entryFields, type IndexEntry, scanStanzas } from '../debian/stanza-index.ts';
import { compareVersions } from '../debian/version.ts';
import { Problem } from '../problem.ts';
import { publicKeys } from '../signing/verify.ts';
import { packagesPath, sourcesPath } from './index-paths.ts';
import { recordKey } from './layout.ts';
import { sourcePoolFiles } from './listed-source.ts';
import { type Published, readRecord } from './look.ts';
import { readIndexes } from './read-indexes.ts';
import { phase, type RunContext } from './run-context.ts';
import { enteredSuites } from './suite-register.ts';
import { publishedShape } from './suite-state.ts';
import { wave } from './wave.ts';

/** A suite as it is published now, for people to read about. */
export interface ShownSuite {
  readonly suite: string;
  readonly release: Release;
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  readonly hasSources: boolean;
  /** Of the suites that were asked for: by name, the newest version first. */
  readonly packages?: readonly ShownPackage[];
}

interface ShownPackage {
  readonly name: string;
  readonly version: string;
  readonly component: string;
  /** The first line of its description. */
  readonly summary: string;
  readonly files: readonly { readonly architecture: string; readonly filename: string; readonly size: number }[];
}

/**
 * Every suite of the repository that this run's keys vouch for, in the order of their names, and what the suites named in `listed` hold. It is
 * read after a commit, so that a page shows what is published then, whoever has published it.
 */
export function readSite(run: RunContext, listed: readonly string[]): Promise<ShownSuite[]> {
  return phase(run, 'clean', undefined, async (reading) => {
    const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
    const suites = await enteredSuites(reading.store, listed[0] ?? '');
    const shown = await wave(suites.toSorted(), async (suite): Promise<ShownSuite[]> => {
      const object = await reading.store.get(recordKey(suite));
      if (!object.found) return [];
      const published = await readRecord(object, suite, trusted).catch(otherKeys);
      if (published === undefined) return [];
      const { components, architectures, indexes } = publishedShape(published.release);
      const hasSources = components.some((component) => indexes.has(sourcesPath(component)));
      const about = { suite, release: published.release, components, architectures, hasSources };
      if (!listed.includes(suite)) return [about];
      const wanted = components.flatMap((component) => [
        sourcesPath(component),
        ...architectures.map((architecture) => packagesPath(component, architecture, 'deb')),
      ]);
      const present = wanted.filter((path) => indexes.has(path));
      const contents = await readIndexes(reading, suite, published, present, new Map());
      return [{ ...about, packages: packagesIn(about, contents) }];
    });
    return shown.flat();
  });
}

/** A suite that somebody else signs is somebody else's to show. */
function otherKeys(error: unknown): Published | undefined {
  if (error instanceof Problem) return undefined;
  throw error;
}

function packagesIn(
  { suite, components, architectures }: ShownSuite,
  contents: ReadonlyMap<string, Uint8Array>,
): ShownPackage[] {
  const found = new Map<string, ShownPackage & { files: ShownPackage['files'][number][] }>();
  const note = (component: string, entry: IndexEntry, bytes: Uint8Array, files: ShownPackage['files']) => {
    const key = `${component} ${entry.package} ${entry.version}`;
    const known = found.get(key);
    if (known !== undefined) {
      // A package for all stands in the list of every architecture.
      known.files.push(...files.filter(({ filename }) => known.files.every((file) => file.filename !== filename)));
      return;
    }
    const summary = (fieldValue(entryFields(bytes, entry), 'Description') ?? '').split('\n')[0] ?? '';
    found.set(key, { name: entry.package, version: entry.version, component, summary, files: [...files] });
  };
  for (const component of components) {
    for (const architecture of architectures) {
      const path = packagesPath(component, architecture, 'deb');
      const bytes = contents.get(path) ?? new Uint8Array();
      const origin = `${path} of suite ${suite}`;
      for (const entry of scanStanzas(bytes, origin)) {
        const { filename, size } = entryFile(bytes, entry, origin);
        note(component, entry, bytes, [{ architecture: entry.architecture, filename, size }]);
      }
    }
    const bytes = contents.get(sourcesPath(component)) ?? new Uint8Array();
    for (const entry of scanStanzas(bytes, `${sourcesPath(component)} of suite ${suite}`)) {
      const description = sourcePoolFiles(bytes, entry).find(({ filename }) => filename.endsWith('.dsc'));
      if (description === undefined) continue;
      note(component, entry, bytes, [{ ...description, architecture: 'source' }]);
    }
  }
  return newestFirst([...found.values()]);
}

/** By name, and by version within one; where there are so many that some are left out, those are older versions. */
function newestFirst(packages: readonly ShownPackage[]): ShownPackage[] {
  return packages.toSorted((a, b) => {
    if (a.name !== b.name) return a.name < b.name ? -1 : 1;
    return compareVersions(b.version, a.version) || (a.component < b.component ? -1 : 1);
  });
}
