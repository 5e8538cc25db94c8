import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { changeSettings, suiteOf } from './publishing.ts';
import { changesOf, Repository } from './repository.ts';

const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const arm64 = 'dists/bookworm/main/binary-arm64/Packages.gz';
const sources = 'dists/bookworm/main/source/Sources.gz';
const republish = { command: 'republish', suites: [{ suite: 'bookworm' }], ...changeSettings } as const;

/** hello 1.0 and 2.0 with their sources, and docs for all. */
async function published(): Promise<Repository> {
  const repository = new Repository();
  const { debs } = repository;
  const files = [
    debs.add('one', { Version: '1.0-1' }),
    debs.add('two', { Version: '2.0-1' }),
    debs.add('arm', { Version: '2.0-1', Architecture: 'arm64' }),
    debs.add('docs', { Package: 'docs', Architecture: 'all' }),
    debs.addSource('hello', '1.0'),
    debs.addSource('hello', '2.0'),
  ];
  await repository.publish([suiteOf('bookworm', ...files)]);
  return repository;
}

describe('a removal', () => {
  test('takes what fits a pattern out of every list, and leaves the pool as it is for its grace', async () => {
    using repository = await published();
    const pool = await repository.keys('pool/');
    const ran = await repository.remove('bookworm', ['hello (<< 2.0)', 'doc?']);
    assert.deepEqual(changesOf(ran), [
      'removed docs 1.0 all',
      'removed hello 1.0-1 amd64',
      'removed hello 1.0-1 source',
    ]);
    assert.deepEqual(await repository.packages(amd64), ['hello 2.0-1']);
    assert.deepEqual(await repository.packages(arm64), ['hello 2.0-1']);
    assert.deepEqual(await repository.packages(sources), ['hello 2.0-1']);
    assert.deepEqual(await repository.keys('pool/'), pool);
  });

  test('can be held to components and architectures', async () => {
    using repository = await published();
    await repository.remove('bookworm', ['*'], { architectures: ['arm64', 'source'] });
    assert.deepEqual(await repository.packages(amd64), ['docs 1.0', 'hello 1.0-1', 'hello 2.0-1']);
    assert.deepEqual(await repository.packages(arm64), ['docs 1.0']);
    assert.deepEqual(await repository.packages(sources), []);
    const { results, warnings } = await repository.remove('bookworm', ['*'], { components: ['contrib'] });
    assert.equal(results[0]?.outcome.changed, false);
    assert.match(warnings.join(), /Nothing in suite bookworm matches/);
  });

  test('of what is not there changes nothing, and of a suite that is not there is refused', async () => {
    using repository = await published();
    const before = await repository.keys();
    await repository.remove('bookworm', ['nothing']);
    assert.deepEqual(await repository.keys(), before);
    await assert.rejects(repository.remove('trixie', ['hello']), problemCode('suite-missing'));
  });

  test('that races a publish loses neither of the two (invariant 4)', async () => {
    using repository = await published();
    const fresh = repository.debs.add('fresh', { Package: 'fresh' });
    await Promise.all([
      repository.remove('bookworm', ['hello (<< 2.0)']),
      repository.publish([suiteOf('bookworm', fresh)]),
    ]);
    assert.deepEqual(await repository.packages(amd64), ['docs 1.0', 'fresh 1.0', 'hello 2.0-1']);
  });
});

describe('a republish', () => {
  test('signs again with a newer Date and changes no index', async () => {
    using repository = await published();
    const before = await repository.text('dists/bookworm/Release');
    const { results } = await repository.perform(republish);
    assert.equal(results[0]?.outcome.generation, 2);
    const after = await repository.text('dists/bookworm/Release');
    assert.notEqual(after, before);
    assert.equal(after.replace(/^Date: .*$/m, ''), before.replace(/^Date: .*$/m, ''));
  });

  test('condemns by-hash objects that nothing names, and none that a kept generation does', async () => {
    using repository = await published();
    await repository.remove('bookworm', ['docs']);
    const named = (await repository.keys()).filter((key) => key.includes('/by-hash/'));
    const orphans = ['main/binary-amd64/', ''].map(
      (folder) => `dists/bookworm/${folder}by-hash/SHA256/${'0'.repeat(64)}`,
    );
    const foreign = `dists/bookworm/updates/by-hash/SHA256/${'0'.repeat(64)}`;
    const attributes = { contentType: 'application/gzip', cacheControl: 'no-cache' };
    for (const key of [...orphans, foreign]) await repository.store.put(key, Buffer.from('x'), attributes);
    await repository.perform(republish);
    const left = (await repository.keys()).filter((key) => key.includes('/by-hash/'));
    assert.deepEqual(
      left.filter((key) => !named.includes(key)).map((key) => key.slice(0, key.indexOf('/by-hash/'))),
      ['dists/bookworm', 'dists/bookworm/updates'],
      'the head that was replaced is there, and what belongs to a suite below',
    );
    assert.deepEqual(
      named.filter((key) => !left.includes(key)),
      [],
    );
    assert.ok(orphans.every((key) => !left.includes(key)));
  });

  test('with the old and the new key lets the old one go afterwards', async () => {
    using repository = await published();
    const [old, fresh] = [await fixture('ed25519'), await fixture('rsa-subkey')];
    await assert.rejects(repository.perform(republish, fresh), problemCode('inrelease-other-key'));
    await repository.perform(republish, [...old, ...fresh]);
    await repository.perform(republish, fresh);
    const more = suiteOf('bookworm', repository.debs.add('more', { Package: 'more' }));
    await repository.publish([more], {}, fresh);
    assert.ok((await repository.packages(amd64)).includes('more 1.0'));
  });
});
