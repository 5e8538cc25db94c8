import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { readCleartextMessage, readSignature } from 'openpgp';
import type { Problem } from '../../src/problem.ts';
import { readSigningKeys, type SigningKeys } from '../../src/signing/keys.ts';
import { signRelease } from '../../src/signing/sign.ts';
import { armoredPublicKey, fingerprints, publicKeys } from '../../src/signing/verify.ts';
import { fixture, keyText, run, signingDate, unlessInstalled, withFolder } from './fixture-keys.ts';

const release = [
  'Origin: Tést 日本',
  'Suite: bookworm',
  'Description: one',
  ' .',
  ' - a dash after a blank',
  'From: here',
  'Date: Sun, 01 Jun 2025 12:00:00 UTC',
  'SHA256:',
  ' e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0 main/binary-amd64/Packages',
  '',
].join('\n');

const all = () =>
  readSigningKeys({ keys: ['ed25519', 'rsa-subkey', 'nistp256'].map(keyText).join(''), at: signingDate });
const keySets: Record<string, () => Promise<SigningKeys>> = {
  'an Ed25519 key': () => fixture('ed25519'),
  'a locked key': () => fixture('locked', { passphrase: 'correct horse' }),
  'an RSA signing subkey': () => fixture('rsa-subkey'),
  'a signing subkey whose primary key is offline': () => fixture('rsa-subkey-offline'),
  'a NIST key': () => fixture('nistp256'),
  'a key extended after its expiry': () => fixture('expiring-extended'),
  'a key that prefers SHA256 in mail': () => fixture('prefers-sha256'),
  'three keys at once': all,
};

/** Writes what a client would get, with a keyring of the public parts. */
async function publishTo(folder: string, keys: SigningKeys): Promise<void> {
  const { inRelease, releaseGpg } = await signRelease(release, keys, signingDate);
  writeFileSync(join(folder, 'InRelease'), inRelease);
  writeFileSync(join(folder, 'Release'), release);
  writeFileSync(join(folder, 'Release.gpg'), releaseGpg);
  writeFileSync(join(folder, 'key.asc'), armoredPublicKey(keys));
  writeFileSync(join(folder, 'key.gpg'), Buffer.concat(publicKeys(keys).map((key) => key.write())));
}

suite('gpgv accepts InRelease and Release.gpg of', { skip: unlessInstalled('gpgv') }, () => {
  for (const [name, read] of Object.entries(keySets)) {
    test(name, () =>
      withFolder(async (folder) => {
        const keys = await read();
        await publishTo(folder, keys);
        const keyring = ['--homedir', folder, '--keyring', join(folder, 'key.gpg'), '--status-fd', '1'];
        const clear = run('gpgv', [...keyring, '--output', 'text', 'InRelease'], folder);
        const detached = run('gpgv', [...keyring, 'Release.gpg', 'Release'], folder);
        for (const status of [clear, detached])
          assert.equal(status.match(/^\[GNUPG:] VALIDSIG .* 10 /gm)?.length, keys.length);
        // The newline that ends the last line of signed text comes on top of the one that is signed.
        assert.equal(run('cat', ['text'], folder), `${release}\n`);
      }),
    );
  }
});

suite('sqv accepts Release.gpg, with the published .asc as its keyring, of', { skip: unlessInstalled('sqv') }, () => {
  for (const [name, read] of Object.entries(keySets)) {
    test(name, () =>
      withFolder(async (folder) => {
        const keys = await read();
        await publishTo(folder, keys);
        const count = ['--signatures', String(keys.length)];
        const answer = run('sqv', ['--keyring', 'key.asc', ...count, 'Release.gpg', 'Release'], folder);
        assert.deepEqual(answer.trim().split('\n').sort(), fingerprints(keys).sort());
        const { lines, signature } = split(await signRelease(release, keys, signingDate).then((s) => s.inRelease));
        // sqv 1.1 reads no clear-signed text: apt 3 hands it the two halves in the same way.
        writeFileSync(join(folder, 'text'), lines);
        writeFileSync(join(folder, 'text.sig'), signature);
        run('sqv', ['--keyring', 'key.asc', ...count, 'text.sig', 'text'], folder);
      }),
    );
  }
});

/** The signed text with CRLF, as it is hashed, and the signature. */
function split(inRelease: string): { lines: string; signature: string } {
  const [head = '', signature = ''] = inRelease.split('\n-----BEGIN PGP SIGNATURE-----\n');
  const text = head.slice(head.indexOf('\n\n') + 2);
  return { lines: text.replaceAll('\n', '\r\n'), signature: `-----BEGIN PGP SIGNATURE-----\n${signature}` };
}

suite('gpg imports the published key file', { skip: unlessInstalled('gpg') }, () => {
  test('with every key in it, and no secret', async () => {
    const keys = await all();
    const armoured = armoredPublicKey(keys);
    assert.equal(armoured.match(/-----BEGIN/g)?.length, 1);
    await withFolder((folder) => {
      writeFileSync(join(folder, 'key.asc'), armoured);
      const listed = run('gpg', ['--homedir', folder, '--batch', '--show-keys', '--with-colons', 'key.asc'], folder);
      const primaries = [...listed.matchAll(/^pub:.*\n(?:rvk.*\n)?fpr:+([0-9A-F]{40}):/gm)].map((match) => match[1]);
      assert.deepEqual(primaries, fingerprints(keys));
      assert.doesNotMatch(listed, /^sec:/m);
    });
  });
});

test('the form is what every client reads: LF, the header first, nothing after the signature', async () => {
  const { inRelease, releaseGpg } = await signRelease(release, await all(), signingDate);
  assert.ok(inRelease.startsWith('-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nOrigin: '));
  assert.ok(inRelease.includes(`\n\n${release}\n-----BEGIN PGP SIGNATURE-----\n`));
  assert.ok(inRelease.endsWith('-----END PGP SIGNATURE-----\n'));
  assert.ok(releaseGpg.startsWith('-----BEGIN PGP SIGNATURE-----\n'));
  assert.doesNotMatch(inRelease + releaseGpg, /\r/);
});

test('invariant 8: the same input gives the same bytes', async () => {
  for (const name of ['ed25519', 'rsa-subkey']) {
    const once = await signRelease(release, await fixture(name), signingDate);
    assert.deepEqual(await signRelease(release, await fixture(name), signingDate), once);
  }
});

test('signatures are of SHA512, of the date given, and carry no random notation', async () => {
  const { inRelease, releaseGpg } = await signRelease(release, await fixture('prefers-sha256'), signingDate);
  const { packets } = await readSignature({ armoredSignature: releaseGpg });
  const clear = await readCleartextMessage({ cleartextMessage: inRelease });
  const [packet, ...more] = packets;
  assert.equal(more.length, 0);
  assert.equal(packet?.hashAlgorithm, 10);
  assert.deepEqual(packet?.created, signingDate);
  assert.deepEqual(packet?.rawNotations, []);
  assert.equal(clear.getText(), release);
});

suite('a date before the key', () => {
  test('is refused with the moment from which the key is usable', async () => {
    const early = new Date('2023-06-01T00:00:00Z');
    await assert.rejects(signRelease(release, await fixture('ed25519'), early), (problem: Problem) => {
      assert.equal(problem.code, 'signing-date-before-key');
      assert.match(problem.what, /usable since 2024-01-01T00:00:0\dZ/);
      return true;
    });
  });

  test('is refused too when only the self-signature is newer', async () => {
    const keys = await fixture('expiring-extended');
    const between = new Date('2024-06-01T00:00:00Z');
    await assert.rejects(signRelease(release, keys, between), { code: 'signing-date-before-key' });
  });
});

suite('a text that InRelease would change is a defect', () => {
  const texts = {
    'a line that begins with a dash': 'Suite: x\n-dash\n',
    'a trailing blank': 'Suite: x \n',
    'a trailing tab': 'Suite: x\n y\t\n',
    'a carriage return': 'Suite: x\r\n',
    'no final newline': 'Suite: x',
    nothing: '',
  };
  for (const [name, text] of Object.entries(texts)) {
    test(name, async () => assert.rejects(signRelease(text, await fixture('ed25519'), signingDate), { name: 'Error' }));
  }
});

test('a key just made by gpg on this machine signs', { skip: unlessInstalled('gpg') || unlessInstalled('gpgv') }, () =>
  withFolder(async (folder) => {
    const env = { GNUPGHOME: folder };
    const batch = ['--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', ''];
    try {
      run('gpg', [...batch, '--quick-generate-key', 'now <now@example.org>', 'ed25519', 'cert', '1y'], folder, env);
      const primary =
        /^fpr:+([0-9A-F]{40}):/m.exec(run('gpg', ['--list-keys', '--with-colons'], folder, env))?.[1] ?? '';
      run('gpg', [...batch, '--quick-add-key', primary, 'rsa2048', 'sign', '1y'], folder, env);
      const exported = run('gpg', [...batch, '--armor', '--export-secret-subkeys', primary], folder, env);
      const made = Number(/^ssb:(?:[^:]*:){4}(\d+):/m.exec(run('gpg', ['-K', '--with-colons'], folder, env))?.[1]);
      const at = new Date(made * 1000);
      const keys = await readSigningKeys({ keys: exported, fingerprint: primary, at });
      const { inRelease } = await signRelease(release, keys, at);
      writeFileSync(join(folder, 'InRelease'), inRelease);
      run('gpg', ['--batch', '--verify', 'InRelease'], folder, env);
    } finally {
      run('gpgconf', ['--kill', 'all'], folder, env);
    }
  }),
);
