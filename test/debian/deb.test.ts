import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkFormatVersion,
  controlFile,
  DebLayout,
  InstalledPaths,
  maxDataTarSize,
  packageKind,
} from '../../src/debian/deb.ts';
import { Problem } from '../../src/problem.ts';
import { buildTar, type TarPart } from '../debs.ts';

const mebibyte = 1024 * 1024;

function refused(act: () => unknown, code: string): void {
  assert.throws(act, (error) => {
    assert(error instanceof Problem, String(error));
    assert.equal(error.code, code, error.what);
    assert.match(error.what, /^x\.deb: /);
    return true;
  });
}

/** What each member is taken for; a name may be followed by a blank and a size. */
function layout(...members: string[]): string[] {
  const deb = new DebLayout('x.deb');
  const roles = members.map((member) => {
    const [name, size] = member.split(' ');
    const found = deb.member(name ?? '', Number(size ?? 4));
    return 'compression' in found ? `${found.role} ${found.compression}` : found.role;
  });
  deb.end();
  return roles;
}

function control(...entries: TarPart[]): string {
  return Buffer.from(controlFile(buildTar(entries), 'x.deb')).toString();
}

function installed(...entries: TarPart[]): string[] {
  const paths = new InstalledPaths('x.deb');
  paths.push(buildTar(entries));
  return paths.end();
}

test('control.tar is read uncompressed and as gz, xz and zst', () => {
  for (const [suffix, compression] of Object.entries({ '': 'none', '.gz': 'gz', '.xz': 'xz', '.zst': 'zst' })) {
    assert.deepEqual(layout('debian-binary', `control.tar${suffix}`, 'data.tar'), [
      'format',
      `control ${compression}`,
      'data none',
    ]);
  }
});

test('data.tar is read uncompressed and as gz, xz, bz2, lzma and zst', () => {
  const known = { '': 'none', '.gz': 'gz', '.xz': 'xz', '.bz2': 'bz2', '.lzma': 'lzma', '.zst': 'zst' };
  for (const [suffix, compression] of Object.entries(known)) {
    assert.equal(layout('debian-binary', 'control.tar', `data.tar${suffix}`)[2], `data ${compression}`);
  }
});

test('other compressions of control.tar and data.tar are refused', () => {
  for (const suffix of ['.bz2', '.lzma', '.lz4', '.Z', 'x']) {
    refused(() => layout('debian-binary', `control.tar${suffix}`, 'data.tar'), 'deb-member-unsupported');
  }
  for (const suffix of ['.lz4', '.Z', '.']) {
    refused(() => layout('debian-binary', 'control.tar', `data.tar${suffix}`), 'deb-member-unsupported');
  }
});

test('members with an underscore are passed over anywhere after debian-binary', () => {
  const members = ['debian-binary', '_a', 'control.tar', '_b', 'data.tar', '_gpgorigin', '_gpgbuilder'];
  assert.deepEqual(layout(...members), ['format', 'other', 'control none', 'other', 'data none', 'other', 'other']);
});

test('members of unknown name after data.tar are passed over', () =>
  assert.deepEqual(layout('debian-binary', 'control.tar', 'data.tar', 'extra').at(-1), 'other'));

test('a foreign member in front of control.tar or data.tar is refused', () => {
  refused(() => layout('debian-binary', 'foreign', 'control.tar', 'data.tar'), 'deb-member-order');
  refused(() => layout('debian-binary', 'control.tar', 'foreign', 'data.tar'), 'deb-member-order');
  refused(() => layout('_first', 'debian-binary', 'control.tar', 'data.tar'), 'deb-member-order');
});

test('data.tar before control.tar is refused', () =>
  refused(() => layout('debian-binary', 'data.tar', 'control.tar'), 'deb-member-order'));

test('a package without debian-binary is refused', () =>
  refused(() => layout('control.tar', 'data.tar'), 'deb-member-order'));

test('a package without data.tar, without control.tar or without any member is refused', () => {
  refused(() => layout('debian-binary', 'control.tar'), 'deb-incomplete');
  refused(() => layout('debian-binary', '_x'), 'deb-incomplete');
  refused(() => layout(), 'deb-incomplete');
});

test('a second control.tar, data.tar or debian-binary is refused wherever it stands', () => {
  for (const again of ['control.tar.gz', 'data.tar.xz', 'debian-binary']) {
    refused(() => layout('debian-binary', 'control.tar', 'data.tar', again), 'deb-member-order');
  }
  refused(() => layout('debian-binary', 'control.tar', 'control.tar', 'data.tar'), 'deb-member-order');
});

test('a control.tar of more than 10 MiB and a large debian-binary are refused by their headers', () => {
  layout('debian-binary', `control.tar ${10 * mebibyte}`, 'data.tar');
  refused(() => layout('debian-binary', `control.tar ${10 * mebibyte + 1}`, 'data.tar'), 'deb-member-too-large');
  refused(() => layout('debian-binary 1025', 'control.tar', 'data.tar'), 'deb-member-too-large');
});

test('format 2.x is taken with any minor version and further lines, and nothing else is', () => {
  for (const text of ['2.0\n', '2.1\n', '2.17\nmore\n']) checkFormatVersion(Buffer.from(text), 'x.deb');
  for (const text of ['3.0\n', '2.0', '2\n', '0.939000\n', '20.0\n', ' 2.0\n', '2.0 \n', '']) {
    refused(() => checkFormatVersion(Buffer.from(text), 'x.deb'), 'deb-format-version');
  }
});

test('control is found under each spelling of its name', () => {
  for (const name of ['control', './control', '/control', '././control']) {
    assert.equal(control({ name: './', type: '5' }, { name: './md5sums', body: 'x' }, { name, body: 'here' }), 'here');
  }
});

test('control twice in control.tar is refused, spelled alike or not', () => {
  for (const name of ['./control', 'control', './/control']) {
    const twice = () => control({ name: './control', body: 'a' }, { name: 'md5sums' }, { name, body: 'b' });
    refused(twice, 'deb-control-twice');
  }
});

test('control as a symlink, hard link, device, fifo or directory is refused', () => {
  for (const type of ['1', '2', '3', '4', '5', '6']) {
    refused(() => control({ name: './control', type, link: '/etc/passwd' }), 'deb-control-not-a-file');
  }
});

test('links beside control are refused, since unpacking could lead another entry through them onto it', () => {
  refused(
    () => control({ name: './control', body: 'a' }, { name: 'x', type: '2', link: '.' }, { name: 'x/control' }),
    'deb-control-not-a-file',
  );
});

test('control.tar without control is refused', () =>
  refused(() => control({ name: './md5sums' }, { name: './x/control' }), 'deb-control-missing'));

test('a control of more than 1 MiB is refused', () => {
  assert.equal(control({ name: 'control', body: 'x'.repeat(mebibyte) }).length, mebibyte);
  refused(() => control({ name: 'control', body: 'x'.repeat(mebibyte + 1) }), 'deb-control-too-large');
});

test('control.tar with more than 1000 entries is refused', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ name: `f${index}` }));
  refused(() => control({ name: 'control', body: 'x' }, ...many), 'tar-limit');
});

test('control under a GNU long name or a pax path is refused', () => {
  refused(() => control({ name: 'L', type: 'L', body: 'control\0' }, { name: 'x' }), 'tar-unsupported');
  refused(() => control({ name: 'p', type: 'x', body: '16 path=control\n' }, { name: 'x' }), 'tar-unsupported');
});

test('a control.tar that is cut short is refused even when control is whole', () =>
  refused(() => controlFile(buildTar([{ name: 'control', body: 'x' }]).subarray(0, 1024), 'x.deb'), 'tar-truncated'));

test('installed paths are everything but directories, each once, without leading dot and slash', () => {
  assert.deepEqual(
    installed(
      { name: './', type: '5' },
      { name: './usr/', type: '5' },
      { name: './usr/file' },
      { name: '/etc/absolute' },
      { name: 'bare' },
      { name: './hard', type: '1', link: './usr/file' },
      { name: './sym', type: '2', link: 'usr/file' },
      { name: './dev/char', type: '3' },
      { name: './dev/block', type: '4' },
      { name: './fifo', type: '6' },
      { name: './usr/file' },
      { name: './.hidden' },
      { name: './../up' },
      { name: './a\nb\tc' },
    ),
    ['usr/file', 'etc/absolute', 'bare', 'hard', 'sym', 'dev/char', 'dev/block', 'fifo', '.hidden', '../up', 'a\nb\tc'],
  );
});

test('a data.tar that is cut short is refused', () => {
  const paths = new InstalledPaths('x.deb');
  paths.push(buildTar([{ name: 'a' }]).subarray(0, 512));
  refused(() => paths.end(), 'tar-truncated');
});

test('data.tar may unpack to 64 MiB, to a thousandfold above that, and never to more than 16 GiB', () => {
  assert.equal(maxDataTarSize(0), 64 * mebibyte);
  assert.equal(maxDataTarSize(mebibyte), 1000 * mebibyte);
  assert.equal(maxDataTarSize(1024 * mebibyte), 16 * 1024 * mebibyte);
});

test('the kind of a package follows Package-Type, and a telling file name must agree', () => {
  const kind = (extension: 'deb' | 'udeb' | 'ddeb', type?: string) => packageKind(extension, type, 'x.deb');
  assert.deepEqual([kind('deb'), kind('udeb'), kind('ddeb')], ['deb', 'udeb', 'ddeb']);
  assert.deepEqual([kind('deb', 'deb'), kind('deb', 'udeb'), kind('deb', 'ddeb')], ['deb', 'udeb', 'ddeb']);
  assert.deepEqual([kind('udeb', 'udeb'), kind('ddeb', 'ddeb')], ['udeb', 'ddeb']);
  for (const [extension, type] of [
    ['udeb', 'deb'],
    ['udeb', 'ddeb'],
    ['ddeb', 'deb'],
    ['ddeb', 'udeb'],
    ['deb', 'tdeb'],
    ['deb', ''],
  ] as const) {
    refused(() => kind(extension, type), 'deb-package-type');
  }
});
