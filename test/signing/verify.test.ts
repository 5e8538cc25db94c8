import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { armor, enums } from 'openpgp';
import type { Problem } from '../../src/problem.ts';
import { fingerprintOf, readSigningKeys } from '../../src/signing/keys.ts';
import { signRelease } from '../../src/signing/sign.ts';
import { fingerprints, publicKeys, verifyDetached, verifyInRelease } from '../../src/signing/verify.ts';
import { fixture, keyText, run, signingDate, unlessInstalled, withFolder } from './fixture-keys.ts';

const release = 'Suite: bookworm\nDate: Sun, 01 Jun 2025 12:00:00 UTC\nSHA256:\n 00 0 main/binary-amd64/Packages\n';
const origin = 'dists/bookworm/InRelease';
const bytes = (text: string) => new TextEncoder().encode(text);
const mine = await fixture('ed25519');
const other = await fixture('nistp256');
const trusted = publicKeys(mine);
const { inRelease, releaseGpg } = await signRelease(release, mine, signingDate);
const [, signatureBlock = ''] = inRelease.split(`\n\n${release}\n`);

const rejectsInRelease = (text: string | Uint8Array, code: string, words = /./, keys = trusted) =>
  assert.rejects(verifyInRelease(typeof text === 'string' ? bytes(text) : text, keys, origin), (problem: Problem) => {
    assert.equal(problem.code, code);
    assert.match(problem.what, words);
    assert.ok(problem.what.includes(origin));
    return true;
  });

suite('invariant 5: a head is believed when', () => {
  test('a given key signed it', async () => {
    assert.deepEqual(await verifyInRelease(bytes(inRelease), trusted, origin), {
      release,
      signedBy: fingerprints(mine),
    });
  });

  test('its lines end with CRLF; the text is given with LF', async () => {
    const crlf = bytes(inRelease.replaceAll('\n', '\r\n'));
    assert.equal((await verifyInRelease(crlf, trusted, origin)).release, release);
  });

  test('one of two signers is known', async () => {
    const both = await signRelease(release, [...other, ...mine], signingDate);
    const { signedBy } = await verifyInRelease(bytes(both.inRelease), trusted, origin);
    assert.deepEqual(signedBy, fingerprints(mine));
  });

  test('two signature blocks follow the text and only the second is of a known key', async () => {
    const theirs = await signRelease(release, other, signingDate);
    const twoBlocks = theirs.inRelease + signatureBlock;
    const { signedBy } = await verifyInRelease(bytes(twoBlocks), trusted, origin);
    assert.deepEqual(signedBy, fingerprints(mine));
  });

  test('its key has expired since', async () => {
    const keys = await fixture('expiring');
    const then = await signRelease(release, keys, new Date('2024-06-30T00:00:00Z'));
    const { signedBy } = await verifyInRelease(bytes(then.inRelease), publicKeys(keys), origin);
    assert.deepEqual(signedBy, fingerprints(keys));
  });

  test('its key was extended since, so that its self-signature is newer than the head', async () => {
    const then = await signRelease(release, await fixture('expiring'), new Date('2024-02-01T00:00:00Z'));
    const extended = await fixture('expiring-extended');
    assert.equal((await verifyInRelease(bytes(then.inRelease), publicKeys(extended), origin)).release, release);
  });

  test('an offline primary key with a signing subkey vouches for it', async () => {
    const subkey = await signRelease(release, await fixture('rsa-subkey-offline'), signingDate);
    const keys = await fixture('rsa-subkey');
    const { signedBy } = await verifyInRelease(bytes(subkey.inRelease), publicKeys(keys), origin);
    assert.deepEqual(signedBy, fingerprints(keys));
  });

  test('gpg wrote it, dash-escaped lines and all', { skip: unlessInstalled('gpg') }, () =>
    withFolder(async (folder) => {
      const env = { GNUPGHOME: folder };
      writeFileSync(join(folder, 'key'), keyText('ed25519'));
      writeFileSync(join(folder, 'Release'), 'Suite: x   \n-dash\nFrom here\n- - two\n');
      try {
        run('gpg', ['--batch', '--quiet', '--import', 'key'], folder, env);
        const clear = run('gpg', ['--batch', '--clear-sign', '--output', '-', 'Release'], folder, env);
        assert.equal(
          (await verifyInRelease(bytes(clear), trusted, origin)).release,
          'Suite: x\n-dash\nFrom here\n- - two',
        );
      } finally {
        run('gpgconf', ['--kill', 'all'], folder, env);
      }
    }),
  );
});

suite('invariant 5: a head is not believed when', () => {
  test('another key signed it; the message names both', () =>
    rejectsInRelease(
      inRelease,
      'inrelease-other-key',
      new RegExp(`key ${fingerprints(mine)[0]?.slice(-16)}.*${fingerprints(other)[0]}`),
      publicKeys(other),
    ));

  test('one byte of the text was changed', () =>
    rejectsInRelease(inRelease.replace('bookworm', 'bookwork'), 'inrelease-bad-signature'));

  test('a line was added or taken away', async () => {
    await rejectsInRelease(inRelease.replace('Suite', 'Label: x\nSuite'), 'inrelease-bad-signature');
    await rejectsInRelease(inRelease.replace('Suite: bookworm\n', ''), 'inrelease-bad-signature');
  });

  test('the signature belongs to another text', async () => {
    const another = await signRelease(release.replace('bookworm', 'trixie'), mine, signingDate);
    const [, block = ''] = another.inRelease.split('Packages\n\n');
    await rejectsInRelease(inRelease.replace(signatureBlock, block), 'inrelease-bad-signature');
  });

  test('its key had expired before it signed', async () => {
    const extended = await fixture('expiring-extended');
    const late = await signRelease(release, extended, signingDate);
    const keys = publicKeys(await fixture('expiring'));
    await rejectsInRelease(late.inRelease, 'inrelease-bad-signature', /expired/, keys);
  });

  test('its key was revoked', async () => {
    const keys = publicKeys(await fixture('revoked'));
    const [key] = keys;
    assert.ok(key);
    const unrevoked = await readSigningKeys({ keys: keyText('revoked'), at: signingDate });
    for (const signing of unrevoked) signing.key.revocationSignatures = [];
    const signed = await signRelease(release, unrevoked, signingDate);
    await rejectsInRelease(signed.inRelease, 'inrelease-bad-signature', /revoked/, keys);
    assert.equal(fingerprintOf(key), fingerprints(unrevoked)[0]);
  });

  test('it carries no signature, or only one of an unknown kind', async () => {
    await rejectsInRelease(release, 'inrelease-unsigned');
    const ofVersion3 = Uint8Array.of(0xc2, 4, 3, 0, 0, 0);
    const block = armor(enums.armor.signature, ofVersion3);
    await rejectsInRelease(inRelease.replace(signatureBlock, block), 'inrelease-unsigned');
  });

  const hidden = inRelease.replace('Hash: SHA512\n', 'Hash: SHA512\nSuite: evil\n');
  const garbage: Record<string, [string | Uint8Array, RegExp]> = {
    'it is empty': ['', /an empty file/],
    'it is a web page': ['<!DOCTYPE html>\n<title>403</title>\n', /HTML or XML page/],
    'it is an S3 error': ['<?xml version="1.0"?><Error/>', /HTML or XML page/],
    'it is not text': [Uint8Array.of(0x1f, 0x8b, 8, 0xff), /not UTF-8/],
    'it is some other text': ['hello\n', /not a clear-signed text/],
    'something stands before it': [`Suite: evil\n\n${inRelease}`, /something before it/],
    'a blank line stands before it': [`\n${inRelease}`, /something before it/],
    'something stands after it': [`${inRelease}\nSuite: evil\n`, /something after its signature/],
    'a second signed text stands after it': [inRelease + inRelease, /something after its signature/],
    'a header hides text': [hidden, /cut off or damaged/],
    'its text is cut off': [inRelease.slice(0, 120), /cut off or damaged/],
    'its signature is cut off': [inRelease.slice(0, -40), /signature that is cut off/],
    'its signature is not base64': [inRelease.replace(/(SIGNATURE-----\n\n).{8}/, '$1!!!!!!!!'), /cannot be read/],
    'a line is not dash-escaped': [inRelease.replace('Suite', '-x\nSuite'), /begins with "-"/],
  };
  for (const [name, [text, words]] of Object.entries(garbage)) {
    test(name, () => rejectsInRelease(text, 'inrelease-garbage', words));
  }
});

suite('a detached signature', () => {
  const check = (text: string, signature: string, keys = trusted) =>
    verifyDetached(bytes(text), signature, keys, 'dists/bookworm/Release.gpg');

  test('by a given key is good', async () => {
    assert.deepEqual(await check(release, releaseGpg), { signedBy: fingerprints(mine) });
  });

  test('covers every byte', async () => {
    await assert.rejects(check(`${release}\n`, releaseGpg), { code: 'release-gpg-bad-signature' });
    await assert.rejects(check(release.replaceAll('\n', '\r\n'), releaseGpg), { code: 'release-gpg-bad-signature' });
  });

  test('by another key is refused', async () => {
    await assert.rejects(check(release, releaseGpg, publicKeys(other)), { code: 'release-gpg-other-key' });
  });

  test('that is none is refused', async () => {
    await assert.rejects(check(release, ''), { code: 'release-gpg-garbage' });
    await assert.rejects(check(release, release), { code: 'release-gpg-garbage' });
  });
});
