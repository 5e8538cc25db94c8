import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { contributors } from '../../src/publish/contributors.ts';
import { publish } from '../../src/publish/publish.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import type { IndexFile } from '../../src/timing/record.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { TestClock } from '../store/clocks.ts';
import { Debs, publishRequest, suiteOf, testRun } from './publishing.ts';

suite('what an index has grown through', () => {
  test('is the three packages that brought most, all versions of one together', () => {
    const arriving = [
      { package: 'a', amount: 5 },
      { package: 'b', amount: 4 },
      { package: 'a', amount: 1 },
      { package: 'd', amount: 4 },
      { package: 'c', amount: 3 },
      { package: 'nothing', amount: 0 },
    ];
    assert.deepEqual(contributors(arriving, 'paths'), [
      { package: 'a', amount: 6, unit: 'paths' },
      { package: 'b', amount: 4, unit: 'paths' },
      { package: 'd', amount: 4, unit: 'paths' },
    ]);
    assert.deepEqual(contributors([], 'bytes'), []);
  });

  test('is told of every list and of Contents, by a run that publishes', async () => {
    using debs = new Debs();
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const keys = await fixture('ed25519');
    const publishIt = async (...paths: string[]): Promise<Map<string, IndexFile>> => {
      await clock.sleep(60_000);
      const request = publishRequest([suiteOf('bookworm', ...paths)], { contents: true });
      const [result] = await publish(testRun(store, clock, { keys }), request);
      return new Map(result?.outcome.indexes.map((index) => [index.path, index]));
    };
    await publishIt(debs.add('one', {}, { 'usr/bin/one': '' }));
    const icons = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`usr/share/icons/${index}`, '']));
    const indexes = await publishIt(debs.add('icons', { Package: 'icons' }, icons));
    const contents = indexes.get('main/Contents-amd64.gz');
    assert.deepEqual(contents?.contributors, [{ package: 'icons', amount: 40, unit: 'paths' }]);
    assert.ok((contents?.size ?? 0) > (contents?.previousSize ?? 0));
    const [brought] = indexes.get('main/binary-amd64/Packages.gz')?.contributors ?? [];
    assert.equal(brought?.package, 'icons');
    assert.ok((brought?.amount ?? 0) > 100);
  });
});
