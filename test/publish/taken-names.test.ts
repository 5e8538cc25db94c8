import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { immutableAttributes } from '../../src/publish/attributes.ts';
import { digest } from '../../src/publish/digest.ts';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const left = Buffer.from('of the run before');

describe('a name that another suite lists with other bytes', () => {
  const keyOfHello = 'pool/main/h/hello/hello_1.0_amd64.deb';
  const twoBuilds = async () => {
    const repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    return { repository, other: debs.add('other', { Description: 'other' }) };
  };

  test('is refused, since the pool is one, and both are named', async () => {
    const { repository, other } = await twoBuilds();
    using _ = repository;
    await assert.rejects(repository.publish([suiteOf('trixie', other)]), {
      code: 'pool-conflict',
      what: `${other} would be stored as ${keyOfHello}, where the pool holds other bytes, which suite bookworm lists.`,
    });
    assert.deepEqual(await repository.keys('dists/trixie/InRelease'), []);
    assert.deepEqual(await repository.keys('.apt-publish/trixie.json'), []);
  });

  test('gets a name of its own with `replace`, and both suites have theirs', async () => {
    const { repository, other } = await twoBuilds();
    using _ = repository;
    await repository.publish([suiteOf('trixie', other)], { onConflict: 'replace' });
    assert.match(await repository.text('dists/trixie/main/binary-amd64/Packages.gz'), /_amd64_[0-9a-f]{8}\.deb$/m);
    assert.match(await repository.text(amd64), /^Filename: .*hello_1\.0_amd64\.deb$/m);
    assert.equal((await repository.keys('pool/')).length, 2);
  });

  test('is left out with `skip`', async () => {
    const { repository, other } = await twoBuilds();
    using _ = repository;
    const more = repository.debs.add('more', { Package: 'more' });
    const { warnings } = await repository.publish([suiteOf('trixie', other, more)], { onConflict: 'skip' });
    assert.deepEqual(await repository.packages('dists/trixie/main/binary-amd64/Packages.gz'), ['more 1.0']);
    assert.match(warnings.join(), /other\.deb was skipped: .* which suite bookworm lists\.$/);
  });
});

test('what an interrupted run has left in the pool does not lock a package out that was built once more', async () => {
  using repository = new Repository();
  const { debs, store } = repository;
  const names = ['hello', 'hello-doc', 'hello-dev'];
  for (const name of names) {
    const key = `pool/main/h/${name}/${name}_1.0_amd64.deb`;
    await store.put(key, left, immutableAttributes(key, digest(left)));
  }
  const built = names.map((name) => debs.add(name, { Package: name }));
  await repository.publish([suiteOf('bookworm', ...built)]);
  const filenames = (await repository.text(amd64)).match(/^Filename: .*$/gm) ?? [];
  assert.equal(filenames.length, 3);
  for (const line of filenames) assert.match(line, /_1\.0_amd64_[0-9a-f]{8}\.deb$/);
  assert.equal((await repository.publish([suiteOf('bookworm', ...built)])).results[0]?.outcome.changed, false);
});

test('what an interrupted run has left of a source package does not lock it out, and apt finds its files in a folder of its own', async () => {
  using repository = new Repository();
  const { debs, store } = repository;
  const dsc = debs.addSource('hello', '1.0');
  const key = 'pool/main/h/hello/hello_1.0-1.dsc';
  await store.put(key, left, immutableAttributes(key, digest(left)));
  await repository.publish([suiteOf('bookworm', dsc)]);
  assert.match(
    await repository.text('dists/bookworm/main/source/Sources.gz'),
    /^Directory: pool\/main\/h\/hello\/[0-9a-f]{8}$/m,
  );
  assert.equal((await repository.keys('pool/main/h/hello/')).filter((each) => /\/[0-9a-f]{8}\//.test(each)).length, 2);
});

test('an object without a hash of its own is read before it is called another', async () => {
  using repository = new Repository();
  const { debs, store } = repository;
  const path = debs.add('one');
  const key = 'pool/main/h/hello/hello_1.0_amd64.deb';
  await store.put(key, readFileSync(path), { contentType: 'a/b', cacheControl: 'no-store' });
  await repository.publish([suiteOf('bookworm', path)]);
  assert.match(await repository.text(amd64), /^Filename: .*hello_1\.0_amd64\.deb$/m);
});
