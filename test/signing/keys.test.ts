import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { encryptKey, generateKey } from 'openpgp';
import { type Problem, Problems } from '../../src/problem.ts';
import { fingerprintOf, readSigningKeys, type SigningKeys } from '../../src/signing/keys.ts';
import { signRelease } from '../../src/signing/sign.ts';
import { fixture, keyText, signingDate } from './fixture-keys.ts';

const withCode =
  (code: string, words = /./) =>
  (error: unknown) => {
    assert.equal((error as Problem).code, code);
    assert.match((error as Problem).what, words);
    return true;
  };
const signers = (keys: SigningKeys) => keys.map(({ signer }) => fingerprintOf(signer));
const primaries = (keys: SigningKeys) => keys.map(({ key }) => fingerprintOf(key));

suite('several keys', () => {
  test('in blocks one after another all sign, in their order', async () => {
    const names = ['nistp256', 'ed25519', 'rsa-subkey'];
    const together = await readSigningKeys({ keys: names.map(keyText).join(''), at: signingDate });
    const apart = (await Promise.all(names.map((name) => fixture(name)))).flat();
    assert.deepEqual(primaries(together), primaries(apart));
  });

  test('in one block all sign', async () => {
    const keys = [await fixture('ed25519'), await fixture('nistp256')].flat();
    const block = Buffer.concat(keys.map(({ key }) => key.write())).toString('base64');
    assert.deepEqual(primaries(await readSigningKeys({ keys: block, at: signingDate })), primaries(keys));
  });

  test('given twice sign once', async () => {
    const twice = await readSigningKeys({ keys: keyText('ed25519').repeat(2), at: signingDate });
    assert.equal(twice.length, 1);
  });

  test('that share a passphrase are opened by it, next to one that is not locked', async () => {
    const [plain] = await fixture('nistp256');
    assert.ok(plain);
    const second = (await encryptKey({ privateKey: plain.key, passphrase: 'correct horse' })).armor();
    const keys = `${keyText('locked')}${second}${keyText('ed25519')}`;
    const read = await readSigningKeys({ keys, passphrase: 'correct horse', at: signingDate });
    assert.equal((await signRelease('Suite: x\n', read, signingDate)).inRelease.length > 0, true);
    assert.equal(read.length, 3);
  });

  test('that stay shut are all reported', async () => {
    const keys = `${keyText('locked')}${keyText('cert-only')}`;
    await assert.rejects(readSigningKeys({ keys, at: signingDate }), (error: Problems) => {
      assert.ok(error instanceof Problems);
      assert.deepEqual(
        error.all.map(({ code }) => code),
        ['signing-key-locked', 'signing-key-cannot-sign'],
      );
      return true;
    });
  });
});

suite('a passphrase', () => {
  test('opens a key', async () => {
    const keys = await fixture('locked', { passphrase: 'correct horse' });
    assert.ok((await signRelease('Suite: x\n', keys, signingDate)).releaseGpg);
  });

  test('may carry the newline that echo put into the secret', async () => {
    assert.equal((await fixture('locked', { passphrase: 'correct horse\n' })).length, 1);
  });

  test('that is wrong is refused and not repeated in the message', async () => {
    await assert.rejects(fixture('locked', { passphrase: 'battery staple' }), (problem: Problem) => {
      assert.ok(!problem.message.includes('battery'));
      return withCode('signing-key-wrong-passphrase', /does not open key [0-9A-F]{40}/)(problem);
    });
  });

  test('that is missing is asked for', async () => {
    await assert.rejects(fixture('locked'), withCode('signing-key-locked', /gpg-passphrase is empty/));
    await assert.rejects(fixture('locked', { passphrase: '' }), withCode('signing-key-locked'));
  });

  test('for a key that is not locked does no harm', async () => {
    assert.equal((await fixture('ed25519', { passphrase: 'superfluous' })).length, 1);
  });
});

suite('the part that signs', () => {
  test('is the signing subkey of a certify-only primary key', async () => {
    const [signing] = await fixture('rsa-subkey');
    assert.ok(signing);
    assert.deepEqual([fingerprintOf(signing.signer)], signing.key.subkeys.map(fingerprintOf));
  });

  test('is the same subkey when the primary key is a stub', async () => {
    assert.deepEqual(signers(await fixture('rsa-subkey-offline')), signers(await fixture('rsa-subkey')));
  });

  test('is the newest subkey usable at the time of signing, not the newest one', async () => {
    const date = new Date('2025-01-01T00:00:00Z');
    const { privateKey } = await generateKey({
      userIDs: { name: 'rolling' },
      date,
      subkeys: [{ sign: true, keyExpirationTime: 86_400 }, { sign: true }],
    });
    const keys = [
      await readSigningKeys({ keys: privateKey, at: date }),
      await readSigningKeys({ keys: privateKey, at: signingDate }),
    ];
    const subkeys = keys[0]?.[0]?.key.subkeys.map(fingerprintOf);
    assert.equal(subkeys?.length, 2);
    assert.deepEqual(signers(keys[1] ?? []), [subkeys?.[1]]);
  });

  test('does not exist in a certify-only key', async () => {
    await assert.rejects(fixture('cert-only'), withCode('signing-key-cannot-sign', /it is not marked for signing/));
  });
});

suite('a fingerprint', async () => {
  const both = `${keyText('ed25519')}${keyText('rsa-subkey')}`;
  const [plain] = await fixture('ed25519');
  const [split] = await fixture('rsa-subkey');
  assert.ok(plain && split);
  const primary = fingerprintOf(split.key);
  const subkey = fingerprintOf(split.signer);
  const choose = (fingerprint: string, keys = both) => readSigningKeys({ keys, fingerprint, at: signingDate });

  test('of a primary key chooses that key alone', async () => {
    assert.deepEqual(primaries(await choose(fingerprintOf(plain.key))), [fingerprintOf(plain.key)]);
    assert.deepEqual(signers(await choose(primary)), [subkey]);
  });

  test('of a subkey chooses that subkey, with and without a final exclamation mark', async () => {
    assert.deepEqual(signers(await choose(subkey)), [subkey]);
    assert.deepEqual(signers(await choose(`${subkey}!`)), [subkey]);
  });

  test('may be a key id, in lower case, with 0x and with blanks', async () => {
    const id = subkey.slice(-16);
    for (const form of [id, id.toLowerCase(), `0x${id}`, subkey.replaceAll(/.{4}/g, '$& ')]) {
      assert.deepEqual(signers(await choose(form)), [subkey]);
    }
  });

  test('with an exclamation mark insists on the primary key, which here may not sign', async () => {
    await assert.rejects(choose(`${primary}!`), withCode('signing-key-cannot-sign', /not marked for signing/));
    assert.deepEqual(signers(await choose(`${fingerprintOf(plain.key)}!`)), [fingerprintOf(plain.key)]);
  });

  test('of no given key is answered with those that are there', async () => {
    const present = new RegExp(`holds ${fingerprintOf(plain.key)}, ${primary}, ${subkey}`);
    await assert.rejects(choose('0'.repeat(40)), withCode('signing-key-fingerprint-not-found', present));
  });

  test('of eight digits is refused, as anybody can make a key that has them', async () => {
    await assert.rejects(choose(subkey.slice(-8)), withCode('signing-key-fingerprint-malformed'));
  });

  test('of a key leaves locked others alone', async () => {
    const keys = await choose(fingerprintOf(plain.key), `${both}${keyText('locked')}`);
    assert.deepEqual(primaries(keys), [fingerprintOf(plain.key)]);
  });
});
