import { decompress } from '../codec/codecs.ts';
import { fieldValue } from '../debian/deb822.ts';
import type { Release, ReleaseFile } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { publicAccessDenied } from '../store/http.ts';
import type { Found, NotFound } from '../store/object-store.ts';
import { readableForms, splitForm } from './index-paths.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import { withPlainNames } from './plain-names.ts';
import { largestIndex, requireHash } from './read-indexes.ts';
import type { Phase } from './run-context.ts';
import { wave } from './wave.ts';

/** What an index of a foreign suite is about. */
export interface ForeignIndex {
  /** Without form. */
  readonly path: string;
  readonly kind: 'packages' | 'sources' | 'translation' | 'contents';
  /** Absent for a Contents of the whole suite. */
  readonly component?: string;
  /** Absent where it is about none; `all` may be one. */
  readonly architecture?: string;
}

const layouts: readonly (readonly [kind: ForeignIndex['kind'], path: RegExp])[] = [
  ['packages', /^(?<component>.+?)\/(?:debian-installer\/)?binary-(?<architecture>[^/]+)\/Packages$/],
  ['sources', /^(?<component>.+)\/source\/Sources$/],
  ['translation', /^(?<component>.+)\/i18n\/Translation-[^/]+$/],
  // Those of udebs and of sources have names of the same form, and nobody reads them.
  ['contents', /^(?:(?<component>.+)\/)?Contents-(?!udeb-|source$)(?<architecture>[^/]+)$/],
];

/** The indexes of a Release that this tool knows; and how many it lists besides, which it would not know how to keep. */
export function foreignIndexes({ files }: Release): { readonly known: ForeignIndex[]; readonly others: number } {
  const paths = [...new Set(files.map(({ path }) => splitForm(path).index))];
  const known = paths.flatMap((path): ForeignIndex[] => {
    for (const [kind, layout] of layouts) {
      const { component, architecture } = layout.exec(path)?.groups ?? {};
      if (component === undefined && architecture === undefined) continue;
      return [
        {
          path,
          kind,
          ...(component === undefined ? {} : { component }),
          ...(architecture === undefined ? {} : { architecture }),
        },
      ];
    }
    return [];
  });
  // Release files and diffs beside the lists say nothing that the lists do not.
  const foreign = paths.filter((path) => !/(?:^|\/)(?:Release|Index)$/.test(path));
  return { known, others: foreign.length - known.length };
}

/**
 * The content of an index of a foreign suite, in whichever of its listed forms exists. By hash first where the Release promises that: its
 * repository may be publishing at this moment. What has another hash than the Release lists stops the run (invariant 5).
 */
async function readForeignIndex(
  { store, scope }: Phase,
  suite: string,
  release: Release,
  index: string,
): Promise<Uint8Array> {
  const listed = release.files.filter(({ path }) => splitForm(path).index === index);
  const twin = listed.find(({ path }) => path === index);
  if (twin?.size === 0) return new Uint8Array();
  const byHash = fieldValue(release.fields, 'Acquire-By-Hash') === 'yes';
  for (const [extension, compression] of readableForms) {
    const file = listed.find(({ path }) => path === `${index}${extension}`);
    const body = file && (await readForm(store, suite, file, byHash));
    if (file === undefined || body === undefined) continue;
    requireHash(body, file, suite);
    const origin = `${file.path} of suite ${suite}`;
    const limit = twin?.size ?? largestIndex;
    const content = await scope.work('unpack', body.length, () => decompress(compression, body, limit, origin));
    if (twin !== undefined) requireHash(content, twin, suite);
    return withPlainNames(index, content);
  }
  throw new Problem({
    code: 'import-index-missing',
    title: 'An index to import cannot be read',
    what: `${index} of suite ${suite} is listed by the Release to import, and exists there in no form that can be read.`,
    advice: 'Have that repository put right, or leave that component or architecture out of the import.',
  });
}

async function readForm(
  store: Phase['store'],
  suite: string,
  file: ReleaseFile,
  byHash: boolean,
): Promise<Uint8Array | undefined> {
  if (byHash) {
    const object = await unlessForbidden(store.get(byHashKey(suite, file.path, file.sha256)));
    if (object.found) return object.body;
  }
  const object = await store.get(canonicalKey(suite, file.path));
  return object.found ? object.body : undefined;
}

/** Buckets behind a web address say "forbidden" of what does not exist; readers then try the other name, as apt does. */
async function unlessForbidden(asked: Promise<Found | NotFound>): Promise<Found | NotFound> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.code === publicAccessDenied) return { found: false };
    throw error;
  }
}

/** Several of them, by path. */
export async function readForeignIndexes(
  reading: Phase,
  suite: string,
  release: Release,
  indexes: readonly ForeignIndex[],
): Promise<Map<string, Uint8Array>> {
  return new Map(
    await wave(
      indexes,
      async ({ path }): Promise<[string, Uint8Array]> => [path, await readForeignIndex(reading, suite, release, path)],
    ),
  );
}
