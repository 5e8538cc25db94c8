import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { Generator } from '../debian/generator.ts';
import { publishedAt, suiteOf } from '../publish/publishing.ts';
import { likenesses } from '../rig/s3-quirks.ts';
import type { S3Request } from '../rig/s3-request.ts';
import { TestClock } from '../store/clocks.ts';
import { AgedRepository, agedFile } from './aged-repository.ts';
import { assertConsistent, assertPackages, counts, packagesIn } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { speed, VendorClock } from './vendor-clock.ts';
import { keys, Workbench } from './workbench.ts';

/** Faults of such tools in how many requests they send, when and of what kind. References: owner/name#number of public trackers. */

const isPoolPut = ({ verb, key }: S3Request) => verb === 'PUT' && key.includes('pool/');
const isWrite = ({ verb }: S3Request) => !['GET', 'HEAD', 'LIST'].includes(verb);

function byVerb(requests: readonly S3Request[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verb } of requests) counts[verb] = (counts[verb] ?? 0) + 1;
  return counts;
}

describe('how many requests there are', () => {
  test('(aptly-dev/aptly#1171, #1181, #411) 50 000 foreign keys change no number of requests, and all of them stay', async (t) => {
    await using aged = await AgedRepository.make(2);
    const [quiet, crowded] = [aged.copy(), aged.copy()];
    const bucket = aged.bench.server.objects(crowded);
    for (let index = 0; index < 50_000; index += 1) {
      bucket.write(`${index % 2 === 0 ? 'pool/main/z/' : 'backups/'}${index}`, '');
    }
    await aged.run(quiet).results;
    await aged.run(crowded).results;
    const requests = (name: string) => byVerb(aged.bench.server.requests.filter((request) => request.bucket === name));
    assert.deepEqual(requests(crowded), requests(quiet));
    assert.equal(bucket.keys().filter((key) => /^(pool\/main\/z|backups)\//.test(key)).length, 50_000);
    t.diagnostic('1 point tried');
  });

  for (const prefixes of [['a/b'], ['a/b', 'a/c']]) {
    test(`(aptly-dev/aptly#1435, #1440, #1475, #1480) below ${prefixes.join(' and ')} nothing is uploaded twice`, async (t) => {
      await using bench = await Workbench.open(new TestClock(publishedAt));
      const one = bench.debs.add('one');
      const suites = [suiteOf('bookworm', one, bench.debs.add('two', { Version: '2' }))];
      for (const prefix of prefixes) {
        const { requests } = await bench.publish([suiteOf('bookworm', one)], { store: { prefix } });
        assert.equal(requests.filter(isPoolPut).length, 1);
        const names = requests.map(({ verb, key, query }) => (verb === 'LIST' ? query.get('prefix') : key));
        assert.ok(names.every((name) => name?.startsWith(`${prefix}/`)));
      }
      for (const prefix of prefixes) {
        const { requests } = await bench.publish(suites, { store: { prefix } });
        assert.deepEqual(
          requests.filter(isPoolPut).map(({ key }) => key),
          [`${prefix}/pool/main/h/hello/hello_2_amd64.deb`],
        );
        await assertConsistent(bench.bucket, keys, `${prefix}/`);
      }
      t.diagnostic(`${prefixes.length} points tried`);
    });
  }

  test('(aptly-dev/aptly#1433, #932, #352) the same inputs again write nothing', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const suites = [
      suiteOf('bookworm', bench.debs.add('hello')),
      suiteOf('trixie', bench.debs.add('tool', { Package: 'tool' })),
    ];
    await bench.publish(suites);
    const { requests } = await bench.publish(suites);
    assert.deepEqual(requests.filter(isWrite), []);
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#1476) 363 packages of which one is new are one PUT under pool/', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const paths = Array.from({ length: 363 }, (_, index) => bench.debs.add(`p${index}`, { Package: `p${index}` }));
    await bench.publish([suiteOf('bookworm', ...paths.slice(1))]);
    const { requests } = await bench.publish([suiteOf('bookworm', ...paths)]);
    assert.equal(requests.filter(isPoolPut).length, 1);
    assert.equal(packagesIn(bench.bucket, 'bookworm').length, 363);
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#1626) by-hash makes no look-ups, and two writes for each index that changed', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const { debs } = bench;
    await bench.publish([suiteOf('bookworm', debs.add('one'), debs.add('arm', { Architecture: 'arm64' }))]);
    const { requests } = await bench.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))]);
    // One list changed: by-hash and canonical name; then the package, the head that is kept, the record, Release, Release.gpg, the head.
    assert.deepEqual(byVerb(requests.filter(isWrite)), { PUT: 7, COPY: 1 });
    assert.equal(byVerb(requests)['HEAD'], undefined);
    assert.equal(byVerb(requests)['LIST'], undefined);
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#1615, #1616) packages are uploaded side by side, as many as the limit and never more', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const paths = Array.from({ length: 20 }, (_, index) => bench.debs.add(`p${index}`, { Package: `p${index}` }));
    using _ = bench.server.intercept((request) => (isPoolPut(request) ? { do: 'delay', ms: 20 } : undefined));
    const { requests } = await bench.publish([suiteOf('bookworm', ...paths)], { run: { concurrency: 4 } });
    assert.equal(Math.max(...requests.filter(isPoolPut).map(({ inFlight }) => inFlight)), 4);
    t.diagnostic('1 point tried');
  });
});

describe('how things are removed', () => {
  test('(aptly-dev/aptly#1613, #1614) 1500 objects are two DeleteObjects', async (t) => {
    await using aged = await AgedRepository.make(1);
    const name = aged.copy();
    const bucket = aged.bench.server.objects(name);
    const path = 'main/binary-amd64/Packages.gz';
    const dropped = Array.from({ length: 1500 }, (_, index) => {
      const sha256 = createHash('sha256').update(`${index}`).digest('hex');
      bucket.write(`dists/bookworm/main/binary-amd64/by-hash/SHA256/${sha256}`, `${index}`);
      return { path, sha256 };
    });
    const record = JSON.parse(bucket.text('.apt-publish/bookworm.json'));
    const until = new Date(publishedAt - 24 * 3_600_000).toISOString();
    record.kept.push({ ...record.kept.at(-1), number: 0, headSha256: dropped[0]?.sha256, until, dropped });
    bucket.write('.apt-publish/bookworm.json', JSON.stringify(record));
    await aged.run(name).results;
    assert.ok(!dropped.some(({ sha256 }) => bucket.has(`dists/bookworm/main/binary-amd64/by-hash/SHA256/${sha256}`)));
    const batches = aged.bench.server.requests.filter(({ verb, keys: named }) => verb === 'DELETE' && named.length > 1);
    assert.equal(batches.length, 2);
    assert.ok(batches.every(({ keys: named }) => named.length <= 1000));
    await assertConsistent(bucket, keys);
    t.diagnostic('1 point tried');
  });

  for (const [status, code] of [
    [400, 'InvalidArgument'],
    [501, 'NotImplemented'],
    [405, 'MethodNotAllowed'],
  ] as const) {
    test(`(aptly-dev/aptly#891, #318) a store that answers ${status} to DeleteObjects gets single deletes`, async (t) => {
      await using aged = await AgedRepository.make(1);
      const name = aged.copy();
      using _ = aged.bench.server.intercept(({ verb, key }) =>
        verb === 'DELETE' && key === '' ? { do: 'answer', when: 'before', status, code } : undefined,
      );
      const { results, context } = aged.run(name);
      await results;
      assert.deepEqual(context.warnings, []);
      assert.ok(!aged.bench.server.objects(name).has(agedFile));
      t.diagnostic('1 point tried');
    });
  }

  const denials = [
    ['to the whole request', undefined],
    [
      'to each key',
      '<DeleteResult><Error><Key>dists/x</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>',
    ],
  ] as const;
  for (const [title, html] of denials) {
    test(`(ROCm/TransferBench#265) credentials without DELETE, denied ${title}, publish all the same and say so (invariant 7)`, async (t) => {
      await using aged = await AgedRepository.make(1);
      const name = aged.copy();
      const bucket = aged.bench.server.objects(name);
      using _ = aged.bench.server.intercept(({ verb, key }) => {
        if (verb !== 'DELETE') return undefined;
        if (html !== undefined && key === '') return { do: 'page', status: 200, html };
        return { do: 'answer', when: 'before', status: 403, code: 'AccessDenied' };
      });
      const { results, context } = aged.run(name);
      assert.equal((await results)[0]?.outcome.changed, true);
      assert.match(context.warnings.join(), /Suite bookworm is published; old files were not removed: .*not allowed/);
      assert.ok(bucket.has(agedFile));
      await assertConsistent(bucket, keys);
      t.diagnostic('1 point tried');
    });
  }

  test('(aptly-dev/aptly#218, #356) a store that cannot list publishes all the same, and cleans no pool', async (t) => {
    await using aged = await AgedRepository.make(1);
    const name = aged.copy();
    using _ = aged.bench.server.intercept(({ verb }) =>
      verb === 'LIST' ? { do: 'answer', when: 'before', status: 501, code: 'NotImplemented' } : undefined,
    );
    const { results, context } = aged.run(name);
    assert.equal((await results)[0]?.outcome.changed, true);
    assert.match(context.warnings.join(), /old files were not removed/);
    await assertConsistent(aged.bench.server.objects(name), keys);
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#797, #808) what is gone already is no error for cleaning', async (t) => {
    await using aged = await AgedRepository.make(1);
    const name = aged.copy();
    const bucket = aged.bench.server.objects(name);
    bucket.remove(agedFile);
    const { results, context } = aged.run(name);
    await results;
    assert.deepEqual(context.warnings, []);
    t.diagnostic('1 point tried');
  });
});

describe('publishers at the same time', () => {
  const stores = [
    ['AWS', { raceLosers: 409 }],
    ['Ceph 16', likenesses.ceph16],
    ['R2', { ...likenesses.r2, writeIntervalMs: 1000 / speed }],
  ] as const;
  for (const [name, quirks] of stores) {
    test(`(aptly-dev/aptly#1163, #1376; krobertson/deb-s3#35, #148; ROCm/TheRock#5188) five runs on ${name}: all five packages`, async (t) => {
      await using bench = await Workbench.open(new VendorClock(), { quirks });
      const effects = new Effects(bench.bucket);
      const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `from-${letter}`);
      const runs = names.map((each, seed) => {
        const generator = new Generator(seed);
        const random = () => generator.below(1000) / 1000;
        return bench.publish([suiteOf('bookworm', bench.debs.add(each, { Package: each }))], { random });
      });
      await Promise.all(runs);
      assertPackages(
        bench.bucket,
        'bookworm',
        names.map((each) => `${each} 1.0`),
      );
      await assertConsistent(bench.bucket, keys);
      assert.deepEqual(effects.violations, []);
      t.diagnostic('1 point tried');
    });
  }

  test('(aptly-dev/aptly#332, #652, #401) two suites at the same time wait for nothing', async (t) => {
    const clock = new TestClock(publishedAt);
    await using bench = await Workbench.open(clock);
    const { debs } = bench;
    await bench.publish([suiteOf('bookworm', debs.add('one')), suiteOf('trixie', debs.add('two', { Package: 'two' }))]);
    const three = debs.add('three', { Package: 'three' });
    await Promise.all(['bookworm', 'trixie'].map((suite) => bench.publish([suiteOf(suite, three)])));
    assert.deepEqual(clock.sleeps, []);
    await assertConsistent(bench.bucket, keys);
    t.diagnostic('1 point tried');
  });
});

test('what was judged', (t) => t.diagnostic(`${counts}`));
