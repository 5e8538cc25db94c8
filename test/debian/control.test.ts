import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { architectureFault, binaryIdentity, packageNameFault, parseControl } from '../../src/debian/control.ts';
import { renderStanza } from '../../src/debian/deb822.ts';
import { Problem, Problems } from '../../src/problem.ts';

const origin = 'dist/hello_1.0_all.deb';
const good = 'Package: hello\nVersion: 1.0\nArchitecture: all\nMaintainer: A <a@example.org>\nDescription: hi\n';

/** What the tests read: the fields and the identity, or the problems of either. */
function read(control: string | Uint8Array) {
  const stanza = parseControl(typeof control === 'string' ? Buffer.from(control) : control, origin);
  return { stanza, identity: binaryIdentity(stanza, origin) };
}

function problemsOf(control: string | Uint8Array): readonly Problem[] {
  try {
    read(control);
    return [];
  } catch (error) {
    if (error instanceof Problem) return [error];
    if (error instanceof Problems) return error.all;
    throw error;
  }
}

function changed(field: string, value: string): string {
  return good.replace(new RegExp(`^${field}: .*$`, 'm'), () => `${field}: ${value}`);
}

const field = (name: string) => new RegExp(`^${name}: .*\n`, 'm');

/** Control files that are refused: in words, with the problem's code. */
const refused: readonly (readonly [string, string | Uint8Array, string])[] = [
  ['a second stanza', `${good}\nPackage: other\n`, 'control-second-stanza'],
  ['a bare carriage return', `${good}Homepage: a\rb\n`, 'control-carriage-return'],
  ['CRLF line ends', good.replaceAll('\n', '\r\n'), 'control-carriage-return'],
  ['a field twice', `${good}Version: 2.0\n`, 'control-field-twice'],
  ['a field twice in different case', `${good}version: 2.0\n`, 'control-field-twice'],
  ['an unknown field twice', `${good}X-Own: 1\nx-own: 1\n`, 'control-field-twice'],
  ['a comment line', `# remark\n${good}`, 'control-comment'],
  ['a comment line inside a field', `${good} text\n# remark\n more\n`, 'control-comment'],
  ['a NUL byte', `${good}Homepage: a\0b\n`, 'control-nul-byte'],
  ['another control character', `${good}Homepage: a\u001bb\n`, 'control-control-character'],
  ['a byte order mark', `\ufeff${good}`, 'control-byte-order-mark'],
  ['text that is not UTF-8', Buffer.from(changed('Description', 'caf\u00e9'), 'latin1'), 'control-not-utf-8'],
  ['a line of blanks inside a field', `${good} text\n \n more\n`, 'control-blank-continuation'],
  ['a line of blanks at the end', `${good}\t\n`, 'control-blank-continuation'],
  ['an empty line in front', `\n${good}`, 'control-blank-line-first'],
  ['a continuation line in front', ` text\n${good}`, 'control-continuation-first'],
  ['a line without a colon', `${good}nonsense\n`, 'control-line-without-colon'],
  ['a field name with a blank', `${good}Ho me: x\n`, 'control-field-name'],
  ['a blank before a colon', `${good}Homepage : x\n`, 'control-field-name'],
  ['a field name beginning with a hyphen', `${good}-x: x\n`, 'control-field-name'],
  ['a field name that is not ASCII', `${good}Größe: x\n`, 'control-field-name'],
  ['a field name of one character', `${good}X: x\n`, 'control-field-name'],
  ['a colon in front', `${good}: x\n`, 'control-field-name'],
  ['no newline at its end', good.slice(0, -1), 'control-no-final-newline'],
  ['an empty last field', `${good}Depends:\n`, 'control-empty-last-field'],
  ['nothing in it', '', 'control-empty'],
  ['more than 1 MiB', `${good}${' x'.repeat(1 << 19)}\n`, 'control-too-large'],
  ['a status', `${good}Status: install ok installed\n`, 'control-status-field'],
  ['no Package', good.replace(field('Package'), ''), 'control-field-missing'],
  ['no Version', good.replace(field('Version'), ''), 'control-field-missing'],
  ['no Architecture', good.replace(field('Architecture'), ''), 'control-field-missing'],
  ['an empty Version', changed('Version', ''), 'control-field-missing'],
  ['a Package of two lines', changed('Package', 'hello\n world'), 'control-package'],
  ['a Source in the folder above', `${good}Source: ../up\n`, 'control-source'],
  ['a Source with a version that is none', `${good}Source: hello (1/2)\n`, 'control-source'],
  ['a Source with an empty version', `${good}Source: hello ()\n`, 'control-source'],
  ['a Source with text after its version', `${good}Source: hello (1.0) x\n`, 'control-source'],
  ['an empty Source', `${good.replace('Version', 'Source:\nVersion')}`, 'control-source'],
  ['a Version too long for a file name', changed('Version', `1${'0'.repeat(231)}`), 'control-name-too-long'],
  ...['Upper', 'a b', 'a_b', 'a/b', '-x', '.x', 'é1', '../up', 'x'].map(
    (name) => [`the Package ${JSON.stringify(name)}`, changed('Package', name), 'control-package'] as const,
  ),
  ...['1 0', '1/0', '1_0', '1^0', '..', '1..0', '1-', '1:', '1:2:3', '../1', '2147483648:1'].map(
    (version) => [`the Version ${JSON.stringify(version)}`, changed('Version', version), 'control-version'] as const,
  ),
  ...['any', 'source', 'amd64 i386', 'AMD64', 'linux-any', 'any-amd64', '../up', '-a', 'x'].map(
    (name) =>
      [`the Architecture ${JSON.stringify(name)}`, changed('Architecture', name), 'control-architecture'] as const,
  ),
];

for (const [what, control, code] of refused) {
  test(`a control file with ${what} is refused, and the message names the package's file`, () => {
    const problems = problemsOf(control);
    assert.deepEqual(
      problems.map((problem) => problem.code),
      [code],
    );
    for (const problem of problems) {
      assert.ok(problem.what.startsWith(`The control file of ${origin} `), problem.what);
      assert.match(problem.advice, /, then rebuild the package\.$/);
      assert.ok(problem.title.length <= 60, problem.title);
      assert.doesNotMatch(problem.message, /[\n\r\0]/);
    }
  });
}

test('all the problems of one control file are reported together', () => {
  const codes = problemsOf(`# remark\r\n${good}nonsense\nVersion: 2\nVersion: 3\n`).map((problem) => problem.code);
  assert.deepEqual(codes, [
    'control-carriage-return',
    'control-comment',
    'control-line-without-colon',
    'control-field-twice',
  ]);
  const fields = problemsOf('Package: Hello\nVersion: 1_0\nSource: ../x\nDescription: x\n').map(
    (problem) => problem.code,
  );
  assert.deepEqual(fields, ['control-package', 'control-version', 'control-field-missing', 'control-source']);
});

/** Control files that are read, although they are not what one sees every day. */
const accepted: Readonly<Record<string, string>> = {
  'an unknown field': `${good}Go-Import-Path: example.org/x\n`,
  'empty lines at its end': `${good}\n\n`,
  'an empty field that is not the last': `Depends:\n${good}`,
  'an empty last field with an empty line after it': `${good}Depends:\n\n`,
  'a description of many lines': `${good} text\n .\n\ttab\n`,
  'a folded field': `Depends: a,\n b,\n\tc\n${good}`,
  'neither Maintainer nor Description': 'Package: hello\nVersion: 1.0\nArchitecture: all\n',
  'an upper-case name of a field': good.replace('Package', 'PACKAGE'),
  'a line of 76 kB': `Provides: ${'a, '.repeat(25_000)}z\n${good}`,
};

for (const [what, control] of Object.entries(accepted)) {
  test(`a control file with ${what} is read`, () => {
    assert.equal(renderStanza(read(control).stanza), control.replace(/\n+$/, '\n').replace('PACKAGE', 'Package'));
  });
}

test("fields that are the archive's to write do not come from inside a package", () => {
  const lies = 'Filename: ../x\nsize: 1\nMD5sum: a\nSHA1: b\nSHA256: c\nsha512: d\nDescription-MD5: e\n';
  assert.equal(renderStanza(read(lies + good).stanza), good);
});

test('a package is its own source unless it names another, with or without a version', () => {
  const sources = ['', 'Source: greet\n', 'Source: greet (1:2.0-1)\n', 'Source: greet(3)\n'].map((line) => {
    const { source, sourceVersion } = read(`${line}${changed('Version', '1.0+b1')}`).identity;
    return [source, sourceVersion];
  });
  assert.deepEqual(sources, [
    ['hello', '1.0+b1'],
    ['greet', '1.0+b1'],
    ['greet', '1:2.0-1'],
    ['greet', '3'],
  ]);
});

test('the identity is what the fields say', () => {
  const { package: name, version, architecture } = read(changed('Architecture', 'hurd-i386')).identity;
  assert.deepEqual([name, version, architecture], ['hello', '1.0', 'hurd-i386']);
});

test('names and architectures given as inputs are judged by the same rules', () => {
  for (const name of ['hello', '0ad', 'libstdc++6', 'python3.11', 'g++'])
    assert.equal(packageNameFault(name), undefined);
  for (const name of ['amd64', 'all', 'hurd-i386', 'x32']) assert.equal(architectureFault(name), undefined);
  assert.equal(packageNameFault('+x'), 'does not begin with a letter or digit');
  assert.equal(packageNameFault(''), 'has fewer than two characters');
  assert.equal(packageNameFault('Abc'), 'contains "A" (allowed are a-z, 0-9, "+", "-" and ".")');
  assert.equal(architectureFault('any'), 'is a wildcard');
  assert.equal(architectureFault('source'), 'is not the architecture of a binary package');
  assert.equal(architectureFault('amd_64'), 'contains "_" (allowed are a-z, 0-9 and "-")');
});

const skip = spawnSync('dpkg-deb', ['--version']).status === 0 ? false : 'dpkg-deb is not installed';
const folder = mkdtempSync(join(tmpdir(), 'control-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Whether dpkg-deb makes a package of it: dpkg reads the control file as strictly then as when it installs one. */
function dpkgBuilds(control: string | Uint8Array): boolean {
  mkdirSync(join(folder, 'tree/DEBIAN'), { recursive: true, mode: 0o755 });
  writeFileSync(join(folder, 'tree/DEBIAN/control'), control);
  return spawnSync('dpkg-deb', ['-Znone', '--build', join(folder, 'tree'), join(folder, 'x.deb')]).status === 0;
}

test('whatever dpkg-deb makes no package of is refused, and what is accepted dpkg-deb takes too', { skip }, () => {
  for (const [what, control] of Object.entries(accepted)) assert.ok(dpkgBuilds(control), `dpkg-deb refuses ${what}`);
  const agreed = refused.filter(([, control]) => !dpkgBuilds(control)).map(([what]) => what);
  for (const what of ['a second stanza', 'a field twice in different case', 'no newline at its end', 'a status']) {
    assert.ok(agreed.includes(what), `dpkg-deb takes ${what}`);
  }
});

test('a control file with any one byte put in is refused wherever dpkg-deb refuses it', { skip }, () => {
  const base = 'Package: hello\nVersion: 1:2-3\nArchitecture: all\nDescription: hi\n there\n';
  let refusals = 0;
  for (let at = 0; at <= base.length; at += 1) {
    const inserted = ['\n', ' ', ':', '#', '-'][at % 5] ?? '';
    const control = base.slice(0, at) + inserted + base.slice(at);
    if (dpkgBuilds(control)) continue;
    refusals += 1;
    assert.notDeepEqual(problemsOf(control), [], JSON.stringify(control));
  }
  assert.ok(refusals > 10, `dpkg-deb refused ${refusals}`);
});
