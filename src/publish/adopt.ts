import { decompress } from '../codec/codecs.ts';
import { fieldValue } from '../debian/deb822.ts';
import { parseRelease, type Release, type ReleaseFile } from '../debian/release.ts';
import { scanStanzas } from '../debian/stanza-index.ts';
import { Problem } from '../problem.ts';
import { unverifiedText } from '../signing/verify.ts';
import type { StoredForm } from './build-indexes.ts';
import { digest } from './digest.ts';
import { compressionOf, splitForm } from './index-paths.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import type { Baseline, Foreign } from './look.ts';
import { largestIndex, requireHash } from './read-indexes.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/** A suite that another tool has made, read whole. */
export interface Adopted {
  /** What the first generation here is made from. It lists what was found stored, and nothing else. */
  readonly baseline: Baseline;
  /** Every stored form: each gets a by-hash name, which the other tool may not have given it. */
  readonly forms: readonly StoredForm[];
  /** Indexes that were stored uncompressed only, to be built anew. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  /** Every index, uncompressed, by path without form. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/**
 * Reads a foreign suite whole, since what this run signs it must have seen (invariant 5): every stored index is checked against the
 * hashes of the head as it is. Whether that head can be trusted is what the user has vouched for by `adopt`; what was taken is told
 * in a warning.
 */
export function adopt(run: RunContext, suite: string, foreign: Foreign): Promise<Adopted> {
  return phase(run, 'read', suite, async (reading) => {
    const origin = `The ${foreign.signed ? 'InRelease' : 'Release'} of suite ${suite}`;
    const text = foreign.signed ? unverifiedText(Buffer.from(foreign.head), origin) : foreign.head;
    const release = parseRelease(text, origin);
    refuseIndependentLists(suite, release);
    const indexes = Map.groupBy(release.files, ({ path }) => splitForm(path).index);
    const taken = (await wave([...indexes], ([index, files]) => takeIndex(reading, suite, index, files))).flat();
    const listed = taken.flatMap(({ files }) => files);
    run.warn(description(suite, foreign, taken));
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
  const found = await wave(files, async (file) => {
    if (splitForm(file.path).extension === '' && files.length > 1) return [];
    const canonical = await store.get(canonicalKey(suite, file.path));
    const object = canonical.found ? canonical : await store.get(byHashKey(suite, file.path, file.sha256));
    if (!object.found) return [];
    requireHash(object.body, file, suite);
    return [{ path: file.path, bytes: object.body, sha256: file.sha256 }];
  });
  const stored = found.flat();
  const [first] = stored;
  const compression = first === undefined ? undefined : compressionOf(first.path);
  if (first === undefined || compression === undefined) return [];
  const twin = files.find(({ path }) => path === index);
  const origin = `${first.path} of suite ${suite}`;
  const content = await scope.work('unpack', first.bytes.length, () =>
    decompress(compression, first.bytes, twin?.size ?? largestIndex, origin),
  );
  if (twin !== undefined) requireHash(content, twin, suite);
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

function refuseIndependentLists(suite: string, release: Release): void {
  const architectures = (fieldValue(release.fields, 'Architectures') ?? '').split(/\s+/);
  const list = release.files.find(({ path }) => /(^|\/)binary-all\/Packages(\.|$)/.test(path));
  if (!architectures.includes('all') || list === undefined) return;
  throw new Problem({
    code: 'adopt-binary-all',
    title: 'The suite keeps packages for all apart',
    what: `Suite ${suite} lists packages of architecture "all" in ${list.path}, and here they stand in every architecture's list.`,
    advice: 'Publish the packages into a new suite instead.',
  });
}

function description(suite: string, { signed }: Foreign, taken: readonly TakenIndex[]): string {
  const lists = taken
    .filter(({ index }) => index.endsWith('/Packages') || index.endsWith('/Sources'))
    .map(({ index, content }) => `${scanStanzas(content, `${index} of suite ${suite}`).length} in ${index}`);
  const head = signed ? 'an InRelease whose signature was not checked' : 'a Release without a signature';
  return `Suite ${suite} was taken over from ${head}: ${lists.length === 0 ? 'no packages' : lists.join(', ')}.`;
}
