import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Problem } from '../../src/problem.ts';
import { fingerprintOf } from '../../src/signing/keys.ts';
import { binaryOf, fixture, keyText } from './fixture-keys.ts';

const armoured = keyText('ed25519');
const withHeaders = armoured.replace(
  '\n\n',
  '\nVersion: GnuPG v2.2.40\nComment: made for tests, see https://example.org/keys: all\n\n',
);
const base64 = binaryOf('ed25519').toString('base64');

suite('a private key is read', async () => {
  const [plain] = await fixture('ed25519');
  const expected = plain && fingerprintOf(plain.key);
  const forms: Record<string, string> = {
    'as gpg prints it': armoured,
    'with CRLF line ends': armoured.replaceAll('\n', '\r\n'),
    'with a byte order mark': `\uFEFF${armoured}`,
    'with indented armour': armoured.replaceAll(/^/gm, '      '),
    'with newlines turned into blanks': armoured.replaceAll('\n', ' '),
    'with newlines turned into blanks, and armour headers': withHeaders.replaceAll('\n', ' '),
    'with newlines turned into a literal \\n': armoured.replaceAll('\n', '\\n'),
    'with newlines turned into a literal \\r\\n': armoured.replaceAll('\n', '\\r\\n'),
    'with newlines removed': armoured.replaceAll('\n', ''),
    'in quotes, as from a JSON file': JSON.stringify(armoured),
    'with armour headers': withHeaders,
    'with text around the block': `My key:\n${armoured}Keep it safe.\n`,
    'without its checksum line': armoured.replace(/^=.{4}\n/m, ''),
    'as base64 of the armour': Buffer.from(armoured).toString('base64'),
    'as wrapped base64 of the armour': Buffer.from(armoured).toString('base64').replaceAll(/.{76}/g, '$&\n'),
    'as base64 of the binary key': base64,
    'as wrapped base64 of the binary key': `${base64.replaceAll(/.{64}/g, '$&\n')}\n`,
    'as base64 of armour with literal newlines': Buffer.from(armoured.replaceAll('\n', '\\n')).toString('base64'),
  };
  for (const [form, keys] of Object.entries(forms)) {
    test(form, async () => {
      const read = await fixture('ed25519', { keys });
      assert.deepEqual(
        read.map(({ key }) => fingerprintOf(key)),
        [expected],
      );
    });
  }
});

suite('what is no private key is named for what it looks like', () => {
  const publicBlock = armoured.replaceAll('PRIVATE', 'PUBLIC');
  const cases: Record<string, [string, string, RegExp]> = {
    'nothing at all': ['', 'signing-key-missing', /is empty/],
    'only blanks': [' \n\t\n', 'signing-key-missing', /is empty/],
    'a public key': [publicBlock, 'signing-key-not-a-key', /a public key/],
    'a public key in base64': [Buffer.from(publicBlock).toString('base64'), 'signing-key-not-a-key', /a public key/],
    'a signature': [
      armoured.replaceAll('PRIVATE KEY BLOCK', 'SIGNATURE'),
      'signing-key-not-a-key',
      /OpenPGP signature/,
    ],
    'an SSH key': ['-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n', 'signing-key-not-a-key', /an SSH or TLS key/],
    'a certificate': ['-----BEGIN CERTIFICATE-----\nMIIB\n', 'signing-key-not-a-key', /PEM text/],
    'a web page': ['<!DOCTYPE html><html></html>', 'signing-key-not-a-key', /HTML page/],
    'a path': ['/home/me/secret.key', 'signing-key-not-a-key', /the path of a file/],
    'a relative path': ['keys/secret.asc', 'signing-key-not-a-key', /the path of a file/],
    'a fingerprint': [
      '0123 4567 89AB CDEF 0123  4567 89AB CDEF 0123 4567'.replace('  ', ' '),
      'signing-key-not-a-key',
      /a fingerprint/,
    ],
    'an expression': ['$' + '{{ secrets.KEY }}', 'signing-key-not-a-key', /not expanded/],
    'a mask': ['***', 'signing-key-not-a-key', /asterisks/],
    'a binary file': ['\uFFFD\u0000\u0001', 'signing-key-not-a-key', /binary file/],
    'base64 of something': [Buffer.alloc(99, 'x').toString('base64'), 'signing-key-not-a-key', /base64 of something/],
    'a word': ['hello there', 'signing-key-not-a-key', /text that is not a key/],
    'a key without an end': [armoured.slice(0, 300), 'signing-key-damaged', /without its END line/],
    'a key with a line missing': [armoured.replace(/\n\n.*\n/, '\n\n'), 'signing-key-damaged', /cannot be read/],
    'an empty block': [armoured.replace(/\n\n[\s\S]*?-----END/, '\n\n-----END'), 'signing-key-damaged', /not base64/],
  };
  for (const [name, [keys, code, words]] of Object.entries(cases)) {
    test(name, async () => {
      await assert.rejects(fixture('ed25519', { keys }), (problem: Problem) => {
        assert.equal(problem.code, code);
        assert.match(problem.what, words);
        return true;
      });
    });
  }

  test('and nothing of the text is in the message', async () => {
    const secret = 'hunter2hunter2hunter2';
    await assert.rejects(fixture('ed25519', { keys: secret }), (problem: Problem) => !problem.message.includes(secret));
  });
});
