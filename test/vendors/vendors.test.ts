import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildDeb } from '../debs.ts';
import { suiteOf } from '../publish/publishing.ts';
import { allConditions, type Quirks } from '../rig/s3-quirks.ts';
import { assertConsistent, assertPackages, counts, packagesIn, recordOf } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { VendorClock } from './vendor-clock.ts';
import { type Vendor, vendors } from './vendors.ts';
import { keys, problemOf, Workbench } from './workbench.ts';

const hour = 3_600_000;
const oldPoolFile = 'pool/main/h/hello/hello_1.0_amd64.deb';

/** A repository on a vendor's store, from its first publish on: each step is one run and what must hold after it. */
class Life implements AsyncDisposable {
  readonly #vendor: Vendor;
  readonly #clock = new VendorClock();
  readonly bench: Workbench;
  readonly effects: Effects;
  runs = 0;

  private constructor(vendor: Vendor, clock: VendorClock, bench: Workbench) {
    this.#vendor = vendor;
    this.#clock = clock;
    this.bench = bench;
    this.effects = new Effects(bench.bucket);
  }

  static async begin(vendor: Vendor): Promise<Life> {
    const clock = new VendorClock();
    return new Life(vendor, clock, await Workbench.open(clock, { quirks: vendor.quirks }));
  }

  async publish(...[suites, options]: Parameters<Workbench['publish']>) {
    this.#clock.pass(60_000);
    const run = await this.bench.publish(suites, options);
    this.runs += 1;
    const changed = run.results.some(({ outcome }) => outcome.changed);
    const { conditions, warning } = this.#vendor;
    for (const result of run.results) assert.equal(result.conditions, conditions.kind);
    if (warning === undefined || !changed) assert.deepEqual(run.warnings, []);
    else for (const sentence of run.warnings) assert.match(sentence, warning);
    assert.equal(
      run.warnings.length > 0,
      warning !== undefined && changed,
      'a weak store is spoken of in each run that writes',
    );
    await assertConsistent(this.bench.bucket, keys);
    assert.deepEqual(this.effects.violations, []);
    return run;
  }

  pass(ms: number): void {
    this.#clock.pass(ms);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }
}

describe('a repository lives on', () => {
  for (const vendor of vendors) {
    test(vendor.name, async (t) => {
      await using life = await Life.begin(vendor);
      const { bucket, debs } = life.bench;
      const hello = debs.add('hello');
      const tool = debs.add('tool', { Package: 'tool', Architecture: 'arm64' });
      const first = await life.publish([suiteOf('bookworm', hello, tool)]);
      assert.equal(first.results[0]?.outcome.generation, 1);
      assert.deepEqual(recordOf(bucket, 'bookworm').conditions, vendor.conditions);
      const firstLists = bucket.keys().filter((key) => key.includes('/binary-') && key.includes('/by-hash/'));
      assert.equal(firstLists.length, 2);

      const second = [
        debs.add('hello-2', { Version: '2' }),
        debs.add('tool-2', { Package: 'tool', Architecture: 'arm64', Version: '2' }),
      ];
      await life.publish([suiteOf('bookworm', ...second)]);
      assertPackages(bucket, 'bookworm', ['hello 1.0', 'hello 2']);

      const effectsBefore = life.effects.all.length;
      const unchanged = await life.publish([suiteOf('bookworm', ...second)]);
      assert.equal(unchanged.results[0]?.outcome.changed, false);
      assert.equal(life.effects.all.length, effectsBefore, 'a run without a change writes nothing');

      const other = debs.add('other', { Description: 'other bytes' });
      await life.publish([suiteOf('bookworm', other)], { onConflict: 'replace' });
      assertPackages(bucket, 'bookworm', ['hello 1.0', 'hello 2']);
      assert.ok(bucket.has(oldPoolFile), 'clients with the list of a minute ago still find the old file');

      const shared = debs.add('shared', { Package: 'shared' });
      const { requests } = await life.publish([suiteOf('bookworm', shared), suiteOf('trixie', shared)]);
      const sharedPuts = requests.filter(
        ({ verb, key, status }) => verb === 'PUT' && key.startsWith('pool/') && status === 200,
      );
      assert.equal(sharedPuts.length, 1, 'a file of two suites is uploaded once');

      if (vendor.large === true) {
        const large = addLarge(debs.folder);
        await life.publish([suiteOf('bookworm', large)]);
        await life.publish([suiteOf('trixie', large)]);
        assert.equal(life.effects.keys('written', 'pool/main/l/large/').length, 1, 'the large file is sent once');
      }

      life.pass(25 * hour);
      const beforeExpiry = life.effects.all.length;
      await life.publish([suiteOf('bookworm', debs.add('hello-3', { Version: '3' }))]);
      assert.deepEqual(
        firstLists.filter((key) => bucket.has(key)),
        [],
        'the lists of the first generation are gone',
      );
      const removed = life.effects.all.slice(beforeExpiry).filter(({ change }) => change === 'removed');
      assert.ok(removed.length >= 2 && removed.every(({ key }) => key.includes('/by-hash/')));

      life.pass(8 * 24 * hour);
      await life.publish([suiteOf('bookworm', debs.add('hello-4', { Version: '4' }))]);
      assert.ok(!bucket.has(oldPoolFile), 'the replaced pool file is gone after its grace');
      assert.deepEqual(
        packagesIn(bucket, 'trixie').filter((name) => name.startsWith('shared')),
        ['shared 1.0'],
      );
      assert.deepEqual(life.effects.keys('removed', 'pool/'), [oldPoolFile]);
      t.diagnostic(`${life.runs} points tried`);
    });
  }
});

/** 20 MiB that compress to nothing in no time: what matters is that it is more than one request takes. */
function addLarge(folder: string): string {
  const path = join(folder, 'large.deb');
  const files = { 'usr/share/large': Buffer.alloc(20 * 1024 ** 2, 'large') };
  writeFileSync(path, buildDeb({ fields: { Package: 'large' }, files, dataPacking: 'none' }));
  return path;
}

describe('a run stops before the first write', () => {
  const stops: readonly [title: string, quirks: Quirks, code: string, advice: RegExp][] = [
    [
      'where a missing key is forbidden (krobertson/deb-s3#66, jschneier/django-storages#1104)',
      { forbiddenForMissing: true },
      'store-access-denied',
      /Allow these credentials .*s3:ListBucket on the bucket/,
    ],
    [
      'in the wrong region (301)',
      { region: { name: 'eu-west-3', others: 301 } },
      'store-wrong-region',
      /^Set `region: eu-west-3`\.$/,
    ],
    [
      'in the wrong region (400)',
      { region: { name: 'eu-west-3', others: 400 } },
      'store-wrong-region',
      /^Set `region: eu-west-3`\.$/,
    ],
  ];
  for (const [title, quirks, code, advice] of stops) {
    test(title, async (t) => {
      await using bench = await Workbench.open(new VendorClock(), { quirks });
      const effects = new Effects(bench.bucket);
      const problem = await problemOf(bench.run([suiteOf('bookworm', bench.debs.add('hello'))]).results);
      assert.equal(problem.code, code);
      assert.match(problem.advice, advice);
      assert.deepEqual(effects.all, []);
      t.diagnostic('1 point tried');
    });
  }

  const weak: readonly [title: string, quirks: Quirks, left: readonly string[]][] = [
    ['ignored', { conditions: allConditions('ignored') }, ['.apt-publish/probe']],
    ['refused', { conditions: allConditions('refused') }, []],
    ['ignored on If-Match', { conditions: { 'put-if-match': 'ignored' } }, ['.apt-publish/probe']],
    ['refused on If-Match', { conditions: { 'put-if-match': 'refused' } }, ['.apt-publish/probe']],
  ];
  for (const [title, quirks, left] of weak) {
    test(`where conditions are required and ${title}: at most the probe is left`, async (t) => {
      await using bench = await Workbench.open(new VendorClock(), { quirks });
      const suites = [suiteOf('bookworm', bench.debs.add('hello'))];
      const problem = await problemOf(bench.run(suites, { requireConditionalWrites: true }).results);
      assert.equal(problem.code, 'conditions-required');
      assert.match(problem.advice, /let only one job publish at a time/);
      assert.deepEqual(bench.bucket.keys(), left);
      t.diagnostic('1 point tried');
    });
  }
});

test('a package between 8 and 16 MiB behind a proxy of 8 MiB stops with the limit to raise, and nothing is listed', async (t) => {
  await using bench = await Workbench.open(new VendorClock(), { quirks: { maxBody: 8 * 1024 ** 2 } });
  const path = join(bench.debs.folder, 'middle.deb');
  writeFileSync(path, buildDeb({ files: { middle: Buffer.alloc(9 * 1024 ** 2) }, dataPacking: 'none' }));
  const problem = await problemOf(bench.run([suiteOf('bookworm', path)]).results);
  assert.equal(problem.code, 'store-object-too-large');
  assert.match(problem.advice, /at least 16 MiB/);
  assert.ok(!bench.bucket.has('dists/bookworm/InRelease'));
  t.diagnostic('1 point tried');
});

test('what was judged', (t) => t.diagnostic(`${counts}`));
