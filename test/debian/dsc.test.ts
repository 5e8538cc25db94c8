import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCleartextMessage, generateKey, sign } from 'openpgp';
import { fieldValue, renderStanza } from '../../src/debian/deb822.ts';
import { parseDsc } from '../../src/debian/dsc.ts';
import { Problem, Problems } from '../../src/problem.ts';

const origin = 'dist/greet_1.0-1.dsc';
const md5 = (digit: string) => digit.repeat(32);
const sha256 = (digit: string) => digit.repeat(64);

const good = `Format: 3.0 (quilt)
Source: greet
Binary: greet
Architecture: any
Version: 1:1.0-1
Checksums-Sha256:
 ${sha256('a')} 100 greet_1.0.orig.tar.gz
 ${sha256('b')} 20 greet_1.0-1.debian.tar.xz
Files:
 ${md5('a')} 100 greet_1.0.orig.tar.gz
 ${md5('b')} 20 greet_1.0-1.debian.tar.xz
`;

const files = [
  { name: 'greet_1.0.orig.tar.gz', size: 100, md5: md5('a'), sha256: sha256('a') },
  { name: 'greet_1.0-1.debian.tar.xz', size: 20, md5: md5('b'), sha256: sha256('b') },
];

function problemsOf(text: string): readonly Problem[] {
  try {
    parseDsc(Buffer.from(text), origin);
    return [];
  } catch (error) {
    if (error instanceof Problem) return [error];
    if (error instanceof Problems) return error.all;
    throw error;
  }
}

const signature = '-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCgAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n';
const signed = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${good}\n${signature}`;

test('a .dsc tells the source package, its version and the files beside it, in the order of Files', () => {
  const source = parseDsc(Buffer.from(good), origin);
  assert.deepEqual([source.package, source.version, source.files], ['greet', '1:1.0-1', files]);
  assert.equal(renderStanza(source.stanza), good);
});

test('a clear-signature is taken off', () => {
  assert.deepEqual(parseDsc(Buffer.from(signed), origin), parseDsc(Buffer.from(good), origin));
});

test('a .dsc that OpenPGP.js has signed is read like the unsigned one', async () => {
  const text = `${good.replace('Binary: greet', 'Binary: greet,\n greet-doc\nX-Note: a\n - b')}`;
  const { privateKey } = await generateKey({ userIDs: [{ name: 'Test' }], format: 'object' });
  const message = await sign({ message: await createCleartextMessage({ text }), signingKeys: privateKey });
  const lines = message.replaceAll('\r\n', '\n');
  assert.equal(renderStanza(parseDsc(Buffer.from(lines), origin).stanza), text);
});

test('a line that a signer escaped is read without its escape', () => {
  const escaped = signed.replace('Format: ', '- Format: ').replace('Binary: ', '- Binary: ');
  assert.equal(renderStanza(parseDsc(Buffer.from(escaped), origin).stanza), good);
});

test('fields that a Sources index writes itself do not come from inside a .dsc', () => {
  const { stanza } = parseDsc(Buffer.from(`Package: lie\nDirectory: ../x\n${good}`), origin);
  assert.equal(renderStanza(stanza), good);
});

test('the line in a message counts from the top of a signed file', () => {
  const [problem] = problemsOf(signed.replace('Binary: greet', 'nonsense'));
  assert.equal(problem?.what, `${origin} has a line that is no field in line 6 ("nonsense").`);
});

const orig = 'greet_1.0.orig.tar.gz';
const renamed = (name: string) => good.replaceAll(orig, name);
const sums = /Checksums-Sha256:\n(?: .*\n)+/;

/** In words, the text and the code of its one kind of problem. */
const refused: readonly (readonly [string, string, string])[] = [
  ['without Source', good.replace(/^Source: .*\n/m, ''), 'dsc-field-missing'],
  ['without Version', good.replace(/^Version: .*\n/m, ''), 'dsc-field-missing'],
  ['without Files', good.replace(/Files:\n(?: .*\n)+/, ''), 'dsc-field-missing'],
  ['without Checksums-Sha256', good.replace(sums, ''), 'dsc-field-missing'],
  ['with a Source that leaves its folder', good.replace('Source: greet', 'Source: ../greet'), 'dsc-source'],
  ["with a binary's Source field", good.replace('Source: greet', 'Source: greet (1.0)'), 'dsc-source'],
  ['with a Version that is none', good.replace('1:1.0-1', '1:1.0/1'), 'dsc-version'],
  ['with a file of two folders', renamed('greet_1.0/orig.tar.gz'), 'dsc-file-name'],
  ['with a file in the folder above', renamed('../greet_1.0.tar.gz'), 'dsc-file-name'],
  ['with an absolute file name', renamed('/greet_1.0.tar.gz'), 'dsc-file-name'],
  ['with a leading dot in a file name', renamed('.greet_1.0.tar.gz'), 'dsc-file-name'],
  ['with a file name that URLs must encode', renamed('greet_1.0%2e.tar.gz'), 'dsc-file-name'],
  ['with a file name that is not ASCII', renamed('greet_1.0é.tar.gz'), 'dsc-file-name'],
  ['with a file name of 256 characters', renamed('greet_'.padEnd(256, '1')), 'dsc-file-name'],
  ['with a file twice', renamed('greet_1.0-1.debian.tar.xz').replaceAll(' 100 ', ' 20 '), 'dsc-file-name'],
  ['with a file of another source', renamed('hello_1.0.orig.tar.gz'), 'dsc-foreign-file'],
  ['that names itself', renamed('greet_1.0-1.dsc'), 'dsc-foreign-file'],
  ['that names a binary package', renamed('greet_1.0-1_amd64.deb'), 'dsc-foreign-file'],
  ['with two sizes for a file', good.replace(' 100 ', ' 101 '), 'dsc-lists-differ'],
  ['with a file in Files only', `${good} ${md5('c')} 1 greet_1.0.orig.tar.gz.asc\n`, 'dsc-lists-differ'],
  ['with a file missing from Files', good.replace(/ b{32} .*\n$/, ''), 'dsc-lists-differ'],
  [
    'with a file missing from another list',
    `${good}Checksums-Sha1:\n ${'a'.repeat(40)} 100 ${orig}\n`,
    'dsc-lists-differ',
  ],
  ['with a hash of the wrong length', good.replace(md5('a'), md5('a').slice(1)), 'dsc-file-list'],
  ['with a hash in upper case', good.replace(sha256('a'), sha256('A')), 'dsc-file-list'],
  ['with a size that is no number', good.replace(' 100 ', ' 1e2 '), 'dsc-file-list'],
  ['with a column too many', good.replace(' 100 ', ' 100 misc '), 'dsc-file-list'],
  ['with a line of one word', good.replace(/$/, ' word\n'), 'dsc-file-list'],
  ['with a field twice', `${good}source: other\n`, 'dsc-field-twice'],
  ['with a second stanza', `${good}\nSource: other\n`, 'dsc-second-stanza'],
  [
    'with a second stanza inside the signature',
    signed.replace('\n\n-----', '\n\nSource: other\n-----'),
    'dsc-second-stanza',
  ],
  ['with CRLF line ends', good.replaceAll('\n', '\r\n'), 'dsc-carriage-return'],
  ['with text before its signature', `Source: lie\n${signed}`, 'dsc-line-without-colon'],
  ['with text after its signature', `${signed}Source: lie\n`, 'dsc-signature'],
  ['signed and cut in the signature', signed.slice(0, -12), 'dsc-signature'],
  ['signed and cut before the signature', signed.slice(0, 200), 'dsc-signature'],
  ["signed and cut in the first line's headers", signed.slice(0, 45), 'dsc-signature'],
  ['of more than 4 MiB', `${signed}${'\n'.repeat(1 << 22)}`, 'dsc-too-large'],
];

for (const [what, text, code] of refused) {
  test(`a .dsc ${what} is refused by name`, () => {
    const problems = problemsOf(text);
    assert.ok(
      problems.some((problem) => problem.code === code),
      `${problems.map((problem) => problem.message)}`,
    );
    for (const problem of problems) {
      assert.ok(problem.what.startsWith(`${origin} `), problem.what);
      assert.match(problem.advice, /, then build the source package again\.$/);
      assert.ok(problem.title.length <= 60, problem.title);
    }
  });
}

test('several problems of one .dsc come together', () => {
  const codes = problemsOf(renamed('a/b').replace('1:1.0-1', '1_').replace(' 20 ', ' 21 ')).map(
    (problem) => problem.code,
  );
  assert.deepEqual(codes, ['dsc-version', 'dsc-file-name', 'dsc-lists-differ', 'dsc-foreign-file']);
});

test('lists that differ in several files make one problem, which names the first', () => {
  const text = good.replace(' 100 ', ' 101 ').replace(/^ b{64} .*\n/m, '');
  assert.deepEqual(
    problemsOf(text).map((problem) => problem.what),
    [
      `${origin} lists "${orig}" with 100 bytes in Files and with 101 bytes in Checksums-Sha256, and differs in 1 more.`,
    ],
  );
});

const skip = spawnSync('dpkg-source', ['--version']).status === 0 ? false : 'dpkg-source is not installed';

test('a .dsc of dpkg-source is read, and its hashes are those of the files beside it', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dsc-test-'));
  try {
    const tree = join(folder, 'greet-1.0');
    mkdirSync(join(tree, 'debian/source'), { recursive: true });
    writeFileSync(join(tree, 'debian/source/format'), '3.0 (native)\n');
    writeFileSync(
      join(tree, 'debian/changelog'),
      'greet (1:1.0~rc1+x) unstable; urgency=low\n\n  * One.\n\n -- A <a@example.org>  Mon, 02 Jan 2023 00:00:00 +0000\n',
    );
    writeFileSync(
      join(tree, 'debian/control'),
      'Source: greet\nMaintainer: A <a@example.org>\n\nPackage: greet\nArchitecture: any\nDescription: x\n',
    );
    execFileSync('dpkg-source', ['-Zgzip', '-b', 'greet-1.0'], { cwd: folder, stdio: 'ignore' });
    const source = parseDsc(readFileSync(join(folder, 'greet_1.0~rc1+x.dsc')), 'greet_1.0~rc1+x.dsc');
    const tarball = readFileSync(join(folder, 'greet_1.0~rc1+x.tar.gz'));
    const hash = (algorithm: string) => createHash(algorithm).update(tarball).digest('hex');
    const expected = { name: 'greet_1.0~rc1+x.tar.gz', size: tarball.length, md5: hash('md5'), sha256: hash('sha256') };
    assert.deepEqual([source.package, source.version, source.files], ['greet', '1:1.0~rc1+x', [expected]]);
    assert.equal(fieldValue(source.stanza, 'Format'), '3.0 (native)');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
