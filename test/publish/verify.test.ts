import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { digest } from '../../src/publish/digest.ts';
import { BrokenRepository, type Finding } from '../../src/publish/finding.ts';
import type { VerifyRequest } from '../../src/publish/request.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { publishRequest, suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const keys = await fixture('ed25519');
const plain = { contentType: 'text/plain', cacheControl: 'no-cache' };
const list = 'dists/sid/main/binary-amd64/Packages.gz';
const hello = 'pool/main/h/hello/hello_1.0_amd64.deb';

function verification(suites: readonly string[], more: Partial<VerifyRequest> = {}): VerifyRequest {
  const limits = { renameConcurrency: 'auto', uploadConcurrency: 'auto' } as const;
  return {
    command: 'verify',
    suites: suites.map((suite) => ({ suite })),
    ...limits,
    deep: false,
    repair: false,
    ...more,
  };
}

/** What verifying finds, whether or not it fails of it. */
async function findings(
  repository: Repository,
  more: Partial<VerifyRequest> = {},
  suites = ['sid'],
  signing: SigningKeys | 'unsigned' = keys,
): Promise<Finding[]> {
  const results = await repository.perform(verification(suites, more), signing).then(
    (performed) => performed.results,
    (error: unknown) => {
      if (error instanceof BrokenRepository) return error.results;
      throw error;
    },
  );
  return results.flatMap((result) => result.verification?.findings ?? []);
}

const told = (found: readonly Finding[]) =>
  found.map(({ kind, key, repaired }) => `${kind} ${key}${repaired === true ? ' repaired' : ''}`).sort();

async function bytes({ store }: Repository, key: string): Promise<Uint8Array> {
  const object = await store.get(key);
  assert.ok(object.found, key);
  return object.body;
}

/** Suite sid with three generations: hello, then more of it, and a source. */
async function published(): Promise<Repository> {
  const repository = new Repository();
  const { debs } = repository;
  await repository.publish([suiteOf('sid', debs.add('hello'))]);
  await repository.publish([suiteOf('sid', debs.add('docs', { Package: 'docs', Architecture: 'all' }))]);
  await repository.publish([
    suiteOf('sid', debs.addSource('hello', '1.0'), debs.add('arm', { Architecture: 'arm64' })),
  ]);
  return repository;
}

async function byHashOf(repository: Repository, path = list): Promise<string> {
  const sum = digest(await bytes(repository, path));
  return `${path.slice(0, path.lastIndexOf('/'))}/by-hash/SHA256/${sum}`;
}

describe('verifying a repository that is whole', () => {
  test('finds nothing, in one generation or many, and reads every index and every pool file', async () => {
    using repository = await published();
    const { results, requests } = await repository.perform(verification(['sid'], { deep: true }));
    const [result] = results;
    assert.deepEqual(result?.verification?.findings, []);
    assert.equal(result.verification.checked.poolFiles, 5);
    assert.ok(result.verification.checked.indexes >= 6);
    assert.equal(result.outcome.changed, false);
    assert.deepEqual(new Set(requests.map(({ verb }) => verb)), new Set(['GET', 'LIST']));
    assert.equal(requests.filter(({ object, verb }) => object === 'pool' && verb === 'GET').length, 5);
  });

  test('finds nothing in an unsigned one', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('sid', repository.debs.add('hello'))], {}, 'unsigned');
    assert.deepEqual(await findings(repository, { deep: true }, ['sid'], 'unsigned'), []);
  });

  test('asks nothing about single pool files, since a listing tells their sizes', async () => {
    using repository = await published();
    const { requests } = await repository.perform(verification(['sid']));
    assert.equal(requests.filter(({ object, verb }) => object === 'pool' && verb !== 'LIST').length, 0);
  });

  test('refuses a suite that is not there', async () => {
    using repository = await published();
    await assert.rejects(findings(repository, {}, ['forky']), problemCode('suite-missing'));
  });
});

/** What is done to a repository, and what is found then. */
const harms: readonly (readonly [
  title: string,
  harm: (repository: Repository) => Promise<unknown>,
  found: (repository: Repository) => Promise<readonly string[]> | readonly string[],
])[] = [
  ['a canonical name that is missing', ({ store }) => store.delete([list]), () => [`canonical ${list}`]],
  [
    'a canonical name with other bytes',
    ({ store }) => store.put(list, Buffer.from('other'), plain),
    () => [`canonical ${list}`],
  ],
  [
    'Release and its signature of another state',
    async ({ store }) => {
      await store.put('dists/sid/Release', Buffer.from('Suite: sid\n'), plain);
      await store.delete(['dists/sid/Release.gpg']);
    },
    () => ['release dists/sid/Release', 'release dists/sid/Release.gpg'],
  ],
  [
    'an index that is missing by its hash',
    async (repository) => repository.store.delete([await byHashOf(repository)]),
    async (repository) => [`by-hash ${await byHashOf(repository)}`],
  ],
  [
    'an index whose bytes are not those of its hash',
    async (repository) => repository.store.put(await byHashOf(repository), Buffer.from('other'), plain),
    async (repository) => [`by-hash ${await byHashOf(repository)}`],
  ],
];

for (const [title, harm, found] of harms) {
  test(`verifying finds ${title}, and mends it when asked to`, async () => {
    using repository = await published();
    const whole = await repository.snapshot();
    const expected = await found(repository);
    await harm(repository);
    assert.deepEqual(told(await findings(repository)), expected);
    assert.deepEqual(told(await findings(repository)), expected, 'without `repair` nothing was written');
    const mended = expected.map((line) => `${line} repaired`);
    assert.deepEqual(
      told(
        (await repository.perform(verification(['sid'], { repair: true }))).results.flatMap(
          ({ verification: of }) => of?.findings ?? [],
        ),
      ),
      mended,
    );
    assert.deepEqual(await repository.snapshot(), whole);
    assert.deepEqual(await findings(repository, { deep: true }), []);
  });
}

describe('verifying finds what it cannot mend, and changes nothing of it:', () => {
  const incurable: readonly (readonly [
    title: string,
    harm: (repository: Repository) => Promise<unknown>,
    found: string,
    deep?: true,
  ])[] = [
    ['a pool file that is missing', ({ store }) => store.delete([hello]), `pool ${hello}`],
    ['a pool file of another size', ({ store }) => store.put(hello, Buffer.from('short'), plain), `pool ${hello}`],
    [
      'a pool file with other bytes, with `deep`',
      async (repository) => {
        const body = Buffer.from(await bytes(repository, hello));
        body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
        await repository.store.put(hello, body, plain);
      },
      `pool ${hello}`,
      true,
    ],
    ['a head that is gone', ({ store }) => store.delete(['dists/sid/InRelease']), 'head dists/sid/InRelease'],
    [
      'a head that is damaged',
      async ({ store }) => store.put('dists/sid/InRelease', Buffer.from('damaged'), plain),
      'head dists/sid/InRelease',
    ],
  ];
  for (const [title, harm, found, deep] of incurable) {
    test(title, async () => {
      using repository = await published();
      await harm(repository);
      const harmed = await repository.snapshot();
      const request = { deep: deep === true, repair: true };
      const all = await findings(repository, request);
      assert.deepEqual(told(all), [found]);
      await assert.rejects(repository.perform(verification(['sid'], request)), problemCode('repository-broken'));
      assert.deepEqual(await repository.snapshot(), harmed);
    });
  }

  test('an index of a kept generation, which stands under no other name', async () => {
    using repository = await published();
    const record = JSON.parse(await repository.text('.apt-publish/sid.json'));
    const [dropped] = record.kept[1].dropped.slice(1);
    const key = `dists/sid/main/binary-amd64/by-hash/SHA256/${dropped.sha256}`;
    await repository.store.delete([key]);
    assert.deepEqual(told(await findings(repository, { repair: true })), [`by-hash ${key}`]);
  });
});

test('an index that is gone under both names comes back from the copy in the record', async () => {
  using repository = await published();
  const whole = await repository.snapshot();
  await repository.store.delete([list, await byHashOf(repository)]);
  const found = told(await findings(repository, { repair: true }));
  assert.ok(
    found.every((line) => line.endsWith(' repaired')),
    found.join('\n'),
  );
  assert.deepEqual(await repository.snapshot(), whole);
});

test('an index whose two names are both damaged, and that the record has no copy of, is not spread', async () => {
  using repository = await published();
  const { store } = repository;
  const record = JSON.parse(await repository.text('.apt-publish/sid.json'));
  await store.put('.apt-publish/sid.json', Buffer.from(JSON.stringify({ ...record, embedded: {} })), plain);
  await store.put(await byHashOf(repository), Buffer.from('damaged'), plain);
  await store.delete([list]);
  await assert.rejects(repository.perform(verification(['sid'], { repair: true })), problemCode('repository-broken'));
  assert.equal((await store.get(list)).found, false);
});

describe('what nothing names', () => {
  test('is told, and fails no run', async () => {
    using repository = await published();
    const staged = `dists/sid/main/binary-amd64/by-hash/SHA256/${'0'.repeat(64)}`;
    await repository.store.put(staged, Buffer.from('left'), plain);
    await repository.store.put('pool/main/l/left/left_1_all.deb', Buffer.from('left'), plain);
    const { results } = await repository.perform(verification(['sid'], { repair: true }));
    assert.deepEqual(told(results.flatMap((result) => result.verification?.findings ?? [])), [
      `orphan ${staged}`,
      'orphan pool/main/l/left/left_1_all.deb',
    ]);
    assert.ok((await repository.keys()).includes(staged), 'nothing is ever deleted');
  });

  test('is not what another suite lists, nor what a record has to remove', async () => {
    using repository = await published();
    const { debs } = repository;
    await repository.publish([suiteOf('forky', debs.add('other', { Package: 'other' }))]);
    await repository.remove('sid', ['hello']);
    await repository.clock.sleep(3 * 24 * 3_600_000);
    for (const name of ['a1', 'b1', 'c1'])
      await repository.publish([suiteOf('sid', debs.add(name, { Package: name }))]);
    assert.ok((await repository.keys()).includes(hello));
    assert.deepEqual(await findings(repository), []);
  });

  test('is not guessed at while another suite cannot be read', async () => {
    using repository = await published();
    await repository.publish([suiteOf('forky', repository.debs.add('other', { Package: 'other' }))]);
    await repository.store.put('.apt-publish/forky.json', Buffer.from('garbage'), plain);
    assert.deepEqual(told(await findings(repository)), ['orphan pool/']);
  });
});

describe('a claim that is not committed', () => {
  async function claimed(): Promise<Repository> {
    const repository = await published();
    const head = await bytes(repository, 'dists/sid/InRelease');
    await repository.publish([suiteOf('sid', repository.debs.add('two', { Package: 'two' }))]);
    await repository.store.put('dists/sid/InRelease', head, plain);
    return repository;
  }

  test('is told, and what stands between both states is no fault', async () => {
    using repository = await claimed();
    assert.deepEqual(told(await findings(repository)), ['unfinished dists/sid/InRelease']);
  });

  test('keeps its names to itself: a repair writes none of them', async () => {
    using repository = await claimed();
    await repository.store.put(list, Buffer.from('neither'), plain);
    const before = await repository.snapshot();
    assert.deepEqual(told(await findings(repository, { repair: true })), [
      `canonical ${list}`,
      'unfinished dists/sid/InRelease',
    ]);
    assert.deepEqual(await repository.snapshot(), before);
  });
});

test('names are looked at again when the claim is past its time, since its holder may still be writing them', async () => {
  using repository = new Repository();
  await repository.publish([suiteOf('sid', repository.debs.add('hello'))]);
  const release = await bytes(repository, 'dists/sid/Release');
  await repository.publish([suiteOf('sid', repository.debs.add('two', { Package: 'two' }))]);
  const newest = await bytes(repository, 'dists/sid/Release');
  await repository.store.put('dists/sid/Release', release, plain);
  const { clock, store } = repository;
  const sleep = clock.sleep.bind(clock);
  let slept = 0;
  clock.sleep = async (ms) => {
    await sleep(ms);
    // The first is the minute between two runs; in the second one the late Release comes.
    slept += 1;
    if (slept === 1) await store.put('.apt-publish/sid.json', await bytes(repository, '.apt-publish/sid.json'), plain);
    if (slept === 2) await store.put('dists/sid/Release', newest, plain);
  };
  assert.deepEqual(await findings(repository), []);
  assert.equal(slept, 2);
});

test('a run that verifies suites of several shapes tells each one apart', async () => {
  using repository = await published();
  await repository.perform(publishRequest([suiteOf('forky', repository.debs.add('other', { Package: 'other' }))]));
  await repository.store.delete(['dists/forky/Release']);
  const found = await findings(repository, {}, ['sid', 'forky']);
  assert.deepEqual(
    found.map(({ suite, key }) => `${suite} ${key}`),
    ['forky dists/forky/Release'],
  );
});
