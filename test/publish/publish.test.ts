import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import { buildDsc } from '../debs.ts';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const arm64 = 'dists/bookworm/main/binary-arm64/Packages.gz';

function problemCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof Problem && error.code === code;
}

describe('what is published', () => {
  test('packages come and stay, sorted, each list with exactly one blank line after each stanza', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('b', { Package: 'bb' }))]);
    const first = await repository.text(amd64);
    await repository.publish([suiteOf('bookworm', debs.add('a', { Package: 'aa', Version: '2' }))]);
    assert.deepEqual(await repository.packages(amd64), ['aa 2', 'bb 1.0']);
    const second = await repository.text(amd64);
    assert.ok(second.endsWith(first), 'the published stanza is carried byte for byte');
    assert.match(second, /[^\n]\n\n$/);
  });

  test('packages of architecture all stand in every list, also in one that is added later', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const all = debs.add('all', { Package: 'docs', Architecture: 'all' });
    await repository.publish([suiteOf('bookworm', all, debs.add('one'))]);
    await repository.publish([suiteOf('bookworm', debs.add('two', { Architecture: 'arm64' }))]);
    assert.deepEqual(await repository.packages(amd64), ['docs 1.0', 'hello 1.0']);
    assert.deepEqual(await repository.packages(arm64), ['docs 1.0', 'hello 1.0']);
    assert.match(await repository.text('dists/bookworm/InRelease'), /^Architectures: amd64 arm64$/m);
  });

  test('architectures that are declared have a list, even an empty one', async () => {
    using repository = new Repository();
    const all = repository.debs.add('all', { Architecture: 'all' });
    await assert.rejects(repository.publish([suiteOf('bookworm', all)]), problemCode('architectures-unknown'));
    assert.deepEqual(await repository.keys(), []);
    await repository.publish([suiteOf('bookworm', all)], { architectures: ['amd64', 'arm64'] });
    assert.deepEqual(await repository.packages(arm64), ['hello 1.0']);
    const stray = repository.debs.add('riscv', { Architecture: 'riscv64' });
    await assert.rejects(
      repository.publish([suiteOf('bookworm', stray)], { architectures: ['amd64', 'arm64'] }),
      problemCode('architecture-not-declared'),
    );
  });

  test('a component that comes later leaves the others as they are', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const extra = {
      suite: 'bookworm',
      uploads: [{ component: 'extra', paths: [debs.add('two', { Package: 'more' })] }],
    };
    await repository.publish([extra]);
    const release = await repository.text('dists/bookworm/Release');
    assert.match(release, /^Components: extra main$/m);
    assert.match(release, / main\/binary-amd64\/Packages\.gz$/m);
    assert.deepEqual(await repository.packages('dists/bookworm/extra/binary-amd64/Packages.gz'), ['more 1.0']);
  });

  test('the head, its Release and its signature are in step, and every listed file is there by hash', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', repository.debs.add('one'))], { compression: ['gz', 'xz', 'zst'] });
    const release = await repository.text('dists/bookworm/Release');
    assert.ok((await repository.text('dists/bookworm/InRelease')).includes(release));
    const listedFiles = [...release.matchAll(/^ ([0-9a-f]{64}) +(\d+) (\S+)$/gm)].map(
      ([, sha256, , path]) => `${sha256} ${path}`,
    );
    assert.equal(listedFiles.length, 4, 'three forms and the uncompressed twin');
    const byHash = await repository.keys('dists/bookworm/main/binary-amd64/by-hash/SHA256/');
    assert.equal(byHash.length, 3);
    for (const key of byHash) assert.ok(listedFiles.some((file) => file.startsWith(key.slice(-64))));
  });

  test('two suites of one run share the pool, and each file is uploaded once', async () => {
    using repository = new Repository();
    const deb = repository.debs.add('one');
    const { requests } = await repository.publish([suiteOf('bookworm', deb), suiteOf('trixie', deb)]);
    assert.equal(requests.filter(({ object, verb }) => object === 'pool' && verb === 'PUT').length, 1);
    assert.deepEqual(await repository.packages('dists/trixie/main/binary-amd64/Packages.gz'), ['hello 1.0']);
  });

  test('a source package is listed with all its files', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const tarball = Buffer.from('upstream');
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${debs.folder}/hello_1.0.orig.tar.gz`, tarball);
    writeFileSync(`${debs.folder}/hello_1.0-1.dsc`, buildDsc({ 'hello_1.0.orig.tar.gz': tarball }));
    await repository.publish([suiteOf('bookworm', `${debs.folder}/hello_1.0-1.dsc`, debs.add('one'))]);
    const sources = await repository.text('dists/bookworm/main/source/Sources.gz');
    assert.match(sources, /^Directory: pool\/main\/h\/hello$/m);
    assert.deepEqual(await repository.keys('pool/'), [
      'pool/main/h/hello/hello_1.0-1.dsc',
      'pool/main/h/hello/hello_1.0.orig.tar.gz',
      'pool/main/h/hello/hello_1.0_amd64.deb',
    ]);
  });
});

describe('what a run costs', () => {
  test('a run that changes nothing reads a few objects and writes none', async () => {
    using repository = new Repository();
    const deb = repository.debs.add('one');
    await repository.publish([suiteOf('bookworm', deb)]);
    const before = await repository.keys();
    const { results, requests } = await repository.publish([suiteOf('bookworm', deb)]);
    assert.equal(results[0]?.outcome.changed, false);
    assert.deepEqual([...new Set(requests.map(({ verb }) => verb))], ['GET']);
    assert.ok(requests.length <= 5, `${requests.length} requests`);
    assert.deepEqual(await repository.keys(), before);
  });

  test('an update asks for no list, no look-up and no delete', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const { requests } = await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))]);
    assert.deepEqual([...new Set(requests.map(({ verb, object }) => `${verb} ${object}`))].sort(), [
      'COPY index',
      'GET head',
      'GET record',
      'PUT by-hash',
      'PUT head',
      'PUT pool',
      'PUT record',
      'PUT release',
    ]);
    // Record, head and pool; the file; the list and the head that is replaced; the claim; one name, Release.gpg, the pool again; the head
    // and Release; and the record once more where Release came last.
    assert.ok(requests.length <= 13, `${requests.length} requests`);
  });

  test('indexes too large for the record are read by hash', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const sum = (text: string) => createHash('sha512').update(text).digest('base64');
    const noise = Array.from({ length: 2000 }, (_, index) => sum(String(index))).join('');
    await repository.publish([suiteOf('bookworm', debs.add('one', { 'X-Noise': noise }))]);
    const { requests } = await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))]);
    assert.equal(requests.filter(({ verb, object }) => verb === 'GET' && object === 'by-hash').length, 1);
    assert.deepEqual(await repository.packages(amd64), ['hello 1.0', 'hello 2']);
  });

  test('a dry run writes nothing and tells what it would do', async () => {
    using repository = new Repository();
    const { results } = await repository.publish([suiteOf('bookworm', repository.debs.add('one'))], { dryRun: true });
    assert.deepEqual(
      results[0]?.outcome.packages.map(({ change, package: name }) => `${change} ${name}`),
      ['added hello'],
    );
    assert.deepEqual(await repository.keys(), []);
  });
});

describe('the same name, version and architecture with other bytes', () => {
  test('is refused before anything is written', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const before = await repository.keys();
    const other = debs.add('other', { Description: 'says something else' });
    const fresh = debs.add('fresh', { Package: 'fresh' });
    await assert.rejects(repository.publish([suiteOf('bookworm', other, fresh)]), (error) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.code, 'package-conflict');
      assert.match(error.message, /other\.deb is hello 1\.0 \(amd64\).*pool\/main\/h\/hello\/hello_1\.0_amd64\.deb/);
      return true;
    });
    assert.deepEqual(await repository.keys(), before);
  });

  test('is left out with `skip`, and everything else is published', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const before = await repository.text(amd64);
    const other = debs.add('other', { Description: 'says something else' });
    const { warnings } = await repository.publish([suiteOf('bookworm', other, debs.add('new', { Version: '2' }))], {
      onConflict: 'skip',
    });
    assert.ok((await repository.text(amd64)).startsWith(before));
    assert.deepEqual(await repository.packages(amd64), ['hello 1.0', 'hello 2']);
    assert.match(warnings.join(), /other\.deb was skipped/);
  });

  test('gets a name of its own with `replace`, and the old file stays', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const old = await repository.text('pool/main/h/hello/hello_1.0_amd64.deb');
    const replace = { onConflict: 'replace' } as const;
    await repository.publish([suiteOf('bookworm', debs.add('two', { Description: 'second' }))], replace);
    await repository.publish([suiteOf('bookworm', debs.add('three', { Description: 'third' }))], replace);
    assert.deepEqual(await repository.packages(amd64), ['hello 1.0']);
    assert.match(await repository.text(amd64), /^Filename: pool\/main\/h\/hello\/hello_1\.0_amd64_[0-9a-f]{8}\.deb$/m);
    assert.equal(await repository.text('pool/main/h/hello/hello_1.0_amd64.deb'), old);
    assert.equal((await repository.keys('pool/')).length, 3);
    // The first bytes come back under their first name, which still holds them.
    await repository.publish([suiteOf('bookworm', debs.add('one'))], replace);
    assert.match(await repository.text(amd64), /^Filename: pool\/main\/h\/hello\/hello_1\.0_amd64\.deb$/m);
    assert.equal((await repository.keys('pool/')).length, 3);
  });

  test('versions that differ in their epoch only live beside each other', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one', { Version: '1:1.0' }))]);
    await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2:1.0' }))]);
    assert.deepEqual(await repository.packages(amd64), ['hello 1:1.0', 'hello 2:1.0']);
    assert.equal((await repository.keys('pool/')).length, 2);
  });
});

describe('fields of the Release', () => {
  test('that are not given keep their published values, and a later Date is strictly newer (invariant 9)', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const release = { origin: 'Example', description: 'All of it', validForSeconds: 86_400 };
    await repository.publish([suiteOf('bookworm', debs.add('one'))], { release });
    const first = await repository.text('dists/bookworm/Release');
    await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))], { release: {} });
    const second = await repository.text('dists/bookworm/Release');
    assert.match(second, /^Origin: Example$/m);
    assert.match(second, /^Description: All of it$/m);
    const moment = (text: string, field: string) =>
      Date.parse(new RegExp(`^${field}: (.*)$`, 'm').exec(text)?.[1] ?? '');
    assert.ok(moment(second, 'Date') > moment(first, 'Date'));
    assert.equal(moment(second, 'Valid-Until') - moment(second, 'Date'), 86_400_000);
  });

  test('that clients pin change only when that is asked for by name', async () => {
    using repository = new Repository();
    const one = [suiteOf('bookworm', repository.debs.add('one'))];
    await repository.publish(one);
    const release = { origin: 'Somebody else', label: 'Example' };
    await assert.rejects(repository.publish(one, { release }), problemCode('release-info-change'));
    const { results } = await repository.publish(one, { release, allowReleaseInfoChange: true });
    assert.equal(results[0]?.outcome.changed, true);
    assert.match(await repository.text('dists/bookworm/InRelease'), /^Origin: Somebody else$/m);
  });
});

describe('Contents', () => {
  const contents = { contents: true };
  const list = 'dists/bookworm/main/Contents-amd64.gz';

  test('follows what comes, what goes and what stays', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const one = debs.add('one', {}, { 'usr/bin/hello': 'x', 'usr/share/old': 'x' });
    const two = debs.add('two', { Version: '2' }, { 'usr/bin/hello': 'x', 'usr/share/new': 'x' });
    await repository.publish([suiteOf('bookworm', one)], contents);
    await repository.publish([suiteOf('bookworm', two)], contents);
    assert.equal(
      await repository.text(list),
      'usr/bin/hello\tutils/hello\nusr/share/new\tutils/hello\nusr/share/old\tutils/hello\n',
    );
    const other = debs.add('other', {}, { 'usr/bin/hello': 'y' });
    await repository.publish([suiteOf('bookworm', other)], { ...contents, onConflict: 'replace' });
    assert.equal(await repository.text(list), 'usr/bin/hello\tutils/hello\nusr/share/new\tutils/hello\n');
  });

  test('stays complete when a later run does not ask for it', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one', {}, { 'usr/bin/hello': 'x' }))], contents);
    await repository.publish([suiteOf('bookworm', debs.add('two', { Package: 'two' }, { 'usr/bin/two': 'x' }))]);
    assert.equal(await repository.text(list), 'usr/bin/hello\tutils/hello\nusr/bin/two\tutils/two\n');
  });

  test('of an architecture that is added later has the files of packages for all', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const all = debs.add('all', { Package: 'docs', Architecture: 'all' }, { 'usr/share/doc/docs': 'x' });
    await repository.publish([suiteOf('bookworm', all, debs.add('one', {}, { 'usr/bin/hello': 'x' }))], contents);
    const { requests } = await repository.publish(
      [suiteOf('bookworm', debs.add('arm', { Architecture: 'arm64' }))],
      contents,
    );
    assert.equal(await repository.text('dists/bookworm/main/Contents-arm64.gz'), 'usr/share/doc/docs\tutils/docs\n');
    assert.equal(requests.filter(({ object, verb }) => object === 'pool' && verb === 'GET').length, 0);
  });
});

describe('a store that does not hold conditions', () => {
  for (const conditions of ['create-only', 'ignored', 'refused'] as const) {
    test(`(${conditions}) is used in a weaker way, and said to be`, async () => {
      using repository = new Repository(conditions);
      const { debs } = repository;
      const { warnings } = await repository.publish([suiteOf('bookworm', debs.add('one'))]);
      assert.match(warnings.join(), /does not hold .*If-Match/);
      await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))]);
      assert.deepEqual(await repository.packages(amd64), ['hello 1.0', 'hello 2']);
    });

    test(`(${conditions}) is refused where conditions are required, before the repository is touched`, async () => {
      using repository = new Repository(conditions);
      const suites = [suiteOf('bookworm', repository.debs.add('one'))];
      await assert.rejects(
        repository.publish(suites, { requireConditionalWrites: true }),
        problemCode('conditions-required'),
      );
      assert.deepEqual(await repository.keys(), conditions === 'refused' ? [] : ['.apt-publish/probe']);
    });
  }
});
