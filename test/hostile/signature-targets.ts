import assert from 'node:assert/strict';
import { signRelease } from '../../src/signing/sign.ts';
import { publicKeys, verifyDetached, verifyInRelease } from '../../src/signing/verify.ts';
import { fixture, signingDate } from '../signing/fixture-keys.ts';
import { type Dictionary, mutated } from './mutation.ts';
import type { Target } from './target.ts';

const release = 'Suite: bookworm\nDate: Sun, 01 Jun 2025 12:00:00 UTC\nSHA256:\n 00 0 main/binary-amd64/Packages\n';
const mine = await fixture('ed25519');
const theirs = await fixture('nistp256');
const trusted = publicKeys(mine);
const own = await signRelease(release, mine, signingDate);
const foreign = await signRelease(release.replace('bookworm', 'trixie'), theirs, signingDate);

const dictionary: Dictionary = [
  '-----BEGIN PGP SIGNED MESSAGE-----\n',
  '-----BEGIN PGP SIGNATURE-----\n',
  '-----END PGP SIGNATURE-----\n',
  'Hash: SHA512\n',
  'Hash: MD5\n',
  'NotDashEscaped: yes\n',
  'Comment: x\n',
  '- ',
  ' ',
  '\t\n',
  '\n\n',
  '\r\n',
  '\r',
  '\0',
  'SHA256:\n 11 1 main/evil\n',
  'Codename: evil\n',
  '=AAAA\n',
];

/** openpgp.js throws on algorithms that have no number, and verify.ts passes it on: the run stops, in words for nobody. */
const known = /^Error verifying signed message: Invalid enum value\.$/;

const inRelease: Target = {
  name: 'in-release',
  known,
  cost: 0.5,
  make: (generator) =>
    mutated(
      Buffer.from(generator.of([own.inRelease, own.inRelease, foreign.inRelease])),
      generator,
      dictionary,
      Buffer.from(foreign.inRelease),
    ),
  async check(input) {
    const verified = await verifyInRelease(input, trusted, 'InRelease');
    assert.equal(verified.release, release, 'what is believed is what the key has signed');
  },
};

/** Release and Release.gpg in one input, apart at the armour's first line. */
const detached: Target = {
  name: 'release-gpg',
  known,
  cost: 0.5,
  make: (generator) =>
    mutated(Buffer.from(release + own.releaseGpg), generator, dictionary, Buffer.from(foreign.releaseGpg)),
  async check(input) {
    const at = Buffer.from(input).indexOf('-----BEGIN PGP SIGNATURE-----');
    const text = input.subarray(0, at === -1 ? input.length : at);
    const signature = Buffer.from(input.subarray(text.length)).toString();
    await verifyDetached(text, signature, trusted, 'Release.gpg');
    assert.equal(Buffer.from(text).toString('latin1'), release, 'what is believed is what the key has signed');
  },
};

export const signatureTargets: readonly Target[] = [inRelease, detached];
