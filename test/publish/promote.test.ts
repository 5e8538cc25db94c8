import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseSuiteRecord } from '../../src/publish/suite-record.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { suiteOf } from './publishing.ts';
import { changesOf, Repository } from './repository.ts';
import { RepositoryCheck } from './repository-check.ts';

const keys = await fixture('ed25519');

function list(suite: string, architecture = 'amd64', component = 'main'): string {
  return `dists/${suite}/${component}/binary-${architecture}/Packages.gz`;
}

/** Suite testing with hello (amd64, arm64, source), docs (all) and tool (contrib). */
async function testing(contents = false): Promise<Repository> {
  const repository = new Repository();
  const { debs } = repository;
  const main = [
    debs.add('amd', { Version: '2.0-1' }, { 'usr/bin/hello': 'x' }),
    debs.add('arm', { Version: '2.0-1', Architecture: 'arm64' }),
    debs.add('docs', { Package: 'docs', Architecture: 'all' }),
    debs.addSource('hello', '2.0'),
  ];
  const contrib = [debs.add('tool', { Package: 'tool' })];
  const uploads = [
    { component: 'contrib', paths: contrib },
    { component: 'main', paths: main.sort() },
  ];
  await repository.publish([{ suite: 'testing', uploads }], { contents });
  return repository;
}

describe('a promotion', () => {
  test('lists everything of one suite in a new one, and moves no file', async () => {
    using repository = await testing();
    const pool = await repository.keys('pool/');
    const ran = await repository.promote('testing', 'stable');
    assert.deepEqual(
      ran.requests.filter(({ object, verb }) => object === 'pool' && verb !== 'HEAD'),
      [],
    );
    assert.deepEqual(await repository.keys('pool/'), pool);
    for (const name of ['main/binary-amd64/Packages', 'main/binary-arm64/Packages', 'main/source/Sources']) {
      const [there, here] = [`dists/testing/${name}.gz`, `dists/stable/${name}.gz`];
      assert.equal(await repository.text(here), await repository.text(there), name);
    }
    assert.deepEqual(await repository.packages(list('stable', 'amd64', 'contrib')), ['tool 1.0']);
    assert.match(await repository.text('dists/stable/Release'), /^Codename: stable$/m);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
  });

  test('takes along the sources of what it promotes, and nothing else', async () => {
    using repository = await testing();
    const stable = repository.debs.add('stable', { Version: '1.0-1' });
    await repository.publish([suiteOf('stable', stable)]);
    const ran = await repository.promote('testing', 'stable', ['hello (>= 2.0)']);
    assert.deepEqual(changesOf(ran), [
      'added hello 2.0-1 amd64',
      'added hello 2.0-1 arm64',
      'added hello 2.0-1 source',
    ]);
    assert.deepEqual(await repository.packages(list('stable')), ['hello 1.0-1', 'hello 2.0-1']);
    assert.deepEqual(await repository.packages(list('stable', 'arm64')), ['hello 2.0-1']);
    assert.deepEqual(await repository.packages('dists/stable/main/source/Sources.gz'), ['hello 2.0-1']);
    assert.match(await repository.text('dists/stable/Release'), /^Components: main$/m);
  });

  test('finds sources by what binaries were built from, whatever they are called', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const lib = debs.add('lib', { Package: 'libhello1', Source: 'hello (2.0-1)', Version: '2.0-1+b1' });
    const files = [lib, debs.addSource('hello', '1.0'), debs.addSource('hello', '2.0')];
    await repository.publish([suiteOf('testing', ...files)]);
    const ran = await repository.promote('testing', 'stable', ['lib*']);
    assert.deepEqual(changesOf(ran), ['added libhello1 2.0-1+b1 amd64', 'added hello 2.0-1 source']);
    const record = await repository.text('.apt-publish/stable.json');
    const { added } = parseSuiteRecord(Buffer.from(record), 'stable').generation;
    assert.deepEqual([...added].sort(), [
      'pool/main/h/hello/hello_2.0-1.dsc',
      'pool/main/h/hello/hello_2.0.orig.tar.gz',
      'pool/main/h/hello/libhello1_2.0-1+b1_amd64.deb',
    ]);
  });

  test('gives a new suite all architectures of the one that the packages come from', async () => {
    using repository = await testing();
    await repository.promote('testing', 'stable', ['docs']);
    assert.match(await repository.text('dists/stable/Release'), /^Architectures: amd64 arm64$/m);
    assert.deepEqual(await repository.packages(list('stable', 'arm64')), ['docs 1.0']);
  });

  test('gives every component lists for an architecture that comes with it', async () => {
    using repository = await testing();
    const { debs } = repository;
    const all = debs.add('other', { Package: 'other', Architecture: 'all' });
    const uploads = [{ component: 'contrib', paths: [all, debs.add('riscv', { Architecture: 'riscv64' })] }];
    await repository.publish([{ suite: 'stable', uploads }]);
    await repository.promote('testing', 'stable', ['hello']);
    assert.deepEqual(await repository.packages(list('stable', 'amd64', 'contrib')), ['other 1.0']);
    assert.deepEqual(await repository.packages(list('stable', 'riscv64')), []);
  });

  test('puts packages for all into every list of the suite that gets them', async () => {
    using repository = await testing();
    const { debs } = repository;
    const own = [debs.add('riscv', { Architecture: 'riscv64' }), debs.add('s390x', { Architecture: 's390x' })];
    await repository.publish([suiteOf('stable', ...own)]);
    await repository.promote('testing', 'stable', ['docs']);
    assert.deepEqual(await repository.packages(list('stable', 'riscv64')), ['docs 1.0', 'hello 1.0']);
    assert.deepEqual(await repository.packages(list('stable', 's390x')), ['docs 1.0', 'hello 1.0']);
    await repository.promote('testing', 'stable', ['hello'], {
      selection: { patterns: [{ name: 'hello' }], architectures: ['amd64'] },
    });
    assert.deepEqual(await repository.packages(list('stable', 'amd64')), ['docs 1.0', 'hello 2.0-1']);
    assert.match(await repository.text('dists/stable/Release'), /^Architectures: amd64 riscv64 s390x$/m);
  });

  test('can put the packages of a component into another one, of the same suite too', async () => {
    using repository = await testing();
    const selection = { patterns: [{ name: '*' }], components: ['contrib'] };
    await repository.promote('testing', 'testing', [], { selection, moves: [{ from: 'contrib', to: 'main' }] });
    assert.deepEqual(await repository.packages(list('testing')), ['docs 1.0', 'hello 2.0-1', 'tool 1.0']);
    assert.match(await repository.text(list('testing')), /^Filename: pool\/contrib\/t\/tool\/tool_1\.0_amd64\.deb$/m);
  });

  test('brings Contents up to date without reading a package', async () => {
    using repository = await testing(true);
    const ran = await repository.promote('testing', 'stable', ['hello']);
    assert.equal(await repository.text('dists/stable/main/Contents-amd64.gz'), 'usr/bin/hello\tutils/hello\n');
    assert.deepEqual(ran.warnings, []);
  });

  test('takes from a kept file list only what the signed Contents of the other suite says (invariant 5)', async () => {
    using repository = await testing(true);
    for (const key of await repository.keys('.apt-publish/contents/')) {
      const forged = gzipSync(JSON.stringify(['usr/bin/hello', 'usr/bin/sudo']));
      await repository.store.put(key, forged, { contentType: 'application/gzip', cacheControl: 'no-cache' });
    }
    await repository.promote('testing', 'stable', ['hello']);
    assert.equal(await repository.text('dists/stable/main/Contents-amd64.gz'), 'usr/bin/hello\tutils/hello\n');
  });

  test('of what is there already changes nothing', async () => {
    using repository = await testing();
    await repository.promote('testing', 'stable');
    const before = await repository.keys();
    const again = await repository.promote('testing', 'stable');
    assert.equal(again.results[0]?.outcome.changed, false);
    assert.deepEqual(await repository.keys(), before);
  });

  test('judges the same package with other bytes as `on-conflict` says', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('testing', debs.add('old'))]);
    await repository.promote('testing', 'stable');
    const other = debs.add('other', { Description: 'says something else' });
    await repository.publish([suiteOf('testing', other)], { onConflict: 'replace' });
    const before = await repository.text(list('stable'));
    await assert.rejects(repository.promote('testing', 'stable'), problemCode('package-conflict'));
    const skipped = await repository.promote('testing', 'stable', ['*'], { onConflict: 'skip' });
    assert.match(skipped.warnings.join(), /hello 1\.0 \(amd64\) of suite testing was skipped/);
    assert.equal(await repository.text(list('stable')), before);
    const replaced = await repository.promote('testing', 'stable', ['*'], { onConflict: 'replace' });
    assert.deepEqual(changesOf(replaced), ['replaced hello 1.0 amd64']);
    assert.equal(await repository.text(list('stable')), await repository.text(list('testing')));
  });

  test('is refused when a pattern fits nothing, or the suite is not there', async () => {
    using repository = await testing();
    const before = await repository.keys();
    await assert.rejects(
      repository.promote('testing', 'stable', ['hello', 'helo']),
      problemCode('pattern-fits-nothing'),
    );
    await assert.rejects(repository.promote('sid', 'stable'), problemCode('suite-missing'));
    assert.deepEqual(await repository.keys(), before);
  });

  test('that races a publish into either suite loses nothing (invariant 4)', async () => {
    using repository = await testing();
    const { debs } = repository;
    await repository.publish([suiteOf('stable', debs.add('first', { Package: 'first' }))]);
    const own = debs.add('own', { Package: 'own' });
    await Promise.all([
      repository.promote('testing', 'stable', ['hello']),
      repository.publish([suiteOf('stable', own)]),
      repository.publish([suiteOf('testing', debs.add('late', { Package: 'late' }))]),
    ]);
    assert.deepEqual(await repository.packages(list('stable')), ['first 1.0', 'hello 2.0-1', 'own 1.0']);
    assert.deepEqual(await repository.packages(list('testing')), ['docs 1.0', 'hello 2.0-1', 'late 1.0']);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
  });

  test('keeps its files when the suite that they came from lists them no longer (invariant 2)', async () => {
    using repository = await testing();
    const day = 24 * 3600_000;
    await repository.promote('testing', 'stable', ['hello']);
    await repository.remove('testing', ['*']);
    for (const version of ['5', '6']) {
      await repository.clock.sleep(8 * day);
      await repository.publish([suiteOf('testing', repository.debs.add(`new-${version}`, { Version: version }))]);
    }
    const pool = await repository.keys('pool/');
    assert.ok(pool.includes('pool/main/h/hello/hello_2.0-1_amd64.deb'));
    assert.ok(pool.includes('pool/main/h/hello/hello_2.0.orig.tar.gz'));
    assert.ok(!pool.some((key) => key.includes('docs')), 'what nobody lists has left the pool');
    assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
  });
});
