import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TarReader, type TarRules } from '../../src/debian/tar.ts';
import { Problem } from '../../src/problem.ts';
import { buildTar, machineHas, type TarPart, writeChecksum } from '../debs.ts';

const plain: TarRules = { dialect: 'plain', maxEntries: 100, maxNameBytes: 10_000 };
const extended: TarRules = { ...plain, dialect: 'extended' };

function read(bytes: Uint8Array, rules: TarRules, length = bytes.length) {
  const tar = new TarReader('x.deb: data.tar', rules);
  const entries = [];
  for (let at = 0; at < bytes.length; at += length) entries.push(...tar.push(bytes.subarray(at, at + length)));
  tar.end();
  return entries;
}

function names(entries: readonly TarPart[], rules = extended): string[] {
  return read(buildTar(entries), rules).map(({ name }) => name);
}

function refused(bytes: Uint8Array, rules: TarRules, code: string): void {
  assert.throws(
    () => read(bytes, rules),
    (error) => {
      assert(error instanceof Problem, String(error));
      assert.equal(error.code, code, error.what);
      assert.match(error.what, /^x\.deb: data\.tar: /);
      return true;
    },
  );
}

function paxRecord(key: string, value: string): string {
  const tail = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(tail);
  while (Buffer.byteLength(`${length}${tail}`) !== length) length += 1;
  return `${length}${tail}`;
}

function pax(records: Readonly<Record<string, string>>, type = 'x'): TarPart {
  const body = Object.entries(records).map(([key, value]) => paxRecord(key, value));
  return { name: 'PaxHeaders/x', type, body: body.join('') };
}

function gnuLong(name: string, type = 'L'): TarPart {
  return { name: '././@LongLink', type, body: `${name}\0`, magic: 'ustar  \0' };
}

function base256(value: bigint): Buffer {
  return Buffer.from(((0x80n << 88n) | value).toString(16).padStart(24, '0'), 'hex');
}

test('entries come with name, kind, size and place, whatever the size of the chunks', () => {
  const bytes = buildTar([
    { name: './', type: '5' },
    { name: './a', body: 'hello' },
    { name: './empty' },
    { name: './old', type: '\0', body: 'x'.repeat(512) },
    { name: './hard', type: '1', link: './a' },
    { name: './sym', type: '2', link: 'a' },
    { name: './char', type: '3' },
    { name: './block', type: '4' },
    { name: './fifo', type: '6' },
    { name: './contiguous', type: '7', body: 'y' },
  ]);
  const expected = [
    { name: './', kind: 'directory', size: 0, offset: 512 },
    { name: './a', kind: 'file', size: 5, offset: 1024 },
    { name: './empty', kind: 'file', size: 0, offset: 2048 },
    { name: './old', kind: 'file', size: 512, offset: 2560 },
    { name: './hard', kind: 'hard-link', size: 0, offset: 3584 },
    { name: './sym', kind: 'symlink', size: 0, offset: 4096 },
    { name: './char', kind: 'character-device', size: 0, offset: 4608 },
    { name: './block', kind: 'block-device', size: 0, offset: 5120 },
    { name: './fifo', kind: 'fifo', size: 0, offset: 5632 },
    { name: './contiguous', kind: 'file', size: 1, offset: 6144 },
  ];
  for (const length of [1, 100, 511, 512, 513, bytes.length]) {
    assert.deepEqual(read(bytes, plain, length), expected, `chunks of ${length}`);
  }
  assert.equal(bytes.toString('latin1', 1024, 1029), 'hello');
});

test('the prefix field of ustar is put before the name, that of GNU headers is not', () => {
  assert.deepEqual(names([{ name: 'b', prefix: 'a' }], plain), ['a/b']);
  assert.deepEqual(names([{ name: 'b', prefix: 'a', magic: 'ustar  \0' }], plain), ['b']);
});

test('a v7 header is read, and a name that ends in a slash is a directory', () => {
  const [entry] = read(buildTar([{ name: 'dir/', type: '\0', magic: '\0' }]), plain);
  assert.equal(entry?.kind, 'directory');
});

test('the size that v7 writers repeat for a hard link is no content', () => {
  assert.deepEqual(names([{ name: 'h', type: '1', link: 'a', size: 5 }, { name: 'next' }]), ['h', 'next']);
});

test('a header summed over signed characters is taken', () => {
  const bytes = buildTar([{ name: 'é' }]);
  const unsigned = Number.parseInt(bytes.toString('latin1', 148, 154), 8);
  bytes.write((unsigned - 2 * 256).toString(8).padStart(6, '0'), 148);
  assert.deepEqual(
    read(bytes, plain).map(({ name }) => name),
    ['é'],
  );
});

test('bytes of a name that are not UTF-8 become U+FFFD', () => {
  assert.deepEqual(names([{ name: Buffer.from([0x61, 0xff, 0x62]) }]), ['a\ufffdb']);
});

test('the extended dialect follows GNU long names', () => {
  const long = `./${'d'.repeat(99)}/${'n'.repeat(99)}`;
  const link = { name: 'l', type: '2', link: 'cut' };
  assert.deepEqual(names([gnuLong(long), { name: 'cut' }, { name: 'next' }]), [long, 'next']);
  assert.deepEqual(names([gnuLong(long), gnuLong('target', 'K'), link]), [long]);
});

test('a chunk may be written over as soon as it has been taken', () => {
  const bytes = buildTar([gnuLong('long name in two chunks'), { name: 'cut' }]);
  const tar = new TarReader('x.deb: data.tar', extended);
  const chunk = Buffer.alloc(8);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += chunk.length) {
    bytes.copy(chunk, 0, at);
    found.push(...tar.push(chunk).map(({ name }) => name));
  }
  assert.deepEqual(found, ['long name in two chunks']);
});

test('the extended dialect follows pax path and size, and ignores other records', () => {
  const bytes = buildTar([
    pax({ mtime: '1.5', path: 'ünï/code', size: '600', 'SCHILY.xattr.user.x': 'a=b\nc\0' }),
    { name: 'short', size: 0, body: 'z'.repeat(600) },
    { name: 'next' },
  ]);
  assert.deepEqual(
    read(bytes, extended).map(({ name, size }) => [name, size]),
    [
      ['ünï/code', 600],
      ['next', 0],
    ],
  );
});

test('the extended dialect follows base-256 sizes', () => {
  const [entry] = read(buildTar([{ name: 'a', body: 'x'.repeat(10), size: base256(10n) }]), extended);
  assert.equal(entry?.size, 10);
});

test('the plain dialect takes pax records that change neither name nor bounds', () => {
  assert.deepEqual(names([pax({ comment: 'x' }, 'g'), pax({ mtime: '1.5' }), { name: 'control' }], plain), ['control']);
});

test('the plain dialect refuses GNU long names', () => {
  for (const type of ['L', 'K']) refused(buildTar([gnuLong('x', type), { name: 'a' }]), plain, 'tar-unsupported');
});

test('the plain dialect refuses the pax records path, linkpath and size', () => {
  for (const key of ['path', 'linkpath', 'size']) {
    refused(buildTar([pax({ [key]: '1' }), { name: 'a' }]), plain, 'tar-unsupported');
  }
});

test('the plain dialect refuses base-256 sizes', () =>
  refused(buildTar([{ name: 'a', size: base256(0n) }]), plain, 'tar-unsupported'));

test('types that dpkg does not read are refused', () => {
  for (const type of ['S', 'M', 'V', 'D', 'N', 'X', 'A', '8', 'z', '\xff']) {
    refused(buildTar([{ name: 'a', type }]), extended, 'tar-unsupported');
  }
});

test('sparse files and global pax names are refused in both dialects', () => {
  for (const rules of [plain, extended]) {
    refused(buildTar([pax({ 'GNU.sparse.name': 'x' }), { name: 'a' }]), rules, 'tar-unsupported');
    refused(buildTar([pax({ path: 'x' }, 'g'), { name: 'a' }]), rules, 'tar-unsupported');
  }
});

test('an entry that is given two names or two sizes is refused', () => {
  const entry = { name: 'a' };
  refused(buildTar([gnuLong('x'), gnuLong('y'), entry]), extended, 'tar-invalid');
  refused(buildTar([gnuLong('x'), pax({ path: 'y' }), entry]), extended, 'tar-invalid');
  refused(buildTar([pax({ size: '0' }), pax({ size: '1' }), entry]), extended, 'tar-invalid');
  refused(buildTar([gnuLong('x', 'K'), pax({ linkpath: 'y' }), entry]), extended, 'tar-invalid');
});

test('a long name that is followed by no entry is refused', () =>
  refused(buildTar([gnuLong('x')]), extended, 'tar-invalid'));

test('malformed pax records are refused', () => {
  for (const body of [
    '5 a=b',
    '99 a=b\n',
    '0 a=b\n',
    'a=b\n',
    '6 ab\n\n',
    '6 =b\nx',
    '7 a=b\n',
    '18446744073709551622 a=b\n',
  ]) {
    refused(buildTar([{ name: 'p', type: 'x', body }, { name: 'a' }]), extended, 'tar-invalid');
  }
  refused(buildTar([pax({ path: '' }), { name: 'a' }]), extended, 'tar-invalid');
  refused(buildTar([pax({ path: 'a\0b' }), { name: 'a' }]), extended, 'tar-invalid');
  refused(buildTar([pax({ size: '1x' }), { name: 'a' }]), extended, 'tar-invalid');
});

test('a size out of bounds is refused', () => {
  refused(buildTar([{ name: 'a', size: base256(1n << 60n) }]), extended, 'tar-invalid');
  refused(buildTar([{ name: 'a', size: Buffer.alloc(12, 0xff) }]), extended, 'tar-invalid');
  refused(buildTar([{ name: 'a', size: Buffer.from('0000000 0008') }]), extended, 'tar-invalid');
  refused(buildTar([pax({ size: '9'.repeat(30) }), { name: 'a' }]), extended, 'tar-invalid');
});

test('content of anything but a file is refused', () => {
  for (const type of ['2', '3', '4', '5', '6']) {
    refused(buildTar([{ name: 'a', type, body: 'x' }]), extended, 'tar-invalid');
  }
});

test('an entry without a name is refused', () => refused(buildTar([{ name: '', body: 'x' }]), extended, 'tar-invalid'));

test('a header whose checksum does not hold is refused', () => {
  const bytes = buildTar([{ name: 'a' }]);
  bytes.write('b', 0);
  refused(bytes, plain, 'tar-invalid');
});

test('bytes after the end mark are refused, zeros are not', () => {
  const bytes = buildTar([{ name: 'a' }]);
  assert.equal(read(Buffer.concat([bytes, Buffer.alloc(10_240)]), plain).length, 1);
  refused(Buffer.concat([bytes, bytes]), plain, 'tar-invalid');
});

test('an archive cut at any byte before its end mark is refused', () => {
  const bytes = buildTar([gnuLong('long'), { name: 'a', body: 'x'.repeat(700) }]);
  for (let length = 0; length < bytes.length - 512; length++) {
    refused(bytes.subarray(0, length), extended, 'tar-truncated');
  }
});

test('more entries, longer names and larger extensions than allowed are refused', () => {
  const many = buildTar(Array.from({ length: 101 }, (_, index) => ({ name: `f${index}` })));
  refused(many, plain, 'tar-limit');
  refused(buildTar(Array.from({ length: 101 }, () => pax({ comment: 'x' }))), plain, 'tar-limit');
  refused(buildTar([gnuLong('n'.repeat(4097)), { name: 'a' }]), extended, 'tar-limit');
  const three = [0, 1, 2].flatMap(() => [gnuLong('n'.repeat(4000)), { name: 'a' }]);
  refused(buildTar(three), extended, 'tar-limit');
  refused(buildTar([{ name: 'p', type: 'x', size: 2 ** 30 }]), extended, 'tar-limit');
  refused(buildTar([{ name: 'p', type: 'x', size: 0 }]), extended, 'tar-limit');
});

test('noise in a header is refused or read, never anything else', () => {
  const whole = buildTar([gnuLong('long'), { name: 'a', body: 'x' }]);
  for (let at = 0; at < 512; at++) {
    const bytes = Buffer.from(whole);
    bytes.writeUInt8((bytes.readUInt8(at) + 0x81) & 0xff, at);
    writeChecksum(bytes);
    try {
      read(bytes, extended);
    } catch (error) {
      assert(error instanceof Problem, `byte ${at}: ${error}`);
    }
  }
});

const noTar = machineHas('tar') ? false : 'tar is not installed';

test('archives of GNU tar in every format are read as it wrote them', { skip: noTar }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'apt-publish-tar-'));
  try {
    const deep = `${'d'.repeat(120)}/${'f'.repeat(80)}`;
    mkdirSync(join(directory, 'd'.repeat(120)));
    writeFileSync(join(directory, deep), 'deep');
    writeFileSync(join(directory, 'short é'), 'x'.repeat(2000));
    symlinkSync('t'.repeat(150), join(directory, 'link'));
    for (const format of ['gnu', 'posix']) {
      const bytes = execFileSync('tar', ['-C', directory, `--format=${format}`, '-c', deep, 'short é', 'link']);
      assert.deepEqual(
        read(bytes, extended).map(({ name, kind, size }) => [name, kind, size]),
        [
          [deep, 'file', 4],
          ['short é', 'file', 2000],
          ['link', 'symlink', 0],
        ],
        format,
      );
      refused(bytes, plain, 'tar-unsupported');
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
