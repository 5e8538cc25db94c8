import { decompress } from '../codec/codecs.ts';
import { fieldValue } from '../debian/deb822.ts';
import type { Release, ReleaseFile } from '../debian/release.ts';
import { scanStanzas } from '../debian/stanza-index.ts';
import { Problem } from '../problem.ts';
import type { StoredForm } from './build-indexes.ts';
import { digest } from './digest.ts';
import { readForeignRelease } from './foreign-release.ts';
import { mergeIndependentLists } from './independent-lists.ts';
import { compressionOf, namesPoolFiles, splitForm } from './index-paths.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import type { Baseline, Foreign } from './look.ts';
import { withPlainNames } from './plain-names.ts';
import { largestIndex, requireHash, unreadableForm } from './read-indexes.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { ownContents } from './suite-contents.ts';
import { wave } from './wave.ts';

/** A suite that another tool has made, read whole. */
export interface Adopted {
  /** What the first generation here is made from. It lists what was found stored, and nothing else. */
  readonly baseline: Baseline;
  /** Every stored form: each gets a by-hash name, which the other tool may not have given it. */
  readonly forms: readonly StoredForm[];
  /** Indexes to be built anew: those that were stored uncompressed only, or not as they have to be. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  /** Every index, uncompressed, by path without form. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/**
 * Reads a foreign suite whole, since what this run signs it must have seen (invariant 5): every stored index is checked against the
 * hashes of the head as it is. Whether that head can be trusted is what the user has vouched for by `adopt`, or what the keys say that an
 * import is given; what was taken is told in a warning. Packages for all that the other tool keeps apart come into the list of every
 * architecture; `declared` are the architectures of a suite that has none but those.
 */
export function adopt(
  run: RunContext,
  suite: string,
  foreign: Foreign,
  declared: readonly string[] | undefined,
): Promise<Adopted> {
  return phase(run, 'read', suite, async (reading) => {
    const { release, text, vouched } = await readForeignRelease(reading.store, suite, foreign, run.origin?.trusted);
    const indexes = Map.groupBy(release.files, ({ path }) => splitForm(path).index);
    const found = (await wave([...indexes], ([index, files]) => takeIndex(reading, suite, index, files))).flat();
    const taken = withOwnContents(suite, release, withIndependent(suite, release, found, declared));
    const listed = taken.flatMap(({ files }) => files);
    const missing = [...indexes.keys()].filter(
      (path) => namesPoolFiles(path) && !found.some(({ index }) => index === path),
    );
    run.warn(description(suite, vouched, taken, missing));
    return {
      baseline: {
        record: standInRecord(suite, foreign.head),
        recordAge: undefined,
        release: { fields: release.fields, files: listed },
        releaseText: text,
      },
      forms: taken.flatMap(({ forms }) => forms),
      lists: new Map(taken.filter(({ forms }) => forms.length === 0).map(({ index, content }) => [index, content])),
      contents: new Map(taken.map(({ index, content }) => [index, content])),
    };
  });
}

interface TakenIndex {
  readonly index: string;
  readonly content: Uint8Array;
  /** The forms that exist. */
  readonly forms: readonly StoredForm[];
  /** As the Release is to list it: the forms and the uncompressed twin. */
  readonly files: readonly ReleaseFile[];
}

/** One index in the forms that exist; none for what is listed without being stored, or is no index (a Release of one folder). */
async function takeIndex(
  { store, scope }: Phase,
  suite: string,
  index: string,
  files: readonly ReleaseFile[],
): Promise<TakenIndex[]> {
  if (index.endsWith('/Release') || index.endsWith('/Index')) return [];
  const stored = await storedForms(store, suite, files);
  const first = stored.find(({ path }) => compressionOf(path) !== undefined);
  const compression = first === undefined ? undefined : compressionOf(first.path);
  if (first === undefined || compression === undefined) {
    // A list left out would take its packages out of the suite.
    if (stored.length > 0 && namesPoolFiles(index)) throw unreadableForm(suite, index);
    return [];
  }
  const twin = files.find(({ path }) => path === index);
  const origin = `${first.path} of suite ${suite}`;
  const content = await scope.work('unpack', first.bytes.length, () =>
    decompress(compression, first.bytes, twin?.size ?? largestIndex, origin),
  );
  if (twin !== undefined) requireHash(content, twin, suite);
  const plain = withPlainNames(index, content);
  if (plain !== content) return [toBeBuilt(index, plain)];
  const forms = stored.filter(({ path }) => path !== index);
  return [
    {
      index,
      content,
      forms,
      files: [
        { path: index, size: content.length, sha256: digest(content) },
        ...forms.map(({ path, bytes, sha256 }) => ({ path, size: bytes.length, sha256 })),
      ],
    },
  ];
}

/** Those of the forms that exist. The uncompressed twin, which most tools list without storing it, is looked for where there is no other. */
async function storedForms(
  store: Phase['store'],
  suite: string,
  files: readonly ReleaseFile[],
): Promise<readonly StoredForm[]> {
  const isTwin = ({ path }: ReleaseFile) => splitForm(path).extension === '';
  for (const forms of [files.filter((file) => !isTwin(file)), files.filter(isTwin)]) {
    const found = await wave(forms, async (file): Promise<StoredForm[]> => {
      const canonical = await store.get(canonicalKey(suite, file.path));
      const object = canonical.found ? canonical : await store.get(byHashKey(suite, file.path, file.sha256));
      if (!object.found) return [];
      requireHash(object.body, file, suite);
      return [{ path: file.path, bytes: object.body, sha256: file.sha256 }];
    });
    if (found.flat().length > 0) return found.flat();
  }
  return [];
}

/** In place of the record that there is not yet, or that cannot be read. */
export function standInRecord(suite: string, head: string): Baseline['record'] {
  return {
    schema: 'apt-publish/suite/1',
    suite,
    claim: { run: 'another-tool', limitSeconds: 1 },
    generation: { number: 0, head, renames: [], added: [], poolVersion: 0 },
    kept: [],
    condemned: [],
    fading: [],
    unlisted: [],
    conditions: { kind: 'none', etags: 'bare' },
    embedded: {},
  };
}

/** Lists of packages for all that stand apart, where readers of the suite read them (`all` is one of its architectures). */
function withIndependent(
  suite: string,
  release: Release,
  taken: readonly TakenIndex[],
  declared: readonly string[] | undefined,
): readonly TakenIndex[] {
  const words = (fieldValue(release.fields, 'Architectures') ?? '').split(/\s+/).filter(Boolean);
  if (!words.includes('all')) return taken;
  const real = (names: readonly string[]) => names.filter((name) => name !== 'all' && name !== 'source');
  const own = real(words);
  const architectures = own.length > 0 ? own : real(declared ?? []);
  const contents = new Map(taken.map(({ index, content }) => [index, content]));
  const { lists, apart } = mergeIndependentLists(suite, contents, architectures);
  if (apart.size > 0 && architectures.length === 0) throw architecturesUnknown(suite);
  return [
    ...taken.filter(({ index }) => !lists.has(index) && !apart.has(index)),
    ...Array.from(lists, ([index, content]) => toBeBuilt(index, content)),
  ];
}

/** Contents as this tool keeps them; whatever else of that kind was listed would not be kept up to date. */
function withOwnContents(suite: string, release: Release, taken: readonly TakenIndex[]): readonly TakenIndex[] {
  const contents = new Map(taken.map(({ index, content }) => [index, content]));
  const components = (fieldValue(release.fields, 'Components') ?? '').split(/\s+/).filter(Boolean);
  const listed = taken.flatMap(({ index }) => /\/binary-([^/]+)\/Packages$/.exec(index)?.[1] ?? []);
  const architectures = [...new Set(listed)].filter((name) => name !== 'all').sort();
  const { lists, apart } = ownContents(suite, contents, { components, architectures });
  return [
    ...taken.filter(({ index }) => !lists.has(index) && !apart.has(index)),
    ...Array.from(lists, ([index, content]) => toBeBuilt(index, content)),
  ];
}

/** An index that is not stored as it is to be. */
function toBeBuilt(index: string, content: Uint8Array): TakenIndex {
  return { index, content, forms: [], files: [{ path: index, size: content.length, sha256: digest(content) }] };
}

function description(suite: string, vouched: string, taken: readonly TakenIndex[], missing: readonly string[]): string {
  const lists = taken
    .filter(({ index }) => index.endsWith('/Packages') || index.endsWith('/Sources'))
    .map(({ index, content }) => `${scanStanzas(content, `${index} of suite ${suite}`).length} in ${index}`);
  const left = missing.length === 0 ? '' : ` Listed there and not stored: ${missing.join(', ')}.`;
  return `Suite ${suite} was taken over from ${vouched}: ${lists.length === 0 ? 'no packages' : lists.join(', ')}.${left}`;
}

/** Of a suite whose packages are for all and nothing else. */
export function architecturesUnknown(suite: string): Problem {
  return new Problem({
    code: 'architectures-unknown',
    title: 'Which architectures is this suite for?',
    what: `Suite ${suite}, as it is to be taken over, lists packages of architecture "all" only, which does not tell whose lists they belong in.`,
    advice: 'Say it once: `architectures: amd64 arm64`.',
  });
}
