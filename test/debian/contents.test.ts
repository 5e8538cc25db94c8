import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { mergeContents, type PackagePaths, renderContents } from '../../src/debian/contents.ts';
import { needs, run, temporaryFolder } from './debian-tools.ts';
import { Generator } from './generator.ts';

const origin = 'dists/s/main/Contents-amd64';

/** Names on both sides of the blank, with blanks in them, prefixes of each other, and beyond ASCII and the BMP. */
const oddPaths = [
  'usr/bin/a',
  'usr/bin/a b',
  'usr/bin/a-b',
  'usr/bin/a/b',
  'usr/bin/a!',
  'usr/bin/[',
  'usr/bin/ä',
  'usr/bin/\u{ff5e}',
  'usr/bin/\u{1f600}',
  'usr/bin/\u2028x',
  '.hidden',
] as const;

describe('rendering Contents', () => {
  it('writes one line a path, the packages that share it joined by commas', () => {
    assert.equal(
      render([
        { location: 'utils/b', paths: ['usr/share/doc', 'usr/bin/b'] },
        { location: 'a', paths: ['usr/share/doc'] },
        { location: 'utils/b', paths: ['usr/bin/b'] },
      ]),
      'usr/bin/b\tutils/b\nusr/share/doc\ta,utils/b\n',
    );
  });

  it('is empty without packages or paths', () => {
    assert.equal(render([]), '');
    assert.equal(render([{ location: 'a', paths: [] }]), '');
  });

  it('is sorted as sort(1) does it, also with blanks, prefixes and UTF-8', needs('sort'), () => {
    const text = render(new Generator(1).shuffled(oddPaths).map((path) => ({ location: 'x/y', paths: [path] })));
    assert.equal(text.split('\n').length, oddPaths.length + 1);
    run('sort', ['-c'], { input: Buffer.from(text) });
  });

  it('lets no path or section forge a line or a location', () => {
    const text = render([{ location: 'x\ny, z/p', paths: ['a\nevil\tevil/pkg', 'b\tc', 'd\re', 'f\0\x7f'] }]);
    assert.equal(text, 'a?evil?evil/pkg\tx?y??z/p\nb?c\tx?y??z/p\nd?e\tx?y??z/p\nf??\tx?y??z/p\n');
  });

  it('says what apt-ftparchive says', needs('apt-ftparchive', 'dpkg-deb'), (test) => {
    const folder = temporaryFolder(test);
    const made = (name: string, paths: readonly string[]) => {
      for (const path of paths) {
        const file = join(folder, name, path);
        mkdirSync(join(file, '..'), { recursive: true });
        writeFileSync(file, '');
      }
      mkdirSync(join(folder, name, 'DEBIAN'));
      mkdirSync(join(folder, name, 'usr/share/empty'), { recursive: true });
      symlinkSync('a', join(folder, name, 'usr/bin/link'));
      const control = `Package: ${name}\nVersion: 1\nArchitecture: all\nMaintainer: M <m@example.org>\nDescription: x\n`;
      writeFileSync(join(folder, name, 'DEBIAN/control'), control);
      run('dpkg-deb', ['--root-owner-group', '--build', name, `pool/${name}_1_all.deb`], { cwd: folder });
      return { location: name, paths: [...paths, 'usr/bin/link'] };
    };
    mkdirSync(join(folder, 'pool'));
    const packages = [made('one', oddPaths.slice(0, 3)), made('two', ['usr/bin/a b', 'etc/two'])];
    const theirs = run('apt-ftparchive', ['contents', 'pool'], { cwd: folder });
    // Our reader of foreign files turns their padding into our form; their order need not be ours.
    assert.equal(merge(theirs, {}), render(packages));
    assert.match(theirs, /usr\/bin\/link\s+one,two/);
  });
});

describe('merging Contents', () => {
  const old = render([
    { location: 'x/a', paths: ['bin/a', 'bin/shared', 'share/a'] },
    { location: 'x/b', paths: ['bin/b', 'bin/shared'] },
  ]);

  it('adds lines and joins shared ones', () => {
    assert.equal(
      merge(old, { add: [{ location: 'x/aa', paths: ['bin/0', 'bin/shared', 'zz'] }] }),
      'bin/0\tx/aa\nbin/a\tx/a\nbin/b\tx/b\nbin/shared\tx/a,x/aa,x/b\nshare/a\tx/a\nzz\tx/aa\n',
    );
  });

  it('removes a package from its lines and drops those that are left empty', () => {
    const remove = [{ location: 'x/a', paths: ['bin/a', 'bin/shared', 'share/a', 'never/listed'] }];
    assert.equal(merge(old, { remove }), 'bin/b\tx/b\nbin/shared\tx/b\n');
    assert.equal(merge(merge(old, { remove }), { remove: [{ location: 'x/b', paths: ['bin/b', 'bin/shared'] }] }), '');
  });

  it('keeps what is both removed and added: another version of the package still has it', () => {
    const remove = [{ location: 'x/a', paths: ['bin/a', 'share/a'] }];
    assert.equal(
      merge(old, { remove, add: [{ location: 'x/a', paths: ['bin/a'] }] }),
      old.replace('share/a\tx/a\n', ''),
    );
  });

  it('does not take a package for another whose name contains its name', () => {
    assert.equal(merge('p\tx/liba,x/libab\n', { remove: [{ location: 'x/liba', paths: ['p'] }] }), 'p\tx/libab\n');
    assert.equal(merge('p\tx/libab\n', { remove: [{ location: 'x/liba', paths: ['p'] }] }), 'p\tx/libab\n');
  });

  it('changes nothing when nothing changes', () => {
    assert.equal(merge(old, {}), old);
    assert.equal(merge(old, { add: [{ location: 'x/a', paths: ['bin/a'] }] }), old);
    assert.equal(merge('', {}), '');
  });

  it('finds its place anywhere in a file of many lines', () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `usr/share/doc/${String(i * 2).padStart(6, '0')}`);
    const file = render([{ location: 'doc/all', paths: lines }]);
    for (const i of [0, 1, 2, 77, 78, 4999, 5000, 9997, 9998, 9999, 10000]) {
      const paths = [`usr/share/doc/${String(i).padStart(6, '0')}`];
      const merged = merge(file, { add: [{ location: 'x', paths }] });
      assert.equal(
        merged,
        render([
          { location: 'doc/all', paths: lines },
          { location: 'x', paths },
        ]),
        String(i),
      );
      assert.equal(merge(merged, { remove: [{ location: 'x', paths }] }), file, String(i));
    }
  });

  it('gives the same bytes for any sequence of merges as for all packages at once', () => {
    const random = new Generator(7);
    for (let round = 0; round < 150; round += 1) {
      const packages = ['x/a', 'x/b', 'b', 'y/c+'].map((location) => ({
        location,
        paths: random.shuffled(oddPaths).slice(0, random.below(oddPaths.length)),
      }));
      let listed: PackagePaths[] = [];
      let file = '';
      for (let step = 0; step < 6; step += 1) {
        const remove = listed.filter(() => random.below(3) === 0);
        listed = listed.filter((one) => !remove.includes(one));
        const add = random.shuffled(packages).filter((one) => !listed.includes(one) && random.below(2) === 0);
        listed.push(...add);
        file = merge(file, { add, remove });
      }
      assert.equal(file, render(random.shuffled(listed)), `round ${round}`);
    }
  });
});

describe('merging into the Contents of another tool', () => {
  const own = 'bin/a b\tx/p\nbin/c\tx/p,x/q\nbin/d\tq\n';

  it('reads padding by blanks and tabs, headers, CRLF, foreign order, repeated paths, a missing last newline', () => {
    for (const foreign of [
      'bin/a b                     x/p\nbin/c                       x/p,x/q\nbin/d                       q\n',
      'FILE LOCATION\nbin/a b x/p\nbin/c x/p,x/q\nbin/d q\n',
      'FILE\tLOCATION\nbin/a b\tx/p\nbin/c\tx/p,x/q\nbin/d\tq\n',
      'This file maps each file available to the package.\n\nFILE            LOCATION\nbin/a b\t\t    x/p\nbin/c\tx/p,x/q\nbin/d\tq\n',
      'bin/a b\tx/p\r\nbin/c\tx/p,x/q\r\nbin/d\tq\r\n',
      'bin/d\tq\r\nbin/c\tx/p,x/q\r\nbin/a b\tx/p\r\n',
      'bin/a b\tx/p\nbin/c\tx/q\nbin/c\tx/p\nbin/d\tq',
      'bin/a b\tx/p\nbin/c\tx/q\nbin/c\tx/p\nbin/d\tq\n',
      '\nbin/a b\tx/p\n\nbin/c\tx/q,x/p,x/q\nbin/d\tq\n',
    ]) {
      assert.equal(merge(foreign, { add: [{ location: 'q', paths: ['bin/d'] }] }), own, foreign);
    }
  });

  it('applies changes on top', () => {
    const merged = merge('bin/d  q\nbin/c  x/p\n', {
      add: [{ location: 'x/n', paths: ['bin/c', 'bin/e'] }],
      remove: [{ location: 'q', paths: ['bin/d'] }],
    });
    assert.equal(merged, 'bin/c\tx/n,x/p\nbin/e\tx/n\n');
  });

  it('refuses a line without a package and names the file', () => {
    for (const broken of ['bin/a\tx/p\nbin/b\nbin/c\tx/q\n', 'word\n', 'bin/a\tx/p\nbin/b\t\n']) {
      assert.throws(() => merge(broken, {}), { code: 'contents-line', message: /dists\/s\/main\/Contents-amd64/ });
    }
  });
});

function render(packages: readonly PackagePaths[]): string {
  return Buffer.from(renderContents(packages)).toString();
}

function merge(old: string, changes: { add?: readonly PackagePaths[]; remove?: readonly PackagePaths[] }): string {
  return Buffer.from(mergeContents(Buffer.from(old), { add: [], remove: [], ...changes }, origin)).toString();
}
