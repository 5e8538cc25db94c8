import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const adopt = { adopt: true };
const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const otherKey = await fixture('rsa-subkey');

function problemCode(...codes: string[]): (error: unknown) => boolean {
  return (error) => error instanceof Problem && codes.includes(error.code);
}

/** A suite as another tool leaves it: no record, no by-hash names. */
async function foreignSuite(repository: Repository, signing: Parameters<Repository['publish']>[2]): Promise<void> {
  await repository.publish([suiteOf('bookworm', repository.debs.add('one'))], {}, signing);
  const own = (await repository.keys()).filter((key) => key.startsWith('.apt-publish/') || key.includes('/by-hash/'));
  await repository.store.delete(own);
}

describe('a suite that something else has made', () => {
  for (const [how, signing] of [
    ['signed by another key', otherKey],
    ['not signed', 'unsigned'],
  ] as const) {
    test(`(${how}) is refused without \`adopt\`, and nothing is written (invariant 6)`, async () => {
      using repository = new Repository();
      await foreignSuite(repository, signing);
      const before = await repository.keys();
      const more = suiteOf('bookworm', repository.debs.add('two', { Version: '2' }));
      await assert.rejects(repository.publish([more]), problemCode('suite-foreign'));
      assert.deepEqual(await repository.keys(), before);
    });

    test(`(${how}) is taken over once with \`adopt\`, and what is taken is listed`, async () => {
      using repository = new Repository();
      await foreignSuite(repository, signing);
      const first = await repository.text(amd64);
      const more = [suiteOf('bookworm', repository.debs.add('two', { Version: '2' }))];
      const { warnings } = await repository.publish(more, adopt);
      assert.match(warnings.join(), /bookworm was taken over from .*: 1 in main\/binary-amd64\/Packages/);
      assert.deepEqual(await repository.packages(amd64), ['hello 1.0', 'hello 2']);
      assert.ok((await repository.text(amd64)).startsWith(first), 'stanzas are carried byte for byte');
      // From here on the suite is this tool's own: the same run again finds nothing to do, with `adopt` or without.
      for (const again of [adopt, {}]) {
        const { results, warnings: none } = await repository.publish(more, again);
        assert.equal(results[0]?.outcome.changed, false);
        assert.deepEqual(none, []);
      }
    });
  }

  test('is not signed for when an index is not what its head says (invariant 5)', async () => {
    using repository = new Repository();
    await foreignSuite(repository, otherKey);
    await repository.store.put(amd64, Buffer.from('changed'), {
      contentType: 'application/gzip',
      cacheControl: 'no-cache',
    });
    const more = suiteOf('bookworm', repository.debs.add('two', { Version: '2' }));
    await assert.rejects(repository.publish([more], adopt), problemCode('index-changed'));
  });

  test('is followed when it overwrites the head of a suite that has a record', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', repository.debs.add('one'))]);
    const record = await repository.text('.apt-publish/bookworm.json');
    await repository.store.delete(['.apt-publish/bookworm.json', 'dists/bookworm/InRelease', 'dists/bookworm/Release']);
    await repository.publish([suiteOf('bookworm', repository.debs.add('other', { Package: 'other' }))], {}, otherKey);
    const attributes = { contentType: 'application/json', cacheControl: 'no-store' };
    await repository.store.put('.apt-publish/bookworm.json', Buffer.from(record), attributes);

    const more = [suiteOf('bookworm', repository.debs.add('two', { Version: '2' }))];
    await assert.rejects(repository.publish(more), problemCode('head-overwritten'));
    await repository.publish(more, adopt);
    assert.deepEqual(await repository.packages(amd64), ['hello 2', 'other 1.0']);
  });

  test('and was a suite of this tool under a key that is lost is taken over with `adopt`', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', repository.debs.add('one'))], {}, otherKey);
    const more = [suiteOf('bookworm', repository.debs.add('two', { Version: '2' }))];
    await assert.rejects(repository.publish(more), problemCode('inrelease-other-key'));
    await repository.publish(more, adopt);
    assert.deepEqual(await repository.packages(amd64), ['hello 1.0', 'hello 2']);
  });
});
