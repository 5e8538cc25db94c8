import { entryFile } from '../debian/packages.ts';
import { scanStanzas } from '../debian/stanza-index.ts';
import { Problem } from '../problem.ts';
import { listed } from '../store/object-store.ts';
import type { Adopted } from './adopt.ts';
import { foreignIndexes } from './foreign-indexes.ts';
import { ImportedFiles } from './imported-files.ts';
import { namesPoolFiles, splitForm } from './index-paths.ts';
import { gathered, type PoolFile } from './list-changes.ts';
import { sourcePoolFiles } from './listed-source.ts';
import { type Prepare, type Prepared, prepared } from './prepare.ts';
import { commonFolder } from './prepare-import.ts';
import { missingSuite } from './prepare-remove.ts';
import type { ImportRequest } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { hasContents } from './shape.ts';
import { publishedShape, readSuite } from './suite-state.ts';

/**
 * The phases read and plan of an import in place: a suite that another tool has made in this very store becomes one of this tool's. No
 * package moves, and no Filename changes; whether every listed file is there is seen from a listing of the pool.
 */
export function prepareTakeover(run: RunContext, request: ImportRequest): Prepare {
  return async (suite) => {
    const state = await readSuite(run, suite, { ...request, adopt: true });
    const { adopted, published, has } = state;
    if (published === undefined) throw missingSuite(suite);
    const planned = { ...has, command: 'import', indexes: new Map(), plan: gathered([], hasContents(has)) } as const;
    if (adopted === undefined) return prepared(state, request, planned);
    const isTaken = selection(adopted, request);
    const taken: Adopted = {
      // The forms that leave are staged too: the state before this one is kept, like any other.
      ...adopted,
      lists: new Map([...adopted.lists].filter(([path]) => isTaken(path))),
      contents: new Map([...adopted.contents].filter(([path]) => isTaken(path))),
    };
    await requireFiles(run, suite, listedIn(suite, taken));
    const files = published.release.files.filter(({ path }) => isTaken(splitForm(path).index));
    const shape = publishedShape({ ...published.release, files });
    const kept = (names: readonly string[], wanted: readonly string[] | undefined) =>
      names.filter((name) => wanted?.includes(name) ?? true);
    // A suite with nothing but packages for all has got its lists from the architectures that are named.
    const named = (request.architectures ?? []).filter((name) => name !== 'all' && name !== 'source');
    const ready = prepared({ ...state, adopted: taken }, request, {
      ...planned,
      components: kept(shape.components, request.components),
      architectures: shape.architectures.length === 0 ? named : kept(shape.architectures, request.architectures),
      indexes: taken.contents,
    });
    return { ...ready, listed: files } satisfies Prepared;
  };
}

/** Which indexes are taken over; the others leave the suite. */
function selection({ baseline }: Adopted, { components, architectures }: ImportRequest): (index: string) => boolean {
  const known = new Map(foreignIndexes(baseline.release).known.map((index) => [index.path, index]));
  return (path) => {
    const { kind, component, architecture } = known.get(path) ?? {};
    const within = component === undefined ? path : `${component}/`;
    if (!(components?.some((name) => within.startsWith(`${name}/`)) ?? true)) return false;
    if (kind === 'sources') return architectures?.includes('source') ?? true;
    return architecture === undefined || (architectures?.includes(architecture) ?? true);
  };
}

function listedIn(suite: string, { contents }: Adopted): PoolFile[] {
  const files = new ImportedFiles((path, size, sha256) => ({ path, size, sha256 }));
  for (const [path, bytes] of contents) {
    if (!namesPoolFiles(path)) continue;
    const origin = `${path} of suite ${suite}`;
    for (const entry of scanStanzas(bytes, origin)) {
      const listedFiles = path.endsWith('/Sources') ? sourcePoolFiles(bytes, entry) : [entryFile(bytes, entry, origin)];
      for (const file of listedFiles) files.add(file, origin);
    }
  }
  return files.all;
}

/** Whoever signs a list vouches for what it names; a thousand names a request are looked up. */
async function requireFiles(run: RunContext, suite: string, files: readonly PoolFile[]): Promise<void> {
  if (files.length === 0) return;
  const sizes = await phase(run, 'read', suite, async ({ store }) => {
    const found = new Map<string, number>();
    for await (const { key, size } of listed(store, commonFolder(files.map((file) => file.key)))) found.set(key, size);
    return found;
  });
  const wrong = files.filter(({ key, file }) => sizes.get(key) !== file.size);
  const [first] = wrong;
  if (first === undefined) return;
  const size = sizes.get(first.key);
  const state = size === undefined ? 'does not exist' : `has ${size} bytes instead of ${first.file.size}`;
  throw new Problem({
    code: 'import-file-missing',
    title: 'Listed packages are not there',
    what: `Suite ${suite} lists ${wrong.length} files that are not as listed: ${first.key} ${state}.`,
    advice: 'Restore them, or take them out of the suite with the tool that made it; then run the job again.',
  });
}
