import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { config, generateKey, type PrivateKey } from 'openpgp';
import type { Problem } from '../../src/problem.ts';
import { fingerprintOf, readSigningKeys } from '../../src/signing/keys.ts';
import { preflight } from '../../src/signing/preflight.ts';
import { fixture, keyText, signingDate } from './fixture-keys.ts';

const withCode =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.equal((error as Problem).code, code);
    assert.match((error as Problem).what, words);
    return true;
  };

suite('keys that every apt accepts pass without a word', () => {
  for (const name of [
    'ed25519',
    'rsa-subkey',
    'rsa-subkey-offline',
    'nistp256',
    'expiring-extended',
    'prefers-sha256',
  ]) {
    test(name, async () => assert.deepEqual(await preflight(await fixture(name), signingDate), []));
  }
});

suite('keys that some apt refuses are refused', () => {
  const kinds = {
    rsa1024: /an RSA key of 1024 bits/,
    dsa2048: /the algorithm dsa/,
    brainpoolP256r1: /the curve brainpoolP256r1/,
    secp256k1: /the curve secp256k1/,
  };
  for (const [name, words] of Object.entries(kinds)) {
    test(name, async () => {
      await assert.rejects(preflight(await fixture(name), signingDate), withCode('signing-key-algorithm', words));
    });
  }

  const date = new Date('2024-01-01T00:00:00Z');
  const made = async (options: Partial<Parameters<typeof generateKey>[0]>) => {
    const { privateKey } = await generateKey({
      userIDs: { name: 'x' },
      date,
      subkeys: [],
      ...options,
      format: 'object',
    });
    return [{ key: privateKey as PrivateKey, signer: privateKey as PrivateKey }];
  };

  test('Ed25519 in the form of RFC 9580', async () => {
    const keys = await made({ type: 'curve25519' });
    await assert.rejects(preflight(keys, signingDate), withCode('signing-key-algorithm', /algorithm 27/));
  });

  test('Ed448', async () => {
    const keys = await made({ type: 'curve448' });
    await assert.rejects(preflight(keys, signingDate), withCode('signing-key-algorithm', /algorithm 28/));
  });

  test('version 6', async () => {
    const keys = await made({ type: 'curve25519', config: { ...config, v6Keys: true } });
    await assert.rejects(preflight(keys, signingDate), withCode('signing-key-algorithm', /version 6/));
  });

  test('self-signatures of SHA-1', async () => {
    await assert.rejects(preflight(await fixture('sha1'), signingDate), withCode('signing-key-sha1', /SHA-1/));
  });
});

suite('time', () => {
  const during = new Date('2024-06-20T00:00:00Z');

  test('a key that has expired is refused, and says when', async () => {
    const keys = await fixture('expiring');
    await assert.rejects(preflight(keys, signingDate), withCode('signing-key-expired', /expired on 2024-07-01/));
  });

  test('a subkey that has expired is refused by its own fingerprint', async () => {
    const keys = await fixture('subkey-expiring');
    const subkey = new RegExp(`${keys[0] && fingerprintOf(keys[0].signer)} expired on 2024-07-01`);
    await assert.rejects(preflight(keys, signingDate), withCode('signing-key-expired', subkey));
  });

  test('a key that expires within 60 days is warned about, with the command that extends it', async () => {
    const [warning, ...more] = await preflight(await fixture('expiring'), during);
    assert.deepEqual(more, []);
    assert.match(warning ?? '', /expires on 2024-07-01, in \d+ days: .*gpg --quick-set-expire [0-9A-F]{40} 1y"/);
  });

  test('a subkey that expires is warned about, with both fingerprints in the command', async () => {
    const [warning] = await preflight(await fixture('subkey-expiring', { at: during }), during);
    assert.match(warning ?? '', /gpg --quick-set-expire [0-9A-F]{40} 1y [0-9A-F]{40}"/);
  });

  test('61 days before, nothing is said', async () => {
    assert.deepEqual(await preflight(await fixture('expiring'), new Date('2024-04-30T00:00:00Z')), []);
  });

  test('a key of the future is refused', async () => {
    const keys = await fixture('ed25519');
    const before = new Date('2023-12-31T23:59:59Z');
    await assert.rejects(preflight(keys, before), withCode('signing-key-not-yet-valid', /valid from 2024-01-01T00:00/));
  });

  test('a key whose expiry was set anew later than the signature is not valid yet', async () => {
    const keys = await fixture('expiring-extended');
    const before = new Date('2024-06-14T00:00:00Z');
    await assert.rejects(preflight(keys, before), withCode('signing-key-not-yet-valid', /valid from 2024-06-15/));
  });
});

test('a revoked key is refused', async () => {
  await assert.rejects(preflight(await fixture('revoked'), signingDate), withCode('signing-key-revoked'));
});

test('a revoked subkey is refused', async () => {
  const [signing] = await fixture('rsa-subkey');
  const primary = signing?.key.keyPacket;
  assert.ok(signing && primary && 'isDummy' in primary && 'bindingSignatures' in signing.signer);
  const revoked = await signing.signer.revoke(primary, {}, signingDate);
  signing.key.subkeys = [revoked];
  const keys = await readSigningKeys({ keys: Buffer.from(signing.key.write()).toString('base64'), at: signingDate });
  await assert.rejects(preflight(keys, signingDate), withCode('signing-key-revoked'));
});

test('all faulty keys are reported together', async () => {
  const keys = await readSigningKeys({ keys: `${keyText('rsa1024')}${keyText('sha1')}`, at: signingDate });
  await assert.rejects(preflight(keys, signingDate), (error: { all: Problem[] }) => {
    assert.deepEqual(
      error.all.map(({ code }) => code),
      ['signing-key-algorithm', 'signing-key-sha1'],
    );
    return true;
  });
});
