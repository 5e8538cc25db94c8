import assert from 'node:assert/strict';
import { parseChanges } from '../../src/debian/changes.ts';
import { mergeContents } from '../../src/debian/contents.ts';
import { binaryIdentity, parseControl } from '../../src/debian/control.ts';
import { parseStanzas } from '../../src/debian/deb822.ts';
import { parseDsc } from '../../src/debian/dsc.ts';
import { entryFile, packagesStanza } from '../../src/debian/packages.ts';
import { poolFolder, poolName } from '../../src/debian/pool.ts';
import { parseRelease, type Release, renderRelease } from '../../src/debian/release.ts';
import { sourcesStanza } from '../../src/debian/sources.ts';
import { entryFields, mergeEntries, scanStanzas } from '../../src/debian/stanza-index.ts';
import { Problem } from '../../src/problem.ts';
import type { Generator } from '../debian/generator.ts';
import { buildChanges, buildDsc, controlText } from '../debs.ts';
import { type Dictionary, mutated } from './mutation.ts';
import type { Target } from './target.ts';

/** What ends lines, values and stanzas, here or for other readers, and fields that are the archive's to write. */
export const stanzaDictionary: Dictionary = [
  '\n',
  '\n\n',
  '\n \n',
  '\n .\n',
  '\r\n',
  '\r',
  '\n\r\n',
  '\u000b',
  '\u000c',
  '\u0085',
  '\u2028',
  '\u00a0',
  '\ufeff',
  '\0',
  ': ',
  '#',
  '\n#x\n',
  '-',
  '\nPackage: evil\nVersion: 9\nArchitecture: amd64\n',
  '\n\nPackage: evil\nVersion: 9\nArchitecture: amd64\nFilename: evil.deb\n\n',
  '\npackage: evil\n',
  '\nFilename: pool/../../evil.deb\n',
  '\nSize: 1\n',
  '\nSHA256: 00\n',
  '\nStatus: install ok installed\n',
  '\nSource: ../../evil (1)\n',
  '\nSource: lib\n',
  '\nPackage-Type: udeb\n',
  '\nSection: a b,c/d\te\n',
  '\nFiles:\n d41d8cd98f00b204e9800998ecf8427e 0 ../evil\n',
  '../',
  '/',
  '..',
  '1:1:1',
  '~',
  '99999999999:1',
  '-----BEGIN PGP SIGNED MESSAGE-----\n',
  '-----BEGIN PGP SIGNATURE-----\n',
];

const controls = [
  controlText(),
  controlText({ Package: 'libx++1', Version: '2:1.0~rc1-2+b1', Source: 'x++ (2:1.0~rc1-2)', Architecture: 'all' }),
  controlText({
    Section: 'non-free/libs',
    'Multi-Arch': 'same',
    Depends: 'libc6 (>= 2.36),\n libx (= 1)',
    Tag: 'a::b,\n c::d',
  }),
] as const;

export function mutatedControl(generator: Generator): Buffer {
  return mutated(Buffer.from(generator.of(controls)), generator, stanzaDictionary, Buffer.from(generator.of(controls)));
}

/** `Filename` and the rest, each exactly once and as the archive wrote it, in one stanza for every kind of reader. */
export function assertOneStanza(stanza: Uint8Array, written: Readonly<Record<string, string>>): void {
  const text = Buffer.from(stanza).toString();
  assert.equal(scanStanzas(stanza, 'Packages').length, 1);
  assert.equal(parseStanzas(text).length, 1);
  assert.equal(text.indexOf('\n\n'), text.length - 2, 'the only blank line is the last');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f]/);
  for (const line of text.slice(0, -2).split('\n')) {
    assert.match(line, /^(?:[!"$-,.-9;-~][!-9;-~]*:|[ \t].*[^ \t])/, 'a line is a field, or goes on with one');
  }
  // Lines end at \n and nowhere else: to a pattern's `.` and `$` they also end at U+2028.
  const fields = text.split('\n').filter((line) => /^[^ \t]/.test(line));
  for (const [name, value] of Object.entries(written)) {
    const own = fields.filter((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    assert.deepEqual(own, [`${name}: ${value}`]);
  }
}

/** A key of the pool: below its folder for everybody who resolves it, and the same in a URL's path. */
export function assertPoolKey(key: string): void {
  assert.match(key, /^pool\/main\/(?:lib[a-z0-9+.-]?|[a-z0-9])\/[a-z0-9][a-z0-9+.-]+\/[A-Za-z0-9][A-Za-z0-9+.~_-]*$/);
  assert.ok(!key.split('/').some((part) => part === '..' || part === '.' || part === ''));
}

const sha256 = 'ab'.repeat(32);
const md5 = 'cd'.repeat(16);

const control: Target = {
  name: 'control',
  cost: 0.3,
  make: mutatedControl,
  check(input) {
    const stanza = parseControl(input, 'x.deb');
    const identity = binaryIdentity(stanza, 'x.deb');
    const filename = poolName({ ...identity, component: 'main', extension: 'deb' });
    assertPoolKey(filename);
    const { package: name, version, architecture } = identity;
    assertOneStanza(packagesStanza({ control: stanza, filename, size: 7, md5, sha256 }), {
      Package: name,
      Version: version,
      Architecture: architecture,
      Filename: filename,
      Size: '7',
      MD5sum: md5,
      SHA256: sha256,
    });
  },
};

const orig = { 'hello_1.0.orig.tar.gz': Buffer.from('upstream'), 'hello_1.0-1.debian.tar.xz': Buffer.from('debian') };
const dscText = buildDsc(orig);
const signature = '-----BEGIN PGP SIGNATURE-----\n\nwsF=\n=abcd\n-----END PGP SIGNATURE-----\n';
const signedDsc = Buffer.from(`-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${dscText}\n${signature}`);

const dsc: Target = {
  name: 'dsc',
  cost: 0.3,
  make: (generator) => mutated(generator.of([dscText, signedDsc]), generator, stanzaDictionary, dscText),
  check(input) {
    const source = parseDsc(input, 'out/hello_1.0-1.dsc');
    const directory = poolFolder('main', source.package);
    for (const { name } of source.files) assertPoolKey(`${directory}/${name}`);
    assertOneStanza(sourcesStanza({ control: source.stanza, directory, files: source.files }), {
      Package: source.package,
      Version: source.version,
      Directory: directory,
    });
  },
};

const changesText = buildChanges({ ...orig, 'hello_1.0-1_amd64.deb': Buffer.from('!<arch>\n') });

const changes: Target = {
  name: 'changes',
  cost: 0.3,
  make: (generator) => mutated(changesText, generator, stanzaDictionary, dscText),
  check(input) {
    const { distribution, files } = parseChanges(input, 'x.changes');
    assert.match(distribution, /^[A-Za-z0-9][A-Za-z0-9+.~_-]*(?:\/[A-Za-z0-9][A-Za-z0-9+.~_-]*)*$/);
    for (const { name } of files) assert.match(name, /^[A-Za-z0-9][A-Za-z0-9+.~_-]*$/);
  },
};

const packagesText = Buffer.concat(
  ['1', '2', '10'].map((version) => {
    const stanza = parseControl(Buffer.from(controlText({ Version: version })), 'x.deb');
    return packagesStanza({
      control: stanza,
      filename: `pool/main/h/hello/hello_${version}_amd64.deb`,
      size: 5,
      md5,
      sha256,
    });
  }),
);

const packages: Target = {
  name: 'packages',
  cost: 0.3,
  make: (generator) => mutated(packagesText, generator, stanzaDictionary),
  check(input) {
    const entries = scanStanzas(input, 'Packages');
    const added = {
      package: 'zz',
      version: '1',
      architecture: 'amd64',
      bytes: Buffer.from('Package: zz\nVersion: 1\n'),
    };
    const merged = mergeEntries(input, entries, { add: [added], remove: new Set(entries.slice(0, 1)) });
    const again = scanStanzas(merged, 'Packages');
    const nameOf = ({ package: name, version, architecture }: typeof added | (typeof entries)[number]) =>
      `${name} ${version} ${architecture}`;
    assert.deepEqual(
      again.map(nameOf).sort(),
      [...entries.slice(1).map(nameOf), 'zz 1 '].sort(),
      'a merge adds and removes what it was told to',
    );
    assert.ok(Buffer.from(merged).toString('latin1').endsWith('\n\n'));
    for (const entry of entries) {
      entryFields(input, entry);
      entryFile(input, entry, 'Packages');
    }
  },
};

const contentsText = Buffer.from(
  'FILE LOCATION\nusr/bin/a b  utils/hello,libs/x\nusr/bin/hello\tutils/hello\nz\tutils/hello\n',
);

const contents: Target = {
  name: 'contents',
  cost: 0.3,
  make: (generator) =>
    mutated(generator.of([contentsText, contentsText.subarray(14), contentsText.subarray(46)]), generator, [
      'FILE LOCATION\n',
      '\n',
      '\t',
      ' ',
      ',',
      '\r\n',
      '\n\n',
      'é',
      '\0',
    ]),
  check(input) {
    const added = { location: 'utils/zz', paths: ['usr/bin/zz', '0'] };
    const merged = mergeContents(input, { add: [added], remove: [] }, 'Contents');
    // A second header below the first is a path to whoever reads it: no package has a location of that name.
    if (Buffer.from(merged).includes('FILE\tLOCATION\n')) return;
    const again = mergeContents(merged, { add: [added], remove: [] }, 'Contents');
    assert.deepEqual(Buffer.from(again).toString('latin1'), Buffer.from(merged).toString('latin1'));
  },
};

const releaseText = renderRelease({
  fields: [
    { name: 'Origin', value: 'Example' },
    { name: 'Suite', value: 'bookworm' },
    { name: 'Date', value: 'Thu, 01 Jan 2026 00:00:00 UTC' },
    { name: 'X-Own', value: 'kept' },
  ],
  files: ['main/binary-amd64/Packages', 'main/binary-amd64/Packages.gz'].map((path) => ({ path, size: 3, sha256 })),
});

const release: Target = {
  name: 'release',
  cost: 0.3,
  make: (generator) =>
    mutated(Buffer.from(releaseText), generator, [
      ...stanzaDictionary,
      `\n ${sha256} 1 ../../evil`,
      `\n ${sha256.toUpperCase()} 1 main/x`,
      `\n ${sha256} 1 /x`,
      '<html>',
    ]),
  check(input) {
    const parsed = parseRelease(Buffer.from(input).toString(), 'InRelease');
    for (const { path, size } of parsed.files) {
      assert.ok(!path.startsWith('/') && !path.split('/').includes('..'), path);
      assert.ok(Number.isSafeInteger(size));
    }
    let rendered: string;
    try {
      rendered = renderRelease(parsed);
    } catch (error) {
      if (error instanceof Problem) return;
      throw error;
    }
    assert.doesNotMatch(rendered, /(?:^|\n)-|[ \t\r]\n|\n\n/);
    const again = parseRelease(rendered, 'InRelease');
    assert.deepEqual(again.files, parsed.files);
    const values = ({ fields }: Release) =>
      fields
        .map(({ name, value }) => `${name.toLowerCase()}: ${value}`)
        .filter((line) => !line.endsWith(': '))
        .sort();
    assert.deepEqual(values(again), values(parsed));
  },
};

export const textTargets: readonly Target[] = [control, dsc, changes, packages, contents, release];
