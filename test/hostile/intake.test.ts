import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Problem, Problems } from '../../src/problem.ts';
import { buildAr, buildDeb, buildDsc, buildTar, controlText, debMembers, pack, type TarPart } from '../debs.ts';
import { ClosingCounts } from '../faults/closing-counts.ts';
import { suiteOf } from '../publish/publishing.ts';
import { Repository } from '../publish/repository.ts';

/** Packages of somebody who may hand in packages and nothing else: none of them says more than itself, and none spoils what comes after. */

const counts = new ClosingCounts();

/** A run over this file and an honest one stops with this problem, and has written nothing. */
async function refused(name: string, bytes: Uint8Array, code: string, more: Readonly<Record<string, Uint8Array>> = {}) {
  using repository = new Repository();
  const { debs } = repository;
  for (const [other, content] of Object.entries(more)) writeFileSync(join(debs.folder, other), content);
  const path = join(debs.folder, name);
  writeFileSync(path, bytes);
  const publishing = repository.publish([suiteOf('bookworm', path, debs.add('honest', { Package: 'honest' }))], {
    contents: true,
  });
  await assert.rejects(publishing, (error) => {
    const problems = error instanceof Problems ? error.all : [error];
    assert.ok(
      problems.some((problem) => problem instanceof Problem && problem.code === code),
      `${error}`,
    );
    return true;
  });
  const written = await repository.keys();
  counts.add('inputs tried');
  counts.add('promises broken', Number(written.length > 0));
  assert.deepEqual(written, []);
}

const evilStanza = '\n\nPackage: evil\nVersion: 9\nArchitecture: amd64\nFilename: pool/main/h/hello/evil.deb\n';

describe('a .deb that says more than itself', () => {
  for (const [what, control, code] of [
    ['a second stanza', controlText() + evilStanza, 'control-second-stanza'],
    ['a second stanza behind CRLF', `${controlText()}\r\n\r\n${evilStanza.trimStart()}`, 'control-carriage-return'],
    ['a second stanza behind a line of blanks', `${controlText()} \n${evilStanza.trimStart()}`, 'control-field-twice'],
    ['its name twice', `${controlText()}package: evil\n`, 'control-field-twice'],
    ['a name that leaves the pool', controlText({ Package: '../../../evil' }), 'control-package'],
    ['a source that leaves the pool', controlText({ Source: '../../evil' }), 'control-source'],
    ['a version that leaves the pool', controlText({ Version: '1/../../evil' }), 'control-version'],
    ['an architecture that leaves the lists', controlText({ Architecture: '../source' }), 'control-architecture'],
    ['a NUL byte', controlText({ Description: 'a\0b' }), 'control-nul-byte'],
    ['a state of dpkg', controlText({ Status: 'install ok installed' }), 'control-status-field'],
  ] as const) {
    test(`by ${what} is refused`, () => refused('x.deb', buildDeb({ control }), code));
  }

  test('by sums and a place of its own is listed with those of the archive', async () => {
    using repository = new Repository();
    const lie = { Filename: 'pool/evil.deb', Size: '1', SHA256: '00', 'Description-md5': '00' };
    await repository.publish([suiteOf('bookworm', repository.debs.add('liar', lie))]);
    const list = await repository.text('dists/bookworm/main/binary-amd64/Packages.gz');
    assert.deepEqual(list.match(/^(?:Filename|Size|SHA256|Description-md5): .*/gm)?.length, 3);
    assert.match(list, /^Filename: pool\/main\/h\/hello\/hello_1\.0_amd64\.deb$/m);
    assert.doesNotMatch(list, /^(?:Size: 1|SHA256: 00)$/m);
  });
});

describe('a data.tar that would spoil Contents', () => {
  function debWith(entry: TarPart): Buffer {
    const [format, control] = debMembers();
    assert.ok(format !== undefined && control !== undefined);
    return buildAr([format, control, { name: 'data.tar.gz', body: pack('gz', buildTar([entry])) }]);
  }

  for (const name of ['./', '/', './/./']) {
    test(`by a link named ${name}, which would be a line without a path, is refused`, () =>
      refused('x.deb', debWith({ name, type: '2', link: 'x' }), 'deb-path-empty'));
  }

  test('by line breaks and tabs in a name brings one harmless line, and the next publish reads it', async () => {
    using repository = new Repository();
    const path = join(repository.debs.folder, 'x.deb');
    writeFileSync(path, debWith({ name: './usr/a\nusr/bin/sudo\tutils/evil\r' }));
    await repository.publish([suiteOf('bookworm', path)], { contents: true });
    const next = repository.debs.add('next', { Version: '2' }, { 'usr/b': '' });
    await repository.publish([suiteOf('bookworm', next)], { contents: true });
    assert.equal(
      await repository.text('dists/bookworm/main/Contents-amd64.gz'),
      'usr/a?usr/bin/sudo?utils/evil?\tutils/hello\nusr/b\tutils/hello\n',
    );
  });
});

describe('a .dsc that says more than itself', () => {
  const tarball = { 'hello_1.0.orig.tar.gz': Buffer.from('upstream') };

  for (const name of ['hello 1.dsc', 'hello\n\nPackage: evil\nVersion: 1\nx.dsc', 'hello%2f1.dsc', '-hello.dsc']) {
    test(`by its own file name, ${JSON.stringify(name)}, is refused`, () =>
      refused(name, buildDsc(tarball), 'dsc-file-name', tarball));
  }

  for (const [what, name, code] of [
    ['leaves the pool', '../hello_1.0.orig.tar.gz', 'dsc-file-name'],
    ['is another package', 'evil_1.0.orig.tar.gz', 'dsc-foreign-file'],
    ['stands for a package', 'hello_1.0_amd64.deb', 'dsc-foreign-file'],
    ['leads to a list of the archive', 'hello_1.0/../../InRelease', 'dsc-file-name'],
  ] as const) {
    test(`by a file that ${what} is refused`, () =>
      refused('hello_1.0.dsc', buildDsc({ [name]: Buffer.from('x') }), code));
  }

  test('by a second stanza is refused', () =>
    refused(
      'hello_1.0.dsc',
      Buffer.concat([buildDsc(tarball), Buffer.from(evilStanza)]),
      'dsc-second-stanza',
      tarball,
    ));

  test('by text outside its signature is refused', () => {
    const signed = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${buildDsc(tarball)}-----BEGIN PGP SIGNATURE-----\n\n=abcd\n-----END PGP SIGNATURE-----\n${evilStanza}`;
    return refused('hello_1.0.dsc', Buffer.from(signed), 'dsc-signature', tarball);
  });
});

test('what was handed in', (t) => t.diagnostic(`${counts}`));
