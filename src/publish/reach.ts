import { decompress } from '../codec/codecs.ts';
import { Problem } from '../problem.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { foreignReach } from './foreign-reach.ts';
import { compressionOf, splitForm } from './index-paths.ts';
import { byHashKey, recordKey } from './layout.ts';
import { listedFiles, packageLists } from './listed-files.ts';
import { type Published, readRecord, type Trusted } from './look.ts';
import { SoughtNames } from './name-digest.ts';
import { storedIndexes } from './next-record.ts';
import { largestIndex } from './read-indexes.ts';
import type { StoredIndex } from './suite-record.ts';
import { wave } from './wave.ts';

/**
 * Which of these suites still reach which of these pool files: through the newest generation or one that is kept. One request for each suite, and one
 * for each list that may name one of the files, as far as the record's digests tell; then, for files that none of them reaches, suites
 * that another tool keeps here. Throws rather than guess when a record or an index cannot be read, so that nothing is deleted then.
 */
export async function reachedBy(
  store: ObjectStore,
  trusted: Trusted,
  suites: readonly string[],
  files: readonly string[],
): Promise<Map<string, Set<string>>> {
  const wanted = new Set(files);
  const sought = new SoughtNames(files);
  const reached = new Map<string, Set<string>>();
  const known = new Set<string>();
  await wave(suites, async (suite) => {
    const object = await store.get(recordKey(suite));
    if (!object.found) return;
    known.add(suite);
    const published = await readRecord(object, suite, trusted);
    const { named } = published.record;
    const lists = reachingLists(published).filter(({ sha256 }) => sought.mayBeIn(named?.[sha256]));
    const names = (await wave(lists, (index) => filesIn(store, suite, index))).flat();
    for (const name of names.filter((each) => wanted.has(each))) {
      reached.set(name, (reached.get(name) ?? new Set()).add(suite));
    }
  });
  const others = new Set(files.filter((name) => !reached.has(name)));
  if (others.size === 0) return reached;
  return new Map([...reached, ...(await foreignReach(store, known, others))]);
}

/** Every pool file that a suite reaches. Throws when an index cannot be read. */
export async function filesReached(store: ObjectStore, suite: string, published: Published): Promise<string[]> {
  return (await wave(reachingLists(published), (index) => filesIn(store, suite, index))).flat();
}

/** One stored form of every list of packages, of the newest generation and of the kept ones. */
function reachingLists({ record, release }: Published): StoredIndex[] {
  return [storedIndexes(release), ...record.kept.map(({ dropped }) => dropped)].flatMap(packageLists);
}

async function filesIn(store: ObjectStore, suite: string, { path, sha256 }: StoredIndex): Promise<string[]> {
  const object = await store.get(byHashKey(suite, path, sha256));
  const compression = compressionOf(path);
  if (!object.found || compression === undefined) throw unreadable(suite, path);
  const origin = `${path} of suite ${suite}`;
  const bytes = await decompress(compression, object.body, largestIndex, origin);
  return listedFiles(bytes, splitForm(path).index, origin).map(({ filename }) => filename);
}

function unreadable(suite: string, path: string): Problem {
  return new Problem({
    code: 'index-missing',
    title: 'An index of a kept generation is missing',
    what: `${path} of suite ${suite} belongs to a kept generation, but its by-hash object cannot be read.`,
    advice: 'Nothing was removed; look for a lifecycle rule or a script that deletes objects under dists/.',
  });
}
