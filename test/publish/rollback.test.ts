import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseSuiteRecord, renderSuiteRecord, type SuiteRecord } from '../../src/publish/suite-record.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { suiteOf } from './publishing.ts';
import { changesOf, Repository } from './repository.ts';
import { RepositoryCheck } from './repository-check.ts';

const keys = await fixture('ed25519');
const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';
const recordKey = '.apt-publish/bookworm.json';
const attributes = { contentType: 'application/json', cacheControl: 'no-store' };

/** Three generations: hello 1.0; then 2.0 and docs in arm64 too; then 2.0 replaced and tool in contrib. */
async function grown(): Promise<Repository> {
  const repository = new Repository();
  const { debs } = repository;
  await repository.publish([suiteOf('bookworm', debs.add('one'), debs.addSource('hello', '1.0'))]);
  const second = [
    debs.add('two', { Version: '2.0' }),
    debs.add('arm', { Version: '2.0', Architecture: 'arm64' }),
    debs.add('docs', { Package: 'docs', Architecture: 'all' }),
  ];
  await repository.publish([suiteOf('bookworm', ...second)]);
  const uploads = [
    { component: 'contrib', paths: [debs.add('tool', { Package: 'tool' })] },
    { component: 'main', paths: [debs.add('replaced', { Version: '2.0', Description: 'other' })] },
  ];
  await repository.publish([{ suite: 'bookworm', uploads }], { onConflict: 'replace' });
  return repository;
}

async function recordOf(repository: Repository): Promise<SuiteRecord> {
  return parseSuiteRecord(Buffer.from(await repository.text(recordKey)), 'bookworm');
}

function headHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The lines of a Release but for its times: what it says of indexes, components and architectures. */
function content(release: string): string {
  return release.replace(/^(?:Date|Valid-Until): .*\n/gm, '');
}

async function assertSound(repository: Repository): Promise<void> {
  assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
}

describe('a rollback', () => {
  test('brings an earlier state back as a new generation: its lists, its architectures, its components', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const release = await repository.text('dists/bookworm/Release');
    const first = await repository.text(amd64);
    const later = debs.add('two', { Version: '2.0', Architecture: 'arm64' });
    await repository.publish([suiteOf('bookworm', later)], { contents: true });
    await repository.publish([
      { suite: 'bookworm', uploads: [{ component: 'contrib', paths: [debs.add('tool', { Package: 'tool' })] }] },
    ]);
    const ran = await repository.rollback('bookworm', '1');
    assert.equal(ran.results[0]?.outcome.generation, 4);
    assert.equal(await repository.text(amd64), first);
    const now = await repository.text('dists/bookworm/Release');
    assert.equal(content(now), content(release));
    const date = (text: string) => Date.parse(/^Date: (.*)$/m.exec(text)?.[1] ?? '');
    assert.ok(date(now) > date(release), 'clients take only what is newer');
    await assertSound(repository);
  });

  test('tells what comes back, what changes and what leaves, each package once', async () => {
    using repository = await grown();
    const toSecond = await repository.rollback('bookworm', '2');
    assert.deepEqual(changesOf(toSecond).sort(), ['removed tool 1.0 amd64', 'replaced hello 2.0 amd64']);
    const toFirst = await repository.rollback('bookworm', '1');
    assert.deepEqual(changesOf(toFirst).sort(), [
      'removed docs 1.0 all',
      'removed hello 2.0 amd64',
      'removed hello 2.0 arm64',
    ]);
    const forth = await repository.rollback('bookworm', '3');
    assert.deepEqual(changesOf(forth).sort(), [
      'added docs 1.0 all',
      'added hello 2.0 amd64',
      'added hello 2.0 arm64',
      'added tool 1.0 amd64',
    ]);
    assert.deepEqual(await repository.packages(amd64), ['docs 1.0', 'hello 1.0', 'hello 2.0']);
    await assertSound(repository);
  });

  test('stages no index and uploads no file, and the next publish goes on from it', async () => {
    using repository = await grown();
    const ran = await repository.rollback('bookworm', '1');
    const puts = ran.requests.filter(({ verb }) => verb === 'PUT').map(({ object }) => object);
    assert.deepEqual(puts.sort(), ['by-hash', 'head', 'record', 'release', 'release']);
    assert.ok(ran.results[0]?.outcome.indexes.some(({ path }) => path === 'main/binary-amd64/Packages.gz'));
    await repository.publish([suiteOf('bookworm', repository.debs.add('three', { Version: '3.0' }))]);
    assert.deepEqual(await repository.packages(amd64), ['hello 1.0', 'hello 3.0']);
    await assertSound(repository);
  });

  test('finds the generation that was live at a moment, or whose InRelease has a hash', async () => {
    using repository = await grown();
    const { kept } = await recordOf(repository);
    const second = kept[0]?.headSha256 ?? '';
    const replaced = Date.parse(kept[0]?.until ?? '');
    await repository.rollback('bookworm', second.slice(0, 8).toUpperCase());
    assert.deepEqual(await repository.packages(amd64), ['docs 1.0', 'hello 1.0', 'hello 2.0']);
    // Generation 2 was live until the moment in which generation 3 took its place.
    const before = await repository.rollback('bookworm', new Date(replaced - 1000).toISOString());
    assert.equal(before.results[0]?.outcome.changed, false);
    await repository.rollback('bookworm', new Date(replaced).toISOString());
    assert.match(await repository.text(amd64), /^Description: other$/m);
  });

  test('to what is published already changes nothing', async () => {
    using repository = await grown();
    const before = await repository.keys();
    const ran = await repository.rollback('bookworm', '3');
    assert.equal(ran.results[0]?.outcome.changed, false);
    assert.match(ran.warnings.join(), /at generation 3 already/);
    assert.deepEqual(await repository.keys(), before);
  });

  test('is refused to a generation that is kept no longer, and says which are', async () => {
    using repository = await grown();
    for (const to of ['7', 'ffffffffff', '2025-12-31T00:00:00Z']) {
      await assert.rejects(repository.rollback('bookworm', to), problemCode('generation-unknown'), to);
    }
    await assert.rejects(repository.rollback('bookworm', '7'), /only 3, 2, 1\./);
    // After a day and two further generations the first is gone, and its head with it.
    const [, first] = (await recordOf(repository)).kept;
    const head = `dists/bookworm/by-hash/SHA256/${first?.headSha256}`;
    assert.deepEqual(await repository.keys(head), [head]);
    await repository.clock.sleep(25 * 3600_000);
    await repository.publish([suiteOf('bookworm', repository.debs.add('four', { Version: '4.0' }))]);
    await assert.rejects(repository.rollback('bookworm', '1'), problemCode('generation-unknown'));
    assert.deepEqual(await repository.keys(head), []);
  });

  test('of an unsigned suite works by the hashes that its record tells', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))], {}, 'unsigned');
    await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))], {}, 'unsigned');
    await repository.rollback('bookworm', '1', 'unsigned');
    assert.deepEqual(await repository.packages(amd64), ['hello 1.0']);
  });

  test('that races a publish loses nothing that was published after it (invariant 4)', async () => {
    using repository = await grown();
    const late = suiteOf('bookworm', repository.debs.add('late', { Package: 'late' }));
    await Promise.all([repository.rollback('bookworm', '1'), repository.publish([late])]);
    const [newest, previous] = [await recordOf(repository)].flatMap(({ generation, kept }) => [
      generation.made,
      kept[0]?.made,
    ]);
    const packages = await repository.packages(amd64);
    // Whoever claims second plans on what the first has made: a publish adds to it, a rollback takes it back.
    assert.deepEqual([newest?.command, previous?.command].sort(), ['publish', 'rollback']);
    assert.deepEqual(packages, newest?.command === 'publish' ? ['hello 1.0', 'late 1.0'] : ['hello 1.0']);
    await assertSound(repository);
  });
});

describe('a rollback signs nothing that was not verified (invariant 5):', () => {
  /** The record with another word on kept generations, as somebody could write it who can write into the store but has no key. */
  async function forge(
    repository: Repository,
    change: (kept: SuiteRecord['kept']) => SuiteRecord['kept'],
  ): Promise<void> {
    const record = await recordOf(repository);
    await repository.store.put(recordKey, renderSuiteRecord({ ...record, kept: change(record.kept) }), attributes);
  }

  /** Puts a head where a rollback looks for it, and has the record name it as generation 1. */
  async function plant(repository: Repository, head: string): Promise<void> {
    const headSha256 = headHash(head);
    await repository.store.put(`dists/bookworm/by-hash/SHA256/${headSha256}`, Buffer.from(head), attributes);
    await forge(repository, (kept) => kept.map((each) => (each.number === 1 ? { ...each, headSha256 } : each)));
  }

  async function assertRefused(repository: Repository, ...codes: string[]): Promise<void> {
    const before = await repository.text('dists/bookworm/InRelease');
    await assert.rejects(repository.rollback('bookworm', '1'), problemCode(...codes));
    assert.equal(await repository.text('dists/bookworm/InRelease'), before);
    assert.equal((await recordOf(repository)).generation.number, 3);
  }

  test('a head of an attacker’s own, whatever the record says of it', async () => {
    using repository = await grown();
    using elsewhere = new Repository();
    await elsewhere.publish([suiteOf('bookworm', elsewhere.debs.add('evil'))], {}, await fixture('rsa-subkey'));
    await plant(repository, await elsewhere.text('dists/bookworm/InRelease'));
    await assertRefused(repository, 'inrelease-other-key');
    await plant(repository, (await elsewhere.text('dists/bookworm/Release')).toString());
    await assertRefused(repository, 'inrelease-unsigned');
  });

  test('a head of another suite, which the same key has signed', async () => {
    using repository = await grown();
    using elsewhere = new Repository();
    await elsewhere.publish([suiteOf('trixie', elsewhere.debs.add('other', { Package: 'other' }))]);
    await plant(repository, await elsewhere.text('dists/trixie/InRelease'));
    await assertRefused(repository, 'generation-strange');
  });

  test('a head that is newer than what is published', async () => {
    using repository = await grown();
    using elsewhere = new Repository();
    await elsewhere.clock.sleep(24 * 3600_000);
    await elsewhere.publish([suiteOf('bookworm', elsewhere.debs.add('other', { Package: 'other' }))]);
    await plant(repository, await elsewhere.text('dists/bookworm/InRelease'));
    await assertRefused(repository, 'generation-strange');
  });

  test('an index that is gone, or has other bytes', async () => {
    using repository = await grown();
    const [, first] = (await recordOf(repository)).kept;
    const index = first?.dropped.find(({ path }) => path === 'main/binary-amd64/Packages.gz');
    const key = `dists/bookworm/main/binary-amd64/by-hash/SHA256/${index?.sha256}`;
    await repository.store.put(key, Buffer.from('evil'), attributes);
    await assertRefused(repository, 'index-changed');
    await repository.store.delete([key]);
    await assertRefused(repository, 'generation-incomplete');
  });

  test('a list whose packages are gone from the pool', async () => {
    using repository = await grown();
    await repository.rollback('bookworm', '1');
    await repository.store.delete(['pool/contrib/t/tool/tool_1.0_amd64.deb']);
    await assert.rejects(repository.rollback('bookworm', '3'), problemCode('pool-file-gone'));
  });
});
