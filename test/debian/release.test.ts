import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldValue } from '../../src/debian/deb822.ts';
import { parseRelease, type Release, renderRelease } from '../../src/debian/release.ts';
import { parseReleaseDate } from '../../src/debian/release-date.ts';
import { Generator } from './generator.ts';

const origin = 'dists/s/InRelease';
const sumA = 'a'.repeat(64);
const sumB = '0123456789abcdef'.repeat(4);

const full: Release = {
  fields: [
    { name: 'Description', value: 'Packages of - Ünternehmen' },
    { name: 'X-Own', value: 'kept' },
    { name: 'Components', value: 'main contrib' },
    { name: 'Signed-By', value: 'A'.repeat(40) },
    { name: 'Architectures', value: 'all amd64 arm64' },
    { name: 'ButAutomaticUpgrades', value: 'yes' },
    { name: 'NotAutomatic', value: 'yes' },
    { name: 'No-Support-for-Architecture-all', value: 'Packages' },
    { name: 'Acquire-By-Hash', value: 'yes' },
    { name: 'Changelogs', value: 'no' },
    { name: 'Valid-Until', value: 'Tue, 21 Nov 2023 22:13:20 UTC' },
    { name: 'Date', value: 'Tue, 14 Nov 2023 22:13:20 UTC' },
    { name: 'Codename', value: 'bookworm' },
    { name: 'Version', value: '12.1' },
    { name: 'Suite', value: 'stable' },
    { name: 'Label', value: 'Example' },
    { name: 'Origin', value: 'Example' },
  ],
  files: [
    { path: 'main/binary-amd64/Packages.gz', size: 20, sha256: sumA },
    { path: 'main/Contents-amd64.gz', size: 0, sha256: sumB },
    { path: 'main/binary-amd64/Packages', size: 1000000, sha256: sumB },
  ],
};

const golden = `Origin: Example
Label: Example
Suite: stable
Version: 12.1
Codename: bookworm
Date: Tue, 14 Nov 2023 22:13:20 UTC
Valid-Until: Tue, 21 Nov 2023 22:13:20 UTC
Acquire-By-Hash: yes
No-Support-for-Architecture-all: Packages
NotAutomatic: yes
ButAutomaticUpgrades: yes
Architectures: all amd64 arm64
Components: main contrib
Signed-By: ${'A'.repeat(40)}
Description: Packages of - Ünternehmen
X-Own: kept
Changelogs: no
SHA256:
 ${sumB} 0 main/Contents-amd64.gz
 ${sumB} 1000000 main/binary-amd64/Packages
 ${sumA} 20 main/binary-amd64/Packages.gz
`;

describe('rendering a Release', () => {
  it('writes known fields in a fixed order, unknown ones after them, files sorted by path', () => {
    assert.equal(renderRelease(full), golden);
  });

  it('does not depend on the order of what it is given', () => {
    const random = new Generator(2);
    const known = full.fields.filter((field) => field.name !== 'X-Own');
    const expected = renderRelease({ ...full, fields: known });
    for (let round = 0; round < 20; round += 1) {
      const shuffled = { fields: random.shuffled(known), files: random.shuffled(full.files) };
      assert.equal(renderRelease(shuffled), expected);
    }
  });

  it('lists SHA256 alone, whatever sums the fields bring', () => {
    const sums = ['MD5Sum', 'sha1', 'SHA256', 'SHA512'].map((name) => ({ name, value: `\n ${sumA} 1 evil` }));
    assert.equal(renderRelease({ ...full, fields: [...full.fields, ...sums] }), golden);
  });

  it('writes hashes in lower case, since apt takes upper case for a mismatch', () => {
    const files = full.files.map((file) => ({ ...file, sha256: file.sha256.toUpperCase() }));
    assert.equal(renderRelease({ ...full, files }), golden);
  });

  it('leaves out empty fields and ends no line in a blank: signatures do not cover those', () => {
    const text = renderRelease({
      fields: [
        { name: 'Label', value: ' ' },
        { name: 'Suite', value: ' s\t ' },
      ],
      files: full.files,
    });
    assert.match(text, /^Suite: s\nSHA256:\n/);
    assert.doesNotMatch(text, /[ \t\r]$/m);
  });

  it('refuses a value of several lines, control characters and names that begin with a dash', () => {
    for (const [name, value] of [
      ['Origin', 'a\nSHA256: evil'],
      ['Origin', 'a\n b'],
      ['Origin', 'a\rb'],
      ['Origin', 'a\u0000b'],
      ['-Dash', 'a'],
      ['- ', 'a'],
      ['a b', 'a'],
      ['a:b', 'a'],
      ['', 'a'],
    ] as const) {
      assert.throws(
        () => renderRelease({ ...full, fields: [{ name, value }] }),
        { code: 'release-field' },
        name + value,
      );
    }
  });

  it('refuses paths that clients would misread and paths listed twice', () => {
    for (const path of ['', ' a', 'a b', 'a\nb', '/a', 'main/binary-amd64/Packages']) {
      const files = [...full.files, { path, size: 1, sha256: sumA }];
      assert.throws(() => renderRelease({ ...full, files }), { code: 'release-file' }, path);
    }
  });
});

describe('reading a Release', () => {
  it('gives back what was rendered', () => {
    const release = parseRelease(golden, origin);
    assert.equal(renderRelease(release), golden);
    assert.deepEqual(
      release.files.map((file) => file.path),
      ['main/Contents-amd64.gz', 'main/binary-amd64/Packages', 'main/binary-amd64/Packages.gz'],
    );
    assert.equal(fieldValue(release.fields, 'Changelogs'), 'no');
    assert.equal(fieldValue(release.fields, 'SHA256'), undefined);
  });

  it('reads what dak, reprepro, aptly and apt-ftparchive write', () => {
    for (const [tool, head] of Object.entries(foreign)) {
      const text = `${head}MD5Sum:\n ${'1'.repeat(32)}  84 b\nSHA256:\n ${sumA.toUpperCase()}       84 b\n ${sumB}\t7\ta\n ${sumA} 84 b\n`;
      const release = parseRelease(text, origin);
      assert.deepEqual(
        release.files,
        [
          { path: 'a', size: 7, sha256: sumB },
          { path: 'b', size: 84, sha256: sumA },
        ],
        tool,
      );
      assert.notEqual(parseReleaseDate(fieldValue(release.fields, 'Date') ?? ''), undefined, tool);
      assert.ok(fieldValue(release.fields, 'Codename'), tool);
      assert.equal(parseRelease(renderRelease(release), origin).fields.length, release.fields.length, tool);
    }
  });

  it('unfolds values and takes fields of any case', () => {
    const release = parseRelease(`origin: a\nDescription: one\n two\n\tthree \nsha256:\n ${sumA} 1 x\n`, origin);
    assert.equal(fieldValue(release.fields, 'Description'), 'one two three');
    assert.match(renderRelease(release), /^origin: a\nDescription: one two three\nSHA256:\n/);
  });

  it('may list no file at all', () => {
    assert.deepEqual(parseRelease('Suite: s\nSHA256:\n', origin).files, []);
  });

  it('refuses what is no Release, naming it', () => {
    for (const [text, code] of [
      ['', 'release-empty'],
      [' \n\n', 'release-empty'],
      ['<!DOCTYPE html><html></html>', 'release-html'],
      ['\n <?xml version="1.0"?><Error/>', 'release-html'],
      [`${golden}X-Long: ${'x'.repeat(10_000_000)}\n`, 'release-too-large'],
      ['Origin: a\nMD5Sum:\n', 'release-no-sha256'],
      [`Origin: a\nSHA512:\n ${sumA}${sumA} 1 x\n`, 'release-no-sha256'],
      [`Origin: a\n\nSHA256:\n ${sumA} 1 x\n`, 'release-stanzas'],
    ] as const) {
      assert.throws(() => parseRelease(text, origin), { code, message: /dists\/s\/InRelease/ }, code);
    }
  });

  it('refuses a list that cannot be relied on', () => {
    for (const lines of [
      ` ${sumA.slice(1)} 1 x`,
      ` ${sumA.slice(1)}g 1 x`,
      ` ${sumA} x`,
      ` ${sumA} -1 x`,
      ` ${sumA} 1e3 x`,
      ` ${sumA} 1`,
      ` ${sumA} 1 x y`,
      ` ${sumA} 1 /x`,
      ` ${sumA} 1 ../other/Packages`,
      ` ${sumA} 1 main/../../x`,
      ` ${sumA} 1 x\n ${sumB} 1 x`,
      ` ${sumA} 1 x\n ${sumA} 2 x`,
    ]) {
      const text = `Suite: s\nSHA256:\n${lines}\n`;
      assert.throws(() => parseRelease(text, origin), { code: 'release-file', message: /dists\/s\/InRelease/ }, lines);
    }
  });
});

/** The heads of real Release files of each tool. */
const foreign = {
  dak: `Origin: Debian
Label: Debian
Suite: oldstable
Version: 12.15
Codename: bookworm
Changelogs: https://metadata.ftp-master.debian.org/changelogs/@CHANGEPATH@_changelog
Date: Sat, 11 Jul 2026 10:16:37 UTC
Acquire-By-Hash: yes
No-Support-for-Architecture-all: Packages
Architectures: all amd64 arm64 armel armhf i386 mips64el mipsel ppc64el s390x
Components: main contrib non-free-firmware non-free
Description: Debian 12.15 Released 11 July 2026
`,
  reprepro: `Origin: Example
Label: Example
Codename: s
Date: Sun, 29 Nov 2026 18:05:06 UTC
Architectures: amd64
Components: main
Description: Example repository
`,
  aptly: `Origin: . s
Label: . s
Suite: s
Codename: s
Date: Sun, 1 Nov 2026 18:05:06 UTC
Architectures: amd64
Components: main
Description: Generated by aptly
`,
  'apt-ftparchive': `Architectures: amd64
Codename: s
Components: main
Date: Sun, 29 Nov 2026 18:05:06 +0000
Suite: s
`,
};
