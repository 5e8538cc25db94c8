import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { parseRelease } from '../../src/debian/release.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { publicKeys, verifyDetached, verifyInRelease } from '../../src/signing/verify.ts';
import { ClosingCounts } from '../faults/closing-counts.ts';
import type { Bucket } from '../rig/s3-bucket.ts';

/** What all checks of this process have found. */
export const counts = new ClosingCounts();

/** Something that a head, a record or a kept generation promises to be there. */
interface Promised {
  readonly key: string;
  readonly sha256: string;
}

/** The parts of a suite's record that name objects, spelled here by hand so that one mistake is not made twice. */
interface RecordShape {
  readonly generation: { readonly number: number; readonly head: string };
  readonly conditions: { readonly kind: string; readonly etags: string };
  readonly kept: readonly { readonly dropped: readonly { readonly path: string; readonly sha256: string }[] }[];
}

/** Names of the suites that are published below `folder` (empty, or with a `/` at its end). */
export function suitesIn(bucket: Bucket, folder = ''): string[] {
  const record = /^\.apt-publish\/(?!pool\.json$)([^/]+)\.json$/;
  return bucket
    .keys()
    .flatMap((key) => (key.startsWith(folder) ? (record.exec(key.slice(folder.length))?.[1] ?? []) : []));
}

export function recordOf(bucket: Bucket, suite: string, folder = ''): RecordShape {
  return JSON.parse(bucket.text(`${folder}.apt-publish/${suite}.json`));
}

/** `name version` of every stanza of a suite's list of one architecture, as a client finds it: from the head, by hash. */
export function packagesIn(bucket: Bucket, suite: string, architecture = 'amd64', folder = ''): string[] {
  const { files } = parseRelease(releaseText(bucket.text(`${folder}dists/${suite}/InRelease`)), suite);
  const list = files.find(({ path }) => path === `main/binary-${architecture}/Packages.gz`);
  assert.ok(list !== undefined, `suite ${suite} has no list for ${architecture}`);
  const bytes = bucket.get(byHash(folder, suite, list.path, list.sha256))?.body;
  assert.ok(bytes !== undefined, `the list for ${architecture} of ${suite} is not there by hash`);
  return stanzas(bytes).map(({ name, version }) => `${name} ${version}`);
}

/** A suite's list of one architecture names these packages, as `packagesIn` spells them, and no others. */
export function assertPackages(
  bucket: Bucket,
  suite: string,
  expected: readonly string[],
  architecture?: string,
): void {
  const listed = packagesIn(bucket, suite, architecture);
  counts.add('packages lost', expected.filter((name) => !listed.includes(name)).length);
  assert.deepEqual(listed, expected);
}

/**
 * What is promised and missing or damaged, at this instant (invariant 2): by-hash objects and pool files of each head, of each
 * record and of each generation that a record keeps. Empty when all is well.
 */
export function brokenPromises(bucket: Bucket, folder = ''): string[] {
  const promised = new Map<string, Promised>();
  for (const suite of suitesIn(bucket, folder)) {
    const record = recordOf(bucket, suite, folder);
    const head = bucket.get(`${folder}dists/${suite}/InRelease`)?.body.toString();
    const generations = [record.generation.head, ...(head === undefined ? [] : [head])].map((text) =>
      parseRelease(releaseText(text), suite).files.filter(({ path }) => path.endsWith('.gz')),
    );
    for (const index of [...generations, ...record.kept.map(({ dropped }) => dropped)].flat()) {
      const key = byHash(folder, suite, index.path, index.sha256);
      promised.set(key, { key, sha256: index.sha256 });
      const list = index.path.endsWith('/Packages.gz') ? bucket.get(key)?.body : undefined;
      for (const { filename, sha256 } of list === undefined ? [] : stanzas(list)) {
        promised.set(`${folder}${filename} ${sha256}`, { key: folder + filename, sha256 });
      }
    }
  }
  return [...promised.values()].flatMap(({ key, sha256 }) => {
    const object = bucket.get(key);
    if (object === undefined) return [`${key} is missing`];
    return digest(object.body) === sha256 ? [] : [`${key} has other bytes`];
  });
}

/** Everything that must hold of a repository on which nobody is at work; `folder` as in `suitesIn`. */
export async function assertConsistent(bucket: Bucket, keys: SigningKeys, folder = ''): Promise<void> {
  const broken = brokenPromises(bucket, folder);
  counts.add('repositories judged');
  counts.add('missing files', broken.length);
  assert.deepEqual(broken, []);
  assert.equal(bucket.uploads.size, 0, 'no upload is left open');
  const trusted = publicKeys(keys);
  for (const suite of suitesIn(bucket, folder)) {
    const dist = `${folder}dists/${suite}/`;
    const head = bucket.text(`${dist}InRelease`);
    assert.equal(head, recordOf(bucket, suite, folder).generation.head, `record and head of ${suite} are apart`);
    const { release } = await verifyInRelease(Buffer.from(head), trusted, suite);
    assert.equal(bucket.text(`${dist}Release`), release, `Release of ${suite} is not what InRelease says`);
    await verifyDetached(Buffer.from(release), bucket.text(`${dist}Release.gpg`), trusted, suite);
    const mixed = parseRelease(release, suite).files.filter(({ path, sha256, size }) => {
      const stored = bucket.get(`${dist}${path.replace(/(\.gz)?$/, '.gz')}`)?.body;
      const bytes = stored === undefined || path.endsWith('.gz') ? stored : gunzipSync(stored);
      return bytes === undefined || digest(bytes) !== sha256 || bytes.length !== size;
    });
    counts.add('mixed views', mixed.length);
    assert.deepEqual(mixed, [], `canonical names of ${suite} are not what its Release says`);
  }
}

/** The text that a clear-signed file signs; nothing in the tests' Release files needs dash-escaping. */
function releaseText(head: string): string {
  return `${/\n\n(.*?)\n-----BEGIN PGP SIGNATURE-----/s.exec(head)?.[1] ?? head}\n`;
}

function byHash(folder: string, suite: string, path: string, sha256: string): string {
  return `${folder}dists/${suite}/${path.slice(0, path.lastIndexOf('/') + 1)}by-hash/SHA256/${sha256}`;
}

interface ListedPackage {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly sha256: string;
}

const readLists = new WeakMap<Uint8Array, ListedPackage[]>();
const hashes = new WeakMap<Uint8Array, string>();

/** What a list names. Asked after every change of a bucket, so each stored body is read once. */
function stanzas(gz: Uint8Array): ListedPackage[] {
  const read = readLists.get(gz) ?? readList(gz);
  readLists.set(gz, read);
  return read;
}

function readList(gz: Uint8Array): ListedPackage[] {
  const field = (stanza: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1] ?? '';
  return gunzipSync(gz)
    .toString()
    .split('\n\n')
    .filter((stanza) => stanza.trim() !== '')
    .map((stanza) => ({
      name: field(stanza, 'Package'),
      version: field(stanza, 'Version'),
      filename: field(stanza, 'Filename'),
      sha256: field(stanza, 'SHA256'),
    }));
}

/** Of a body that nobody changes. */
function digest(body: Uint8Array): string {
  const hash = hashes.get(body) ?? createHash('sha256').update(body).digest('hex');
  hashes.set(body, hash);
  return hash;
}
