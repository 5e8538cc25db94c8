import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { perform } from '../../src/publish/commands.ts';
import { digest } from '../../src/publish/digest.ts';
import type { ImportRequest } from '../../src/publish/request.ts';
import type { ImportOrigin } from '../../src/publish/run-context.ts';
import { publicKeys } from '../../src/signing/verify.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { S3Store } from '../../src/store/s3.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { changeSettings, suiteOf, testRun } from './publishing.ts';
import { changesOf, Repository } from './repository.ts';
import { RepositoryCheck } from './repository-check.ts';

const keys = await fixture('ed25519');
const otherKeys = await fixture('rsa-subkey');
const trusted = publicKeys(otherKeys);
const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const arm64 = 'dists/bookworm/main/binary-arm64/Packages.gz';
const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-cache' };
/** Release fields that a suite imported is to keep. */
const theirs = { origin: 'Elsewhere', label: 'Elsewhere', codename: 'bookworm' };

/** Imports suite bookworm into a repository; from `origin.store`, or in place. */
async function importInto(
  repository: Repository,
  origin: ImportOrigin,
  more: Partial<ImportRequest> = {},
  store: ObjectStore = repository.store,
) {
  await repository.clock.sleep(60_000);
  const run = { ...testRun(store, repository.clock, { keys }), origin };
  const suites = [{ suite: 'bookworm' }];
  const request = { command: 'import', suites, ...changeSettings, release: {}, onConflict: 'error', ...more } as const;
  const results = await perform(run, request);
  const requests = run.recorder.spans.filter((span) => span.kind === 'request');
  return { results, requests, warnings: run.warnings };
}

/** A repository elsewhere with hello (amd64, arm64, source), docs (all) and tool (contrib), signed by another key. */
async function elsewhere(): Promise<Repository> {
  const repository = new Repository();
  const { debs } = repository;
  const main = [
    debs.add('amd', { Version: '2.0-1' }),
    debs.add('arm', { Version: '2.0-1', Architecture: 'arm64' }),
    debs.add('docs', { Package: 'docs', Architecture: 'all' }),
    debs.addSource('hello', '2.0'),
  ];
  const uploads = [
    { component: 'contrib', paths: [debs.add('tool', { Package: 'tool' })] },
    { component: 'main', paths: main.sort() },
  ];
  await repository.publish([{ suite: 'bookworm', uploads }], { release: theirs }, otherKeys);
  return repository;
}

/** Puts other lists into a suite, as a tool would that keeps no by-hash names and no record; unsigned. */
async function rewrite(repository: Repository, lists: Readonly<Record<string, string>>, fields: string): Promise<void> {
  const own = await repository.keys('dists/');
  await repository.store.delete([...own, '.apt-publish/bookworm.json']);
  const lines = await Promise.all(
    Object.entries(lists).map(async ([path, text]) => {
      const packed = gzipSync(text);
      await repository.store.put(`dists/bookworm/${path}.gz`, packed, attributes);
      const line = (name: string, bytes: Uint8Array) => ` ${digest(bytes)} ${bytes.length} ${name}\n`;
      return line(path, Buffer.from(text)) + line(`${path}.gz`, packed);
    }),
  );
  const release = `Origin: Elsewhere\nLabel: Elsewhere\nSuite: bookworm\nCodename: bookworm\n${fields}SHA256:\n${lines.join('')}`;
  await repository.store.put('dists/bookworm/Release', Buffer.from(release), attributes);
}

describe('an import from another repository', () => {
  test('brings every package, with its stanza and its bytes, under the fields that users pin', async () => {
    using source = await elsewhere();
    using target = new Repository();
    const { results, warnings } = await importInto(target, { store: source.store, trusted });
    assert.deepEqual(changesOf({ results }).sort(), [
      'added docs 1.0 all',
      'added hello 2.0-1 amd64',
      'added hello 2.0-1 arm64',
      'added hello 2.0-1 source',
      'added tool 1.0 amd64',
    ]);
    for (const path of ['main/binary-amd64/Packages', 'main/binary-arm64/Packages', 'main/source/Sources']) {
      const key = `dists/bookworm/${path}.gz`;
      assert.equal(await target.text(key), await source.text(key), path);
    }
    const [there, here] = [await source.snapshot(), await target.snapshot()];
    for (const key of await source.keys('pool/')) assert.deepEqual(here.get(key), there.get(key), key);
    assert.match(await target.text('dists/bookworm/Release'), /^Origin: Elsewhere$/m);
    assert.match(warnings.join(), /imported from an InRelease signed by [0-9A-F]{40}: 5 packages/);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await target.snapshot(), true), []);
  });

  test('costs one request there and one here for each file, and one claim and one commit for all', async () => {
    using source = await elsewhere();
    using target = new Repository();
    const { requests } = await importInto(target, { store: source.store, trusted });
    const files = (await source.keys('pool/')).length;
    const about = (object: string, verb: string) =>
      requests.filter((request) => request.object === object && request.verb === verb).length;
    assert.deepEqual([about('pool', 'GET'), about('pool', 'PUT'), about('pool', 'HEAD')], [files, files, 0]);
    assert.deepEqual([about('record', 'PUT'), about('head', 'PUT'), about('pool', 'LIST')], [1, 1, 1]);
  });

  test('that is done again changes nothing', async () => {
    using source = await elsewhere();
    using target = new Repository();
    await importInto(target, { store: source.store, trusted });
    const before = await target.snapshot();
    const { results } = await importInto(target, { store: source.store, trusted });
    assert.equal(results[0]?.outcome.changed, false);
    assert.deepEqual(await target.snapshot(), before);
  });

  test('that was cut short does not fetch again what the pool holds', async () => {
    using source = await elsewhere();
    using target = new Repository();
    let left = 3;
    const dying: ObjectStore = Object.create(target.store, {
      put: {
        value: (...args: Parameters<typeof target.store.put>) => {
          left -= args[0].startsWith('pool/') ? 1 : 0;
          if (left < 0) throw new Error('killed');
          return target.store.put(...args);
        },
      },
    });
    const methods = ['get', 'head', 'copy', 'listPage', 'delete'] as const;
    for (const name of methods) Object.defineProperty(dying, name, { value: target.store[name].bind(target.store) });
    await assert.rejects(importInto(target, { store: source.store, trusted }, {}, dying), /killed/);
    const held = (await target.keys('pool/')).length;
    assert.equal(held, 3);
    const { requests } = await importInto(target, { store: source.store, trusted });
    const fetched = requests.filter(({ object, verb }) => object === 'pool' && verb === 'GET').length;
    assert.equal(fetched, (await source.keys('pool/')).length - held);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await target.snapshot(), true), []);
  });

  test('goes from one bucket into another of the same store', async () => {
    using source = await elsewhere();
    using target = new Repository();
    await using server = await startS3Server({ buckets: ['old', 'new'] });
    const open = (bucket: string) => {
      const place = { bucket, prefix: 'debian', endpoint: server.endpoint, forcePathStyle: true };
      return new S3Store({ ...place, credentials: rigCredentials, version: 'test' });
    };
    const [old, fresh] = [open('old'), open('new')];
    for (const [key, body] of await source.snapshot()) await old.put(key, body, attributes);
    const { results } = await importInto(target, { store: old, trusted }, {}, fresh);
    assert.equal(results[0]?.outcome.packages.length, 5);
    for (const key of await source.keys('pool/')) {
      const [there, here] = [await old.get(key), await fresh.get(key)];
      assert.ok(there.found && here.found && Buffer.from(there.body).equals(here.body), key);
    }
    old.close();
    fresh.close();
  });

  test('takes the components and architectures that are named, and packages for all with each', async () => {
    using source = await elsewhere();
    using target = new Repository();
    const named = { components: ['main'], architectures: ['arm64'] };
    await importInto(target, { store: source.store, trusted }, named);
    assert.match(await target.text('dists/bookworm/Release'), /^Architectures: arm64\nComponents: main$/m);
    assert.deepEqual(await target.packages(arm64), ['docs 1.0', 'hello 2.0-1']);
    assert.ok(!(await target.keys('pool/')).some((key) => /_amd64|\.dsc$/.test(key)));
    for (const wrong of [{ components: ['non-free'] }, { architectures: ['riscv64'] }]) {
      await assert.rejects(
        importInto(target, { store: source.store, trusted }, wrong),
        problemCode('import-part-missing'),
      );
    }
  });

  test('merges into a suite that exists, and judges other bytes as `on-conflict` says', async () => {
    using source = await elsewhere();
    using target = new Repository();
    const own = [
      target.debs.add('own', { Package: 'own' }),
      target.debs.add('amd', { Version: '2.0-1', Section: 'games' }),
    ];
    await target.publish([suiteOf('bookworm', ...own)]);
    const before = await target.snapshot();
    const origin = { store: source.store, trusted };
    await assert.rejects(importInto(target, origin), problemCode('package-conflict'));
    assert.deepEqual(await target.snapshot(), before);
    const skipped = await importInto(target, origin, { onConflict: 'skip' });
    assert.match(skipped.warnings.join(), /hello 2\.0-1 \(amd64\) was not imported/);
    assert.deepEqual(await target.packages(amd64), ['docs 1.0', 'hello 2.0-1', 'own 1.0']);
    assert.match(await target.text(amd64), /^Section: games$/m);
    assert.match(await target.text('dists/bookworm/Release'), /^Origin: Example$/m);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await target.snapshot(), true), []);
  });

  test('believes nothing that the given key has not signed (invariant 5)', async () => {
    using source = await elsewhere();
    using target = new Repository();
    const wrong = { store: source.store, trusted: publicKeys(keys) };
    await assert.rejects(importInto(target, wrong), problemCode('import-not-verified'));
    const release = await source.text('dists/bookworm/Release');
    await source.store.delete(['dists/bookworm/InRelease', 'dists/bookworm/Release.gpg']);
    await assert.rejects(importInto(target, { store: source.store, trusted }), problemCode('import-not-verified'));
    await source.store.put('dists/bookworm/Release', Buffer.from(`X-Other: yes\n${release}`), attributes);
    await importInto(target, { store: source.store });
    assert.deepEqual(await target.packages(amd64), ['docs 1.0', 'hello 2.0-1']);
  });

  test('believes no index and no package that has not the hash that is listed', async () => {
    for (const [key, code] of [
      ['pool/main/d/docs/docs_1.0_all.deb', 'import-file-changed'],
      ['by-hash', 'index-changed'],
    ] as const) {
      using source = await elsewhere();
      using target = new Repository();
      const name = (await source.keys()).find((each) => each.includes(key)) ?? '';
      const object = await source.store.get(name);
      assert.ok(object.found);
      const body = object.body.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
      for (const each of key === 'by-hash'
        ? (await source.keys('dists/')).filter((one) => one.includes(key))
        : [name]) {
        await source.store.put(each, body, attributes);
      }
      await assert.rejects(importInto(target, { store: source.store, trusted }), problemCode(code));
      // What is staged is under the name of its own hash, and nothing points there.
      const visible = (await target.keys('dists/')).filter((each) => !each.includes('/by-hash/'));
      assert.deepEqual([...visible, ...(await target.keys('.apt-publish/bookworm'))], []);
    }
  });

  test('refuses names that lead out of the pool, and packages without a SHA256', async () => {
    using source = await elsewhere();
    const stanza = await source.text(arm64);
    const spoilt: readonly (readonly [from: RegExp, to: string])[] = [
      [/^Filename: .*$/m, 'Filename: dists/bookworm/InRelease'],
      [/^Filename: .*$/m, 'Filename: pool/../../etc/passwd'],
      [/^Filename: .*$/m, 'Filename: .apt-publish/bookworm.json'],
      [/^SHA256: .*\n/m, ''],
      [/^Version: .*$/m, 'Version: 1.0\u0007'],
    ];
    for (const [from, to] of spoilt) {
      using target = new Repository();
      const lists = { 'main/binary-arm64/Packages': stanza.replace(from, to) };
      await rewrite(source, lists, 'Architectures: arm64\nComponents: main\n');
      await assert.rejects(importInto(target, { store: source.store }), problemCode('import-entry'), to);
      assert.deepEqual(await target.keys(), []);
    }
  });

  test('puts packages that are kept in a list for all into the list of every architecture', async () => {
    using source = await elsewhere();
    const stanzas = (await source.text(amd64)).split('\n\n');
    const [docs = '', hello = ''] = stanzas;
    const lists = {
      'main/binary-all/Packages': `${docs}\n\n`,
      'main/binary-amd64/Packages': `${hello}\n\n`,
      'main/binary-arm64/Packages': '',
    };
    await rewrite(source, lists, 'Architectures: all amd64 arm64\nComponents: main\n');
    using target = new Repository();
    await importInto(target, { store: source.store });
    assert.equal(await target.text(amd64), `${docs}\n\n${hello}\n\n`);
    assert.equal(await target.text(arm64), `${docs}\n\n`);
    // The same in place: nothing but the lists changes.
    const pool = await source.keys('pool/');
    await importInto(source, {});
    assert.equal(await source.text(amd64), `${docs}\n\n${hello}\n\n`);
    assert.equal(await source.text(arm64), `${docs}\n\n`);
    assert.match(await source.text('dists/bookworm/Release'), /^Architectures: amd64 arm64$/m);
    assert.doesNotMatch(await source.text('dists/bookworm/Release'), /binary-all/);
    assert.deepEqual(await source.keys('pool/'), pool);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await source.snapshot(), true), []);
  });

  test('of nothing but packages for all asks which architectures they are for', async () => {
    using source = await elsewhere();
    const [docs = ''] = (await source.text(amd64)).split('\n\n');
    const lists = { 'main/binary-all/Packages': `${docs}\n\n` };
    await rewrite(source, lists, 'Architectures: all\nComponents: main\n');
    using target = new Repository();
    for (const origin of [{ store: source.store }, {}]) {
      const place = origin.store === undefined ? source : target;
      await assert.rejects(importInto(place, origin), problemCode('architectures-unknown'));
      await importInto(place, origin, { architectures: ['amd64', 'riscv64'] });
      assert.deepEqual(await place.packages(amd64), ['docs 1.0']);
      assert.match(await place.text('dists/bookworm/Release'), /^Architectures: amd64 riscv64$/m);
    }
  });
});

describe('an import in place', () => {
  async function foreign(): Promise<Repository> {
    const repository = await elsewhere();
    const own = await repository.keys();
    await repository.store.delete(own.filter((key) => key.startsWith('.apt-publish/') || key.includes('/by-hash/')));
    return repository;
  }

  test('takes a suite over with its names and its bytes, and moves nothing', async () => {
    using repository = await foreign();
    const lists = [await repository.text(amd64), await repository.text('dists/bookworm/main/source/Sources.gz')];
    const pool = await repository.keys('pool/');
    const { requests, results } = await importInto(repository, { trusted });
    assert.equal(results[0]?.outcome.changed, true);
    assert.deepEqual(
      requests.filter(({ object, verb }) => object === 'pool' && verb !== 'LIST'),
      [],
    );
    assert.deepEqual(
      [await repository.text(amd64), await repository.text('dists/bookworm/main/source/Sources.gz')],
      lists,
    );
    assert.deepEqual(await repository.keys('pool/'), pool);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
    const again = await importInto(repository, { trusted });
    assert.equal(again.results[0]?.outcome.changed, false);
  });

  test('leaves out the components and architectures that are not named', async () => {
    using repository = await foreign();
    await importInto(repository, { trusted }, { components: ['main'], architectures: ['amd64', 'source'] });
    const release = await repository.text('dists/bookworm/Release');
    assert.match(release, /^Architectures: amd64\nComponents: main$/m);
    assert.doesNotMatch(release, /contrib|arm64/);
    assert.match(release, /main\/source\/Sources\.gz$/m);
    assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
  });

  test('signs for nothing that is not there', async () => {
    using repository = await foreign();
    await repository.store.delete(['pool/main/d/docs/docs_1.0_all.deb']);
    await assert.rejects(importInto(repository, { trusted }), problemCode('import-file-missing'));
    assert.ok(!(await repository.keys()).includes('.apt-publish/bookworm.json'));
  });

  test('believes nothing that the given key has not signed (invariant 5)', async () => {
    using repository = await foreign();
    await assert.rejects(importInto(repository, { trusted: publicKeys(keys) }), problemCode('import-not-verified'));
  });
});
