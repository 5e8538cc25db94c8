import { decompress } from '../codec/codecs.ts';
import { fieldValue } from '../debian/deb822.ts';
import { parseRelease, type Release, type ReleaseFile } from '../debian/release.ts';
import { parseReleaseDate } from '../debian/release-date.ts';
import { Problem } from '../problem.ts';
import { verifyInRelease } from '../signing/verify.ts';
import { digest } from './digest.ts';
import type { KnownGeneration } from './generation-name.ts';
import { readableForms, splitForm } from './index-paths.ts';
import { byHashKey } from './layout.ts';
import type { Baseline, Trusted } from './look.ts';
import { storedHead } from './next-record.ts';
import { largestIndex, requireHash } from './read-indexes.ts';
import type { Phase } from './run-context.ts';
import { wave } from './wave.ts';

/**
 * The Release of a kept generation, out of its own signed head. The record's word on kept generations is signed by nobody, so it only
 * says where to look: the head must have the hash that the record tells, a good signature by one of the given keys, the Suite
 * of the published Release and an older Date (invariant 5). Whoever can write into the store can thus, at worst, have a state
 * chosen that this suite once was in.
 */
export async function readKeptRelease(
  { store }: Phase,
  suite: string,
  published: Baseline,
  generation: KnownGeneration,
  trusted: Trusted,
): Promise<Release> {
  const { path } = storedHead(published.record);
  const object = await store.get(byHashKey(suite, path, generation.headSha256));
  if (!object.found) throw gone(suite, generation, `its ${path}`);
  const origin = `The ${path} of generation ${generation.number} of suite ${suite}`;
  if (digest(object.body) !== generation.headSha256)
    throw strange(origin, 'does not have the hash that the record tells');
  const text =
    trusted === undefined
      ? Buffer.from(object.body).toString()
      : (await verifyInRelease(object.body, trusted, origin)).release;
  const release = parseRelease(text, origin);
  if (fieldValue(release.fields, 'Suite') !== fieldValue(published.release.fields, 'Suite')) {
    throw strange(origin, 'is that of another suite');
  }
  if (!(dateOf(release) < dateOf(published.release))) throw strange(origin, 'is newer than the one that is published');
  return release;
}

/**
 * The content of those stored forms of a kept generation that the published one stores otherwise: every one of them is there and is what
 * the verified Release lists, or the run stops before any write. Answers with what names packages, uncompressed, by path without form.
 */
export async function readKeptIndexes(
  { store, scope }: Phase,
  suite: string,
  generation: KnownGeneration,
  release: Release,
  changed: readonly ReleaseFile[],
): Promise<Map<string, Uint8Array>> {
  const bodies = new Map(
    await wave(changed, async (file): Promise<[string, Uint8Array]> => {
      const object = await store.get(byHashKey(suite, file.path, file.sha256));
      if (!object.found) throw gone(suite, generation, file.path);
      requireHash(object.body, file, suite);
      return [file.path, object.body];
    }),
  );
  const indexes = new Set(changed.map(({ path }) => splitForm(path).index));
  const contents = await wave([...indexes], async (index): Promise<[string, Uint8Array][]> => {
    const twin = release.files.find(({ path }) => path === index);
    for (const [extension, compression] of readableForms) {
      const body = bodies.get(`${index}${extension}`);
      if (body === undefined) continue;
      const origin = `${index}${extension} of suite ${suite}`;
      const limit = twin?.size ?? largestIndex;
      const content = await scope.work('unpack', body.length, () => decompress(compression, body, limit, origin));
      if (twin !== undefined) requireHash(content, twin, suite);
      return [[index, content]];
    }
    return [];
  });
  return new Map(contents.flat());
}

function dateOf(release: Release): number {
  return parseReleaseDate(fieldValue(release.fields, 'Date') ?? '') ?? Number.NaN;
}

function gone(suite: string, { number }: KnownGeneration, what: string): Problem {
  return new Problem({
    code: 'generation-incomplete',
    title: 'The generation is not complete any more',
    what: `Generation ${number} of suite ${suite} cannot be brought back: the by-hash object of ${what} does not exist.`,
    advice: 'Choose another generation, and look for a lifecycle rule or a script that deletes objects under dists/.',
  });
}

function strange(origin: string, why: string): Problem {
  return new Problem({
    code: 'generation-strange',
    title: 'The generation is not what the record says',
    what: `${origin} ${why}.`,
    advice: 'Find out who writes into this repository; nothing has been signed or changed.',
  });
}
