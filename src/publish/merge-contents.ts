import { compress, decompress } from '../codec/codecs.ts';
import { mergeContents, type PackagePaths, pathsHeld } from '../debian/contents.ts';
import { ownAttributes } from './attributes.ts';
import { isContents } from './index-paths.ts';
import { fileListKey } from './layout.ts';
import type { ContentsChange, FileList } from './list-changes.ts';
import type { Phase, RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/** No package has a list of paths near this size; a larger one is not one this tool wrote. */
const largestFileList = 256 * 2 ** 20;

/**
 * The new content of the Contents indexes that change. Lists of packages that this run did not scan come from the store, where
 * they were kept when the package was published: the data of a published .deb is never read again. Nobody has signed those lists, so
 * of what they would add only that is taken which a signed Contents says already (invariant 5): one of this suite, `published` by path
 * without form, or one of `vouching`, of another suite that packages come from.
 */
export async function mergeContentsIndexes(
  run: RunContext,
  { store, scope }: Phase,
  suite: string,
  changes: readonly ContentsChange[],
  published: ReadonlyMap<string, Uint8Array>,
  vouching: readonly Uint8Array[],
): Promise<Map<string, Uint8Array>> {
  const all = changes.flatMap(({ add, remove }) => [...add, ...remove]);
  const unread = new Map(all.filter(({ paths }) => paths === undefined).map((list) => [list.sha256, list]));
  const stored = new Map(
    await wave(
      [...unread.values()],
      async (list): Promise<[string, readonly string[] | undefined]> => [list.sha256, await readFileList(store, list)],
    ),
  );
  const missing = [...stored.values()].filter((paths) => paths === undefined).length;
  if (missing > 0) {
    run.warn(
      `Contents of suite ${suite} is not complete: the file lists of ${missing} published packages were never kept. Publish those packages again to have them in it.`,
    );
  }
  const known = (lists: readonly FileList[]): PackagePaths[] =>
    lists.flatMap(({ location, sha256, paths = stored.get(sha256) }) =>
      paths === undefined ? [] : [{ location, paths }],
    );
  const signed = [...published].flatMap(([path, bytes]) => (isContents(path) ? [bytes] : []));
  const vouched = (lists: readonly FileList[]): PackagePaths[] => {
    const own = lists.filter(({ paths }) => paths !== undefined);
    const kept = known(lists.filter(({ paths }) => paths === undefined));
    return [...known(own), ...pathsHeld([...signed, ...vouching], kept, `Contents of suite ${suite}`)];
  };
  return new Map(
    await wave(changes, async ({ path, add, remove }): Promise<[string, Uint8Array]> => {
      const before = published.get(path) ?? new Uint8Array();
      const merge = () =>
        mergeContents(before, { add: vouched(add), remove: known(remove) }, `${path} of suite ${suite}`);
      return [path, await scope.work('merge', before.length, merge)];
    }),
  );
}

/** Keeps the file list of a package that this run has scanned, for the day when its lines have to leave Contents again. */
export async function keepFileList({ store, scope }: Phase, list: FileList): Promise<void> {
  const text = Buffer.from(JSON.stringify(list.paths ?? []));
  const bytes = await scope.work('compress', text.length, () => compress('gz', text));
  await store.put(fileListKey(list.sha256), bytes, {
    ...ownAttributes,
    contentType: 'application/gzip',
    overlaps: true,
  });
}

async function readFileList(store: Phase['store'], list: FileList): Promise<readonly string[] | undefined> {
  const object = await store.get(fileListKey(list.sha256));
  if (!object.found) return undefined;
  const text = await decompress('gz', object.body, largestFileList, `The file list of ${list.location}`);
  const paths = parsed(text);
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : undefined;
}

/** A list that is no list is as good as one that was never kept. */
function parsed(text: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(text).toString('utf8'));
  } catch {
    return undefined;
  }
}
