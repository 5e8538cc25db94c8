import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { publishedAt, suiteOf } from '../publish/publishing.ts';
import type { FaultAction } from '../rig/s3-faults.ts';
import { likenesses, type Quirks } from '../rig/s3-quirks.ts';
import { TestClock } from '../store/clocks.ts';
import { AgedRepository, agedFile, describePlace, PlaceFinder } from './aged-repository.ts';
import { assertConsistent, counts, packagesIn } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { keys, problemOf, Workbench } from './workbench.ts';

const answer = (when: 'before' | 'after', status: number, code: string, retryAfter?: number): FaultAction => ({
  do: 'answer',
  when,
  status,
  code,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

const throttling: readonly FaultAction[] = [answer('before', 503, 'SlowDown')];
const storm: readonly FaultAction[] = [
  ...throttling,
  answer('before', 429, 'TooManyRequests'),
  answer('before', 500, 'InternalError'),
  answer('after', 500, 'InternalError'),
  answer('after', 503, 'ServiceUnavailable'),
  { do: 'drop', when: 'before' },
  { do: 'drop', when: 'after' },
];

/** A tenth of all requests, chosen by the seed and by what they are, so that the same seed fails the same ones again. */
function strike(seed: number, request: string, actions: readonly FaultAction[]): FaultAction | undefined {
  const roll = createHash('sha256').update(`${seed} ${request}`).digest();
  return roll.readUInt32BE(0) / 2 ** 32 < 0.1 ? actions[roll.readUInt32BE(4) % actions.length] : undefined;
}

describe('a tenth of all requests fails (aptly-dev/aptly#297, pgbackrest/pgbackrest#2655)', () => {
  const skies: readonly (readonly [name: string, quirks: Quirks, actions: readonly FaultAction[]])[] = [
    ['with SlowDown, on a store as AWS', {}, throttling],
    ['with SlowDown, on a store without conditions', likenesses.b2, throttling],
    ['in every way, on a store as AWS', {}, storm],
    ['in every way, on a store as Ceph 16', likenesses.ceph16, storm],
  ];
  const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
  for (const [name, quirks, actions] of skies) {
    test(`${name}: every publish completes with exactly one change of the head`, async (t) => {
      await using aged = await AgedRepository.make(seeds.length * 2, quirks);
      const failures: string[] = [];
      for (const seed of seeds) {
        for (const bucketName of [aged.empty(), aged.copy()]) {
          const bucket = aged.bench.server.objects(bucketName);
          const finder = new PlaceFinder();
          const effects = new Effects(bucket);
          using _ = aged.bench.server.intercept((request) =>
            request.bucket === bucketName ? strike(seed, describePlace(finder.place(request)), actions) : undefined,
          );
          try {
            await aged.run(bucketName).results;
            await assertConsistent(bucket, keys);
            assert.deepEqual(effects.violations, []);
            assert.ok(packagesIn(bucket, 'bookworm').includes('hello 5'));
            assert.equal(effects.history('dists/bookworm/InRelease').length, 1);
            assert.ok(!bucket.has(agedFile));
          } catch (error) {
            failures.push(`seed ${seed}, ${bucketName}: ${error instanceof Error ? error.message : error}`);
          }
        }
      }
      t.diagnostic(`${2 * seeds.length} points tried`);
      assert.equal(failures.join('\n'), '');
    });
  }
});

describe('Retry-After', () => {
  test('is waited for, and no longer than it says by much', async (t) => {
    const clock = new TestClock(publishedAt);
    await using bench = await Workbench.open(clock);
    let asked = false;
    using _ = bench.server.intercept(({ key, verb }) => {
      if (asked || verb !== 'PUT' || !key.startsWith('pool/')) return undefined;
      asked = true;
      return answer('before', 503, 'SlowDown', 17);
    });
    await bench.publish([suiteOf('bookworm', bench.debs.add('hello'))]);
    assert.deepEqual(
      clock.sleeps.filter((ms) => ms >= 5000),
      [17_000],
    );
    t.diagnostic('1 point tried');
  });

  test('of more than a minute ends the run with a problem that tells what to do', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const effects = new Effects(bench.bucket);
    using _ = bench.server.intercept(() => answer('before', 429, 'TooManyRequests', 90));
    const problem = await problemOf(bench.run([suiteOf('bookworm', bench.debs.add('hello'))]).results);
    assert.equal(problem.code, 'store-unavailable');
    assert.match(problem.advice, /run the job again/);
    assert.deepEqual(effects.all, []);
    t.diagnostic('1 point tried');
  });
});

test('a listing that does not show the newest suite yet loses no file of that suite (invariant 2)', async (t) => {
  const clock = new TestClock(publishedAt);
  await using bench = await Workbench.open(clock);
  const { bucket, debs } = bench;
  const effects = new Effects(bucket);
  const shared = debs.add('hello');
  await bench.publish([suiteOf('bookworm', shared)]);
  const replace = { onConflict: 'replace' } as const;
  await bench.publish([suiteOf('bookworm', debs.add('other', { Description: 'other bytes' }))], replace);
  for (const version of ['2', '3']) await bench.publish([suiteOf('bookworm', debs.add(version, { Version: version }))]);
  await clock.sleep(8 * 24 * 3_600_000);
  const changesBefore = effects.all.length;
  await bench.publish([suiteOf('trixie', shared)]);
  const changes = effects.all.length - changesBefore;
  using _ = bench.server.intercept(({ verb }) => {
    if (verb !== 'LIST') return undefined;
    // As it was before the suite was published; the changes of this run come on top.
    return { do: 'stale-list', changes: effects.all.length - changesBefore };
  });
  await bench.publish([suiteOf('bookworm', debs.add('4', { Version: '4' }))]);
  assert.ok(changes > 0);
  assert.deepEqual(effects.violations, []);
  await assertConsistent(bucket, keys);
  t.diagnostic('1 point tried');
});

test('a listing that ends in the middle without an error removes nothing', async (t) => {
  await using aged = await AgedRepository.make(1);
  const name = aged.copy();
  using _ = aged.bench.server.intercept(({ verb }) =>
    verb === 'LIST' ? { do: 'page', status: 200, html: '<ListBucketResult></ListBucketResult>' } : undefined,
  );
  const { results, context } = aged.run(name);
  assert.equal((await results)[0]?.outcome.changed, true);
  assert.match(context.warnings.join(), /is published; old files were not removed/);
  const bucket = aged.bench.server.objects(name);
  assert.ok(bucket.has(agedFile));
  await assertConsistent(bucket, keys);
  t.diagnostic('1 point tried');
});

test('what was judged', (t) => t.diagnostic(`${counts}`));
