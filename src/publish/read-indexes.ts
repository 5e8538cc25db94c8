import { type Compression, carriedFrom, decompress, decompressSized, forms as storedForms } from '../codec/codecs.ts';
import type { ReleaseFile } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { digest } from './digest.ts';
import { readableForms, splitForm } from './index-paths.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import type { Baseline } from './look.ts';
import type { Phase } from './run-context.ts';
import { wave } from './wave.ts';

/** An index that is larger than this when unpacked is refused: Debian's largest is a sixth of it. */
export const largestIndex = 5 * 2 ** 30;

/**
 * The published content of these indexes, uncompressed, by path without form. Each one comes out of the record where it is
 * embedded, else from its by-hash name in one request, else from its canonical name; whatever it came from, its bytes must have
 * the hash that the verified Release lists, or the run stops (invariant 5).
 *
 * `forms` receives the stored forms of the large ones, by path with form: what does not change of them need not be compressed again.
 */
export async function readIndexes(
  { store, scope }: Phase,
  suite: string,
  published: Baseline,
  needed: readonly string[],
  forms: Map<string, Uint8Array>,
): Promise<Map<string, Uint8Array>> {
  const contents = await wave(needed, async (index): Promise<[string, Uint8Array]> => {
    const twin = published.release.files.find(({ path }) => path === index);
    if (twin?.size === 0) return [index, new Uint8Array()];
    const { file, compression } = storedForm(published, suite, index);
    const others = otherForms(published, index, file).filter(({ path }) => isCarriedOver(path, twin?.size ?? 0));
    const [bytes = new Uint8Array()] = await wave([file, ...others], async (form) => {
      const stored = await readStored(store, suite, published, form);
      if (isCarriedOver(form.path, twin?.size ?? 0)) forms.set(form.path, stored);
      return stored;
    });
    const origin = `${file.path} of suite ${suite}`;
    const content = await scope.work('unpack', bytes.length, () =>
      twin === undefined
        ? decompress(compression, bytes, largestIndex, origin)
        : decompressSized(compression, bytes, twin.size, origin),
    );
    // Its stored form has the hash that was signed, and what comes of that has a checksum of its own.
    if (twin !== undefined && content.length !== twin.size) throw indexChanged(content, twin, suite);
    return [index, content];
  });
  return new Map(contents);
}

/** Whether what does not change of this form need not be compressed again, so that it is worth a request. */
function isCarriedOver(path: string, size: number): boolean {
  const form = storedForms.find((name) => path.endsWith(`.${name}`));
  return form !== undefined && size >= carriedFrom[form];
}

function otherForms(published: Baseline, index: string, besides: ReleaseFile): ReleaseFile[] {
  return published.release.files.filter(
    ({ path }) => path !== index && path !== besides.path && splitForm(path).index === index,
  );
}

function storedForm(
  published: Baseline,
  suite: string,
  index: string,
): { file: ReleaseFile; compression: Compression } {
  const stored = published.release.files.filter(({ path }) => splitForm(path).index === index);
  for (const [extension, compression] of readableForms) {
    // The uncompressed twin is listed without being stored, unless nothing else is listed.
    if (extension === '' && stored.length > 1) break;
    const file = stored.find(({ path }) => path === `${index}${extension}`);
    if (file !== undefined) return { file, compression };
  }
  throw unreadableForm(suite, index);
}

/** Of an index that is there, and only in forms like `.lz4`. */
export function unreadableForm(suite: string, index: string): Problem {
  return new Problem({
    code: 'index-form-unknown',
    title: 'A published index cannot be read',
    what: `${index} of suite ${suite} is published in no form that can be read here.`,
    advice: 'Publish it once as .gz or .xz with the tool that made it.',
  });
}

async function readStored(
  store: Phase['store'],
  suite: string,
  published: Baseline,
  file: ReleaseFile,
): Promise<Uint8Array> {
  const embedded = published.record.embedded[file.path];
  if (embedded !== undefined) {
    const bytes = Buffer.from(embedded, 'base64');
    if (digest(bytes) === file.sha256) return bytes;
  }
  const byHash = await store.get(byHashKey(suite, file.path, file.sha256));
  if (byHash.found) {
    requireHash(byHash.body, file, suite);
    return byHash.body;
  }
  const canonical = await store.get(canonicalKey(suite, file.path));
  if (!canonical.found) {
    throw new Problem({
      code: 'index-missing',
      title: 'A published index is missing',
      what: `${file.path} of suite ${suite} is listed by its Release, but neither its by-hash object nor its canonical name exists.`,
      advice: 'Restore it from a backup of the bucket; nothing has been changed.',
    });
  }
  requireHash(canonical.body, file, suite);
  return canonical.body;
}

/** Throws when bytes are not what a verified Release says they are (invariant 5). */
export function requireHash(bytes: Uint8Array, file: ReleaseFile, suite: string): void {
  if (digest(bytes) !== file.sha256) throw indexChanged(bytes, file, suite);
}

function indexChanged(bytes: Uint8Array, file: ReleaseFile, suite: string): Problem {
  return new Problem({
    code: 'index-changed',
    title: 'A published index was changed',
    what: `${file.path} of suite ${suite} is not what the signed Release says: ${bytes.length} bytes in place of ${file.size} with the SHA256 ${file.sha256.slice(0, 12)}….`,
    advice: 'Find out who writes into this repository; nothing has been signed or changed.',
  });
}
