import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseChanges } from '../../src/debian/changes.ts';
import { Problem, Problems } from '../../src/problem.ts';

const origin = 'dist/greet_1.0-1_amd64.changes';
const md5 = (digit: string) => digit.repeat(32);
const sha1 = (digit: string) => digit.repeat(40);
const sha256 = (digit: string) => digit.repeat(64);

const good = `Format: 1.8
Date: Mon, 02 Jan 2023 00:00:00 +0000
Source: greet
Binary: greet greet-doc
Architecture: source amd64 all
Version: 1.0-1
Distribution: bookworm-security/updates
Urgency: medium
Changes:
 greet (1.0-1) bookworm; urgency=medium
 .
   * One.
Checksums-Sha1:
 ${sha1('a')} 900 greet_1.0-1.dsc
 ${sha1('b')} 2048 greet_1.0-1_amd64.deb
Checksums-Sha256:
 ${sha256('a')} 900 greet_1.0-1.dsc
 ${sha256('b')} 2048 greet_1.0-1_amd64.deb
Files:
 ${md5('a')} 900 contrib/misc optional greet_1.0-1.dsc
 ${md5('b')} 2048 - - greet_1.0-1_amd64.deb
`;

test('a .changes tells its suite, its architectures and its files with section and priority', () => {
  assert.deepEqual(parseChanges(Buffer.from(good), origin), {
    distribution: 'bookworm-security/updates',
    architectures: ['source', 'amd64', 'all'],
    files: [
      {
        name: 'greet_1.0-1.dsc',
        size: 900,
        md5: md5('a'),
        sha256: sha256('a'),
        section: 'contrib/misc',
        priority: 'optional',
      },
      {
        name: 'greet_1.0-1_amd64.deb',
        size: 2048,
        md5: md5('b'),
        sha256: sha256('b'),
        section: '-',
        priority: '-',
      },
    ],
  });
});

test('a clear-signed .changes is read like the unsigned one', () => {
  const signature = '-----BEGIN PGP SIGNATURE-----\n\nabcd\n-----END PGP SIGNATURE-----\n';
  const signed = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n${good}${signature}`;
  assert.deepEqual(parseChanges(Buffer.from(signed), origin), parseChanges(Buffer.from(good), origin));
});

function problemsOf(text: string): readonly Problem[] {
  try {
    parseChanges(Buffer.from(text), origin);
    return [];
  } catch (error) {
    if (error instanceof Problem) return [error];
    if (error instanceof Problems) return error.all;
    throw error;
  }
}

const deb = 'greet_1.0-1_amd64.deb';
const distribution = (value: string) => good.replace(/^Distribution: .*$/m, `Distribution: ${value}`);
const architecture = (value: string) => good.replace(/^Architecture: .*$/m, `Architecture: ${value}`);

const refused: readonly (readonly [string, string, string])[] = [
  ['without Format', good.replace('Format: 1.8\n', ''), 'changes-field-missing'],
  ['of another format', good.replace('Format: 1.8', 'Format: 1.7'), 'changes-format'],
  ['without Distribution', good.replace(/^Distribution: .*\n/m, ''), 'changes-field-missing'],
  ['for two suites', distribution('stable unstable'), 'changes-distribution'],
  ['for a suite outside dists', distribution('../../pool'), 'changes-distribution'],
  ['for a suite with an absolute path', distribution('/etc'), 'changes-distribution'],
  ['for a suite with a blank part', distribution('a//b'), 'changes-distribution'],
  ['for a suite that URLs must encode', distribution('a%2eb'), 'changes-distribution'],
  ['without Architecture', good.replace(/^Architecture: .*\n/m, ''), 'changes-field-missing'],
  ['for an architecture that is none', architecture('amd64 i_386'), 'changes-architecture'],
  ['for a wildcard', architecture('source any'), 'changes-architecture'],
  ['with the three columns of a .dsc', good.replace(' - - ', ' '), 'changes-file-list'],
  ['with a file in another folder', good.replaceAll(deb, `sub/${deb}`), 'changes-file-name'],
  ['with a file in the folder above', good.replaceAll(deb, `../${deb}`), 'changes-file-name'],
  ['with a hidden file', good.replaceAll(deb, `.${deb}`), 'changes-file-name'],
  ['with a file twice', `${good} ${md5('b')} 2048 - - ${deb}\n`, 'changes-file-name'],
  ['with a file that has no SHA-256', `${good} ${md5('c')} 1 - - x.buildinfo\n`, 'changes-lists-differ'],
  ['with two sizes for a file', good.replace(' 2048 - -', ' 2049 - -'), 'changes-lists-differ'],
  ['with a field twice', `${good}distribution: stable\n`, 'changes-field-twice'],
  ['with a second stanza', `${good}\nDistribution: stable\n`, 'changes-second-stanza'],
];

for (const [what, text, code] of refused) {
  test(`a .changes ${what} is refused by name`, () => {
    const problems = problemsOf(text);
    assert.ok(problems.length > 0);
    for (const problem of problems) {
      assert.equal(problem.code, code, problem.message);
      assert.ok(problem.what.startsWith(`${origin} `), problem.what);
      assert.match(problem.advice, /, then make the \.changes file again\.$/);
      assert.ok(problem.title.length <= 60, problem.title);
    }
  });
}

const missing = ['dpkg-source', 'dpkg-genchanges'].find((tool) => spawnSync(tool, ['--version']).status !== 0);

test('a .changes of dpkg-genchanges is read', {
  skip: missing === undefined ? false : `${missing} is not installed`,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'changes-test-'));
  try {
    const tree = join(folder, 'greet-1.0');
    mkdirSync(join(tree, 'debian/source'), { recursive: true });
    writeFileSync(join(tree, 'debian/source/format'), '3.0 (native)\n');
    writeFileSync(
      join(tree, 'debian/changelog'),
      'greet (1.0) unstable; urgency=low\n\n  * One.\n\n -- A <a@example.org>  Mon, 02 Jan 2023 00:00:00 +0000\n',
    );
    writeFileSync(
      join(tree, 'debian/control'),
      'Source: greet\nSection: contrib/misc\nPriority: optional\nMaintainer: A <a@example.org>\n\n' +
        'Package: greet\nArchitecture: any\nDescription: x\n',
    );
    execFileSync('dpkg-source', ['-Zgzip', '-b', 'greet-1.0'], { cwd: folder, stdio: 'ignore' });
    const text = execFileSync('dpkg-genchanges', ['-S'], { cwd: tree, stdio: ['ignore', 'pipe', 'ignore'] });
    const changes = parseChanges(text, origin);
    assert.deepEqual([changes.distribution, changes.architectures], ['unstable', ['source']]);
    assert.deepEqual(changes.files.map((file) => file.name).toSorted(), ['greet_1.0.dsc', 'greet_1.0.tar.gz']);
    for (const file of changes.files) {
      const bytes = readFileSync(join(folder, file.name));
      const hash = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex');
      assert.deepEqual([file.size, file.md5, file.sha256], [bytes.length, hash('md5'), hash('sha256')]);
      assert.deepEqual([file.section, file.priority], ['contrib/misc', 'optional']);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
