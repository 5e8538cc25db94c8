import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noChanges } from '../../src/publish/list-changes.ts';
import { openList } from '../../src/publish/package-list.ts';
import { retain } from '../../src/publish/retention.ts';
import { nextSuperseded } from '../../src/publish/superseded.ts';
import { suiteOf } from './publishing.ts';
import { changesOf, Repository } from './repository.ts';

const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const arm64 = 'dists/bookworm/main/binary-arm64/Packages.gz';
const sources = 'dists/bookworm/main/source/Sources.gz';

/** Publishes hello in this version, with these fields besides. */
function hello(repository: Repository, version: string, fields: Readonly<Record<string, string>> = {}): string {
  const { Architecture: architecture = 'amd64' } = fields;
  return repository.debs.add(`hello_${version}_${architecture}`, { Version: version, ...fields });
}

describe('of the packages that come in, the newest versions stay', () => {
  test('by the order of Debian, as many as `keep-versions` says, and the others leave by retention', async () => {
    using repository = new Repository();
    const old = ['1.9', '1.10', '1.10~rc1'].map((version) => hello(repository, version));
    await repository.publish([suiteOf('bookworm', ...old)]);
    const ran = await repository.publish([suiteOf('bookworm', hello(repository, '2'))], { keepVersions: 2 });
    assert.deepEqual(await repository.packages(amd64), ['hello 1.10', 'hello 2']);
    assert.deepEqual(changesOf(ran), [
      'added hello 2 amd64',
      'removed hello 1.9 amd64',
      'removed hello 1.10~rc1 amd64',
    ]);
    const reasons = ran.results.flatMap(({ outcome }) => outcome.packages.map(({ reason }) => reason));
    assert.deepEqual(reasons, [undefined, 'retention', 'retention']);
  });

  test('and no other package is touched', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const other = ['1', '2'].map((version) => debs.add(`other_${version}`, { Package: 'other', Version: version }));
    const arm = ['1', '2'].map((version) => hello(repository, version, { Architecture: 'arm64' }));
    await repository.publish([suiteOf('bookworm', ...other, ...arm, hello(repository, '1'))]);
    await repository.publish([suiteOf('bookworm', hello(repository, '2'))], { keepVersions: 1 });
    assert.deepEqual(await repository.packages(amd64), ['hello 2', 'other 1', 'other 2']);
    assert.deepEqual(await repository.packages(arm64), ['hello 1', 'hello 2']);
  });

  test('and what comes in stays too, however old it is', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', hello(repository, '2'), hello(repository, '3'))]);
    const old = [suiteOf('bookworm', hello(repository, '1'))];
    await repository.publish(old, { keepVersions: 1 });
    assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 3']);
    const again = await repository.publish(old, { keepVersions: 1 });
    assert.equal(again.results[0]?.outcome.changed, false, 'the same run again finds nothing to do');
  });

  test('and so it is with packages for all, in every list and in that of an architecture that comes with them', async () => {
    using repository = new Repository();
    const all = { Architecture: 'all' };
    await repository.publish([suiteOf('bookworm', hello(repository, '1', all))], { architectures: ['amd64'] });
    const ran = await repository.publish([suiteOf('bookworm', hello(repository, '2', all))], {
      architectures: ['amd64', 'arm64'],
      keepVersions: 1,
    });
    assert.deepEqual(await repository.packages(amd64), ['hello 2']);
    assert.deepEqual(await repository.packages(arm64), ['hello 2']);
    assert.deepEqual(changesOf(ran), ['added hello 2 all', 'removed hello 1 all']);
  });

  test('and a package for all leaves every list or none, also where another tool has made the lists differ', () => {
    const stanza = (version: string) =>
      `Package: hello\nVersion: ${version}\nArchitecture: all\nFilename: pool/hello_${version}.deb\nSize: 1\n\n`;
    const open = (architecture: string, ...versions: readonly string[]) => {
      const name = { suite: 'bookworm', component: 'main', kind: 'deb', architecture } as const;
      return openList(name, Buffer.from(versions.map(stanza).join('')));
    };
    const file = { path: 'hello.deb', size: 1, md5: '', sha256: '' };
    const id = { package: 'hello', version: '3', architecture: 'all' };
    const hello = { kind: 'deb', file, source: 'hello', control: [], ...id } as const;
    const incoming = [{ component: 'main', packages: [hello] }];
    const has = { components: ['main'], architectures: ['amd64', 'arm64'], indexes: new Set<string>() };
    for (const [arm64, leaves] of [
      [['1', '2'], true],
      [['1'], false],
    ] as const) {
      const lists = [open('amd64', '1', '2'), open('arm64', ...arm64)];
      for (const { add } of lists)
        add.push({ ...id, bytes: Buffer.from(stanza('3')), fileList: { location: '', sha256: '' } });
      const changes = noChanges();
      const scene = { suite: 'bookworm', indexes: new Map<string, Uint8Array>(), lists, sources: [] };
      retain({ keepVersions: 2, has, incoming }, scene, changes);
      assert.equal(changes.packages.length, leaves ? 1 : 0);
      assert.deepEqual(
        lists.map(({ remove }) => remove.size),
        leaves ? [1, 1] : [0, 0],
      );
    }
  });

  test('while their lines leave Contents', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const contents = { contents: true, keepVersions: 1 };
    await repository.publish([suiteOf('bookworm', debs.add('one', {}, { 'usr/bin/old': 'x' }))], contents);
    await repository.publish(
      [suiteOf('bookworm', debs.add('two', { Version: '2' }, { 'usr/bin/new': 'x' }))],
      contents,
    );
    assert.equal(await repository.text('dists/bookworm/main/Contents-amd64.gz'), 'usr/bin/new\tutils/hello\n');
  });
});

describe('an old version stays', () => {
  for (const [how, depends] of [
    ['by name', { Depends: 'libc6, hello (= 1)' }],
    ['as an alternative', { 'Pre-Depends': 'other | hello (= 1)' }],
    ['for any architecture', { Recommends: 'hello:any (= 1)' }],
    ['by what it provides', { Depends: 'hello-api (= 7)' }],
  ] as const) {
    test(`when a package that stays depends on it ${how}, from another component too`, async () => {
      using repository = new Repository();
      const client = repository.debs.add('client', { Package: 'client', ...depends });
      const lib = hello(repository, '1', { Provides: 'hello-api (= 7)' });
      const uploads = [
        { component: 'contrib', paths: [client] },
        { component: 'main', paths: [lib, hello(repository, '2')] },
      ];
      await repository.publish([{ suite: 'bookworm', uploads }]);
      await repository.publish([suiteOf('bookworm', hello(repository, '3'))], { keepVersions: 1 });
      assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 3']);
    });
  }

  test('when an old version that stays depends on it, and not when one that leaves does', async () => {
    using repository = new Repository();
    const lib = (version: string) =>
      repository.debs.add(`lib_${version}`, { Package: 'lib', Version: version, Depends: `hello (= ${version})` });
    const both = (version: string) => [lib(version), hello(repository, version)];
    const client = repository.debs.add('client', { Package: 'client', Depends: 'lib (= 1)' });
    await repository.publish([suiteOf('bookworm', client, ...both('1'), ...both('2'))]);
    await repository.publish([suiteOf('bookworm', ...both('3'))], { keepVersions: 1 });
    assert.deepEqual(await repository.packages(amd64), ['client 1.0', 'hello 1', 'hello 3', 'lib 1', 'lib 3']);
  });
});

describe('the source of an old version', () => {
  test('leaves with the last binary that was built from it', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const source = (version: string) => debs.addSource('hello', version);
    const arm = hello(repository, '1.0-1', { Architecture: 'arm64' });
    await repository.publish([suiteOf('bookworm', hello(repository, '1.0-1'), arm, source('1.0'))]);
    const second = [hello(repository, '2.0-1'), source('2.0')];
    await repository.publish([suiteOf('bookworm', ...second)], { keepVersions: 1 });
    assert.deepEqual(await repository.packages(amd64), ['hello 2.0-1']);
    assert.deepEqual(await repository.packages(sources), ['hello 1.0-1', 'hello 2.0-1'], 'arm64 still has hello 1.0-1');
    const last = hello(repository, '2.0-1', { Architecture: 'arm64' });
    const ran = await repository.publish([suiteOf('bookworm', last)], { keepVersions: 1 });
    assert.deepEqual(await repository.packages(sources), ['hello 2.0-1']);
    assert.deepEqual(changesOf(ran).at(-1), 'removed hello 1.0-1 source');
  });

  test('stays while another package was built using it', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const using = debs.add('using', { Package: 'using', 'Built-Using': 'hello (= 1.0-1)' });
    await repository.publish([suiteOf('bookworm', using, hello(repository, '1.0-1'), debs.addSource('hello', '1.0'))]);
    const second = [hello(repository, '2.0-1'), debs.addSource('hello', '2.0')];
    await repository.publish([suiteOf('bookworm', ...second)], { keepVersions: 1 });
    assert.deepEqual(await repository.packages(sources), ['hello 1.0-1', 'hello 2.0-1']);
  });
});

describe('with `keep-days` a version leaves so many days after a newer one was found beside it', () => {
  const days = 24 * 3_600_000;
  const keepDays = { keepDays: 30 };

  test('and not before, whatever comes in between', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', hello(repository, '1'))], keepDays);
    await repository.clock.sleep(100 * days);
    await repository.publish([suiteOf('bookworm', hello(repository, '2'))], keepDays);
    await repository.clock.sleep(29 * days);
    const { requests } = await repository.publish([suiteOf('bookworm', hello(repository, '3'))], keepDays);
    assert.equal(requests.filter(({ verb }) => verb === 'LIST').length, 0, 'the record tells, and no listing');
    assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 2', 'hello 3']);
    await repository.clock.sleep(2 * days);
    const ran = await repository.publish([suiteOf('bookworm', hello(repository, '4'))], keepDays);
    assert.deepEqual(changesOf(ran), ['added hello 4 amd64', 'removed hello 1 amd64']);
    await repository.clock.sleep(365 * days);
    // The same packages again: nothing is new but the time.
    await repository.publish([suiteOf('bookworm', hello(repository, '4'))], keepDays);
    assert.deepEqual(await repository.packages(amd64), ['hello 4']);
    const { superseded } = JSON.parse(await repository.text('.apt-publish/bookworm.json'));
    assert.equal(superseded, undefined, 'the record forgets what has left');
  });

  test('and what was published without it begins when it is first seen', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', hello(repository, '1'), hello(repository, '2'))]);
    await repository.clock.sleep(365 * days);
    await repository.publish([suiteOf('bookworm', hello(repository, '3'))], keepDays);
    assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 2', 'hello 3']);
    await repository.clock.sleep(31 * days);
    await repository.publish([suiteOf('bookworm', hello(repository, '4'))], keepDays);
    assert.deepEqual(await repository.packages(amd64), ['hello 3', 'hello 4']);
  });

  test('but the newest stay, as many as `keep-versions` says, and what a staying package wants', async () => {
    using repository = new Repository();
    const client = repository.debs.add('client', { Package: 'client', Depends: 'hello (= 1)' });
    const old = ['1', '2', '3'].map((version) => hello(repository, version));
    const both = { ...keepDays, keepVersions: 2 };
    await repository.publish([suiteOf('bookworm', client, ...old)], both);
    await repository.clock.sleep(31 * days);
    await repository.publish([suiteOf('bookworm', hello(repository, '4'))], both);
    assert.deepEqual(await repository.packages(amd64), ['client 1.0', 'hello 1', 'hello 3', 'hello 4']);
  });

  test('and one that was the newest again in between begins anew', async () => {
    for (const undo of ['remove', 'rollback'] as const) {
      using repository = new Repository();
      await repository.publish([suiteOf('bookworm', hello(repository, '1'))], keepDays);
      await repository.publish([suiteOf('bookworm', hello(repository, '2'))], keepDays);
      if (undo === 'remove') await repository.remove('bookworm', ['hello (= 2)']);
      else await repository.rollback('bookworm', '1');
      assert.deepEqual(await repository.packages(amd64), ['hello 1']);
      await repository.clock.sleep(31 * days);
      await repository.publish([suiteOf('bookworm', hello(repository, '3'))], keepDays);
      assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 3'], undo);
    }
  });

  test('and so it is with sources', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const all = (version: string) => ({ Architecture: 'all', Version: `${version}-1` });
    const of = (version: string) =>
      suiteOf('bookworm', debs.addSource('hello', version), hello(repository, version, all(version)));
    await repository.publish([of('1.0')], { ...keepDays, architectures: ['amd64', 'arm64'] });
    await repository.publish([of('2.0')], keepDays);
    assert.deepEqual(await repository.packages(sources), ['hello 1.0-1', 'hello 2.0-1']);
    await repository.clock.sleep(31 * days);
    await repository.publish([of('3.0')], keepDays);
    for (const list of [sources, amd64, arm64])
      assert.deepEqual(await repository.packages(list), ['hello 2.0-1', 'hello 3.0-1']);
  });

  test('and a record that is full forgets the youngest, which stay longer for it', () => {
    const seen = Array.from({ length: 5000 }, (_, index) => `main amd64 package-${index} 1.0`);
    const old = [{ since: '2026-01-01T00:00:00.000Z', versions: ['main amd64 old 1.0'] }];
    const next = nextSuperseded(old, { superseded: seen, packages: [] }, Date.UTC(2026, 1, 1));
    assert.deepEqual(next?.[0], old[0]);
    assert.ok(JSON.stringify(next).length < 70_000);
  });
});
