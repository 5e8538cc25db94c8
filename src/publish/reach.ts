import { decompress } from '../codec/codecs.ts';
import { entryFile } from '../debian/packages.ts';
import { scanStanzas } from '../debian/stanza-index.ts';
import { Problem } from '../problem.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { compressionOf, namesPoolFiles, readableForms, splitForm } from './index-paths.ts';
import { byHashKey, recordKey } from './layout.ts';
import { listedSource } from './listed-source.ts';
import { type Published, readRecord, type Trusted } from './look.ts';
import { storedIndexes } from './next-record.ts';
import { largestIndex } from './read-indexes.ts';
import type { StoredIndex } from './suite-record.ts';
import { allSuites } from './suite-register.ts';
import { wave } from './wave.ts';

/**
 * Which suites still reach which of these pool files: through the newest generation or one that is kept. Throws rather than guess
 * when a record or an index cannot be read, so that nothing is deleted then.
 */
export async function reachedBy(
  store: ObjectStore,
  trusted: Trusted,
  files: readonly string[],
): Promise<Map<string, Set<string>>> {
  const wanted = new Set(files);
  const reached = new Map<string, Set<string>>();
  await wave(await allSuites(store), async (suite) => {
    const object = await store.get(recordKey(suite));
    if (!object.found) return;
    const published = await readRecord(object, suite, trusted);
    const names = await wave(packageIndexes(published), (index) => namesIn(store, suite, index, wanted));
    for (const name of names.flat()) reached.set(name, (reached.get(name) ?? new Set()).add(suite));
  });
  return reached;
}

/** One stored form of every list of packages, of the newest generation and of the kept ones. */
function packageIndexes({ record, release }: Published): StoredIndex[] {
  const generations = [storedIndexes(release), ...record.kept.map(({ dropped }) => dropped)];
  return generations.flatMap((stored) => {
    const chosen = new Map<string, StoredIndex>();
    for (const extension of readableForms.keys()) {
      for (const each of stored) {
        const { index, extension: own } = splitForm(each.path);
        if (own === extension && namesPoolFiles(index) && !chosen.has(index)) chosen.set(index, each);
      }
    }
    return [...chosen.values()];
  });
}

async function namesIn(
  store: ObjectStore,
  suite: string,
  { path, sha256 }: StoredIndex,
  wanted: ReadonlySet<string>,
): Promise<string[]> {
  const object = await store.get(byHashKey(suite, path, sha256));
  const { index } = splitForm(path);
  const compression = compressionOf(path);
  if (!object.found || compression === undefined) throw unreadable(suite, path);
  const origin = `${path} of suite ${suite}`;
  const bytes = await decompress(compression, object.body, largestIndex, origin);
  const names = scanStanzas(bytes, origin).flatMap((entry) => {
    if (!index.endsWith('/Sources')) return [entryFile(bytes, entry, origin).filename];
    const { directory, files } = listedSource(bytes, entry);
    return [...files.keys()].map((name) => `${directory}/${name}`);
  });
  return names.filter((name) => wanted.has(name));
}

function unreadable(suite: string, path: string): Problem {
  return new Problem({
    code: 'index-missing',
    title: 'An index of a kept generation is missing',
    what: `${path} of suite ${suite} belongs to a kept generation, but its by-hash object cannot be read.`,
    advice: 'Nothing was removed; look for a lifecycle rule or a script that deletes objects under dists/.',
  });
}
