import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fieldValue, parseStanzas, type Stanza } from '../../src/debian/deb822.ts';
import { contentsLocation, entryFile, packagesStanza } from '../../src/debian/packages.ts';
import { scanStanzas } from '../../src/debian/stanza-index.ts';
import { needs, run, temporaryFolder } from './debian-tools.ts';

const origin = 'dists/s/main/binary-amd64/Packages';
const md5 = 'd41d8cd98f00b204e9800998ecf8427e';
const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const filename = 'pool/main/h/hello/hello_2.10-3+b1_amd64.deb';

/** Everything that makes a control file hard to copy: folds, unknown fields, UTF-8, and fields that only an archive may set. */
const control = `Version: 1:2.10-3+b1
Source: hello-src (1:2.10-3)
Package: hello
Architecture: amd64
Maintainer: Jörg Ö <joerg@example.org>
Installed-Size: 12
Depends: libc6 (>= 2.34),
 libfoo (>= 1)
Filename: pool/evil.deb
Size: 1
SHA256: 0000
SHA512: 0000
Multi-Arch: foreign
Description: greets the world
 A long text.
 .
   indented
Tag: role::program,
 uitoolkit::sdl
Section: utils
Priority: optional
X-Extra: kept
`;

describe('the stanza of a binary package', () => {
  it('has a fixed order: Package, control, file, Description, blank line', () => {
    assert.equal(
      render(control),
      `Package: hello
Version: 1:2.10-3+b1
Source: hello-src (1:2.10-3)
Architecture: amd64
Maintainer: Jörg Ö <joerg@example.org>
Installed-Size: 12
Depends: libc6 (>= 2.34),
 libfoo (>= 1)
Multi-Arch: foreign
Tag: role::program,
 uitoolkit::sdl
Section: utils
Priority: optional
X-Extra: kept
Filename: ${filename}
Size: 1234
MD5sum: ${md5}
SHA256: ${sha256}
Description: greets the world
 A long text.
 .
   indented

`,
    );
  });

  it('lets no spelling of an archive field through from the package', () => {
    for (const name of ['filename', 'SIZE', 'MD5Sum', 'Sha1', 'sha256', 'SHA512', 'Status', 'description-MD5']) {
      assert.doesNotMatch(render(`${control}${name}: forged\n`), /forged/, name);
    }
  });

  it('writes hashes in lower case, since apt takes upper case for a mismatch', () => {
    const stanza = render(control, { md5: md5.toUpperCase(), sha256: sha256.toUpperCase() });
    assert.match(stanza, new RegExp(`\nMD5sum: ${md5}\nSHA256: ${sha256}\n`));
  });

  it('needs no Description', () => {
    assert.match(render('Package: a\nVersion: 1\nArchitecture: all\n'), new RegExp(`SHA256: ${sha256}\n\n$`));
  });

  it('says field by field what apt-ftparchive says', needs('apt-ftparchive', 'dpkg-deb'), (test) => {
    const folder = temporaryFolder(test);
    mkdirSync(join(folder, 'tree/DEBIAN'), { recursive: true });
    mkdirSync(join(folder, 'pool/main/h/hello'), { recursive: true });
    // apt-ftparchive lets a package's own SHA512 through when it is told to write none.
    writeFileSync(join(folder, 'tree/DEBIAN/control'), control.replace('SHA512: 0000\n', ''));
    run('dpkg-deb', ['--root-owner-group', '--build', 'tree', filename], { cwd: folder });

    const sha256Only = ['-o', 'APT::FTPArchive::SHA1=false', '-o', 'APT::FTPArchive::SHA512=false'];
    const expected = parseStanzas(run('apt-ftparchive', [...sha256Only, 'packages', 'pool'], { cwd: folder }));
    const bytes = readFileSync(join(folder, filename));
    const [own] = parseStanzas(
      render(control, { size: bytes.length, md5: digest('md5', bytes), sha256: digest('sha256', bytes) }),
    );
    assert.equal(expected.length, 1);
    assert.deepEqual(sorted(own ?? []), sorted(expected[0] ?? []));
  });
});

describe('the file of a listed package', () => {
  it('is read back from the stanza', () => {
    assert.deepEqual(file(render(control)), { filename, size: 1234, sha256 });
  });

  it('may lack SHA256 in a foreign index, and is given in lower case', () => {
    const start = 'Package: a\nVersion: 1\nArchitecture: all\nFilename: ./pool/a_1.deb\nSize: 7\n';
    assert.deepEqual(file(`${start}MD5sum: ${md5}\n\n`), { filename: './pool/a_1.deb', size: 7, sha256: undefined });
    assert.equal(file(`${start}SHA256: ${sha256.toUpperCase()}\n\n`).sha256, sha256);
  });

  it('is refused without Filename or with a Size that is no number, naming package and index', () => {
    const start = 'Package: a\nVersion: 1\nArchitecture: all\n';
    for (const [rest, field] of [
      ['Size: 7\n', 'Filename'],
      ['Filename: a.deb\n', 'Size'],
      ['Filename: a.deb\nSize: -7\n', 'Size'],
      ['Filename: a.deb\nSize: 7e3\n', 'Size'],
      ['Filename: a.deb\nSize: 99999999999999999999\n', 'Size'],
    ]) {
      assert.throws(() => file(`${start}${rest}\n`), {
        code: 'index-entry-without-file',
        what: `${origin} lists a 1 (all) without a usable ${field}.`,
      });
    }
  });
});

describe('the location of a package in Contents', () => {
  it('is section and name, or the name alone', () => {
    assert.equal(contentsLocation(parseStanzas(control)[0] ?? []), 'utils/hello');
    assert.equal(contentsLocation([{ name: 'package', value: 'a' }]), 'a');
    assert.equal(
      contentsLocation([
        { name: 'Package', value: 'a' },
        { name: 'section', value: 'non-free/libs' },
      ]),
      'non-free/libs/a',
    );
  });
});

function render(text: string, file: Partial<{ size: number; md5: string; sha256: string }> = {}): string {
  const [stanza = []] = parseStanzas(text);
  return Buffer.from(packagesStanza({ control: stanza, filename, size: 1234, md5, sha256, ...file })).toString();
}

function file(text: string) {
  const index = Buffer.from(text);
  const [entry] = scanStanzas(index, origin);
  assert.ok(entry);
  return entryFile(index, entry, origin);
}

function digest(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex');
}

function sorted(stanza: Stanza): [string, string | undefined][] {
  return stanza.map((field): [string, string | undefined] => [field.name, fieldValue(stanza, field.name)]).sort();
}
