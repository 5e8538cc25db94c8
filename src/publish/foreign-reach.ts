import { decompress } from '../codec/codecs.ts';
import { parseRelease } from '../debian/release.ts';
import { unverifiedText } from '../signing/verify.ts';
import { listed, type ObjectStore } from '../store/object-store.ts';
import { readForeignHead } from './foreign-release.ts';
import { keyOfName } from './imported-files.ts';
import { compressionOf, namesPoolFiles, splitForm } from './index-paths.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import { byEffort, listedFiles } from './listed-files.ts';
import { largestIndex, unreadableForm } from './read-indexes.ts';
import { wave } from './wave.ts';

/** Not the Release of one folder of a suite, which some tools write beside each list. */
const foreignHead = /^dists\/(?!.*\/(?:binary-[^/]+|source)\/[^/]+$)(.+)\/(?:In)?Release$/s;

/**
 * Which suites that another tool keeps in this very store list which of these pool files. They have no record, and share the pool with a
 * suite that was taken over alone. `known` are suites that have a record. One request for each thousand objects below `dists/`, one for
 * each foreign head and one for each of its lists. Nothing is verified: a false word here can only keep a file. Throws rather than guess
 * when a list is there and cannot be read.
 */
export async function foreignReach(
  store: ObjectStore,
  known: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): Promise<Map<string, Set<string>>> {
  const suites = new Set<string>();
  for await (const { key } of listed(store, 'dists/')) {
    const [, suite] = foreignHead.exec(key) ?? [];
    if (suite !== undefined && !known.has(suite)) suites.add(suite);
  }
  const reached = new Map<string, Set<string>>();
  await wave([...suites], async (suite) => {
    for (const name of (await namesIn(store, suite)).filter((each) => wanted.has(each))) {
      reached.set(name, (reached.get(name) ?? new Set()).add(suite));
    }
  });
  return reached;
}

async function namesIn(store: ObjectStore, suite: string): Promise<string[]> {
  const { head, signed } = await readForeignHead(store, suite);
  const origin = `The head of suite ${suite}`;
  const { files } = parseRelease(signed ? unverifiedText(Buffer.from(head), origin) : head, origin);
  const lists = Map.groupBy(
    files.filter(({ path }) => namesPoolFiles(splitForm(path).index)),
    ({ path }) => splitForm(path).index,
  );
  const names = await wave([...lists], async ([index, forms]): Promise<string[]> => {
    for (const { path, sha256 } of byEffort(forms)) {
      const canonical = await store.get(canonicalKey(suite, path));
      const object = canonical.found ? canonical : await store.get(byHashKey(suite, path, sha256));
      if (!object.found) continue;
      const compression = compressionOf(path);
      if (compression === undefined) throw unreadableForm(suite, index);
      const place = `${path} of suite ${suite}`;
      const bytes = await decompress(compression, object.body, largestIndex, place);
      return listedFiles(bytes, index, place).map(({ filename }) => keyOfName(filename));
    }
    // Nobody can read what is listed and exists in no form.
    return [];
  });
  return names.flat();
}
