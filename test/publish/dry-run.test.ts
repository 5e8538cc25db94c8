import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import { DryRunProblems } from '../../src/publish/carry-out.ts';
import { perform } from '../../src/publish/commands.ts';
import type { PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import type { RunContext } from '../../src/publish/run-context.ts';
import { publicAccessDenied } from '../../src/store/http.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { publishRequest, suiteOf, type TestRun, testRun } from './publishing.ts';
import { changesOf, Repository } from './repository.ts';

const keys = await fixture('ed25519');
const other = await fixture('rsa-subkey');

/** The requests of a store that is only read, and what of it is kept from the public. */
function readersStore(
  repository: Repository,
  hides: (key: string) => 'absent' | 'forbidden' | undefined = () => undefined,
) {
  const asked: string[] = [];
  const refuse = (): never => assert.fail('a dry run writes or lists');
  const store: ObjectStore = {
    get: async (key, range) => {
      asked.push(key);
      const hidden = hides(key);
      if (hidden === 'absent') return { found: false };
      if (hidden === 'forbidden') {
        throw new Problem({ code: publicAccessDenied, title: 'No', what: `No ${key}.`, advice: 'Do not.' });
      }
      return repository.store.get(key, range);
    },
    head: (key) => repository.store.head(key),
    ...{ put: refuse, copy: refuse, listPage: refuse, delete: refuse },
    ...{ startUpload: refuse, putPart: refuse, completeUpload: refuse, abortUpload: refuse },
  };
  return { store, asked };
}

async function dryRun(
  repository: Repository,
  store: ObjectStore,
  suites: readonly SuiteRequest[],
  more: Partial<RunContext> = {},
  request: Partial<PublishRequest> = {},
) {
  const run: TestRun = { ...testRun(store, repository.clock), ...more };
  const results = await perform(run, publishRequest(suites, { ...request, dryRun: true }));
  return { results, warnings: run.warnings };
}

const noRecords = (key: string) => (key.startsWith('.apt-publish/') ? 'absent' : undefined);

describe('a dry run', () => {
  test('tells what a publish would fail of, and what it would do besides', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'), debs.add('two', { Package: 'two' }))]);
    const clashing = [
      debs.add('one-again', { Description: 'other bytes' }),
      debs.add('two-again', { Package: 'two', Description: 'other bytes' }),
    ];
    const { store } = readersStore(repository);
    const suites = [suiteOf('bookworm', ...clashing, debs.add('fresh', { Package: 'fresh' }))];
    await assert.rejects(dryRun(repository, store, suites, { keys }), (error) => {
      assert.ok(error instanceof DryRunProblems);
      assert.deepEqual(
        error.all.map(({ code }) => code),
        ['package-conflict', 'package-conflict'],
      );
      assert.deepEqual(changesOf(error), ['added fresh 1.0 amd64']);
      assert.equal(error.results[0]?.outcome.indexes.length, 1);
      return true;
    });
  });

  test('takes a claimed generation for published: it waits for nobody and finishes nothing (invariant 3)', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const [first, second] = [debs.add('one'), debs.add('two', { Version: '2' })];
    await repository.publish([suiteOf('bookworm', first)]);
    const head = await repository.store.get('dists/bookworm/InRelease');
    await repository.publish([suiteOf('bookworm', second)]);
    assert.ok(head.found);
    // As a run leaves it that ends between claim and commit.
    await repository.store.put('dists/bookworm/InRelease', head.body, { contentType: 'text/plain', cacheControl: '' });
    const { sleeps } = repository.clock;
    const before = sleeps.length;
    const { store } = readersStore(repository);
    const { results } = await dryRun(repository, store, [suiteOf('bookworm', second)], { keys });
    assert.equal(results[0]?.outcome.changed, false);
    assert.equal(sleeps.length, before);
  });

  test('of a republish looks for no leftovers', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', repository.debs.add('one'))]);
    const { store } = readersStore(repository);
    const request = { ...publishRequest([]), command: 'republish', suites: [{ suite: 'bookworm' }], dryRun: true };
    const results = await perform({ ...testRun(store, repository.clock), keys }, { ...request, command: 'republish' });
    assert.equal(results[0]?.outcome.changed, true);
  });
});

describe('a dry run from outside', () => {
  const outside = { outside: true } as const;

  test('sees by the head alone what one with the record sees', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const suites = [suiteOf('bookworm', debs.add('two', { Version: '2' }))];
    const inside = await dryRun(repository, readersStore(repository).store, suites, { keys });
    const withRecord = readersStore(repository);
    const without = readersStore(repository, noRecords);
    const seen = await dryRun(repository, withRecord.store, suites, outside);
    const byHead = await dryRun(repository, without.store, suites, outside);
    assert.deepEqual(seen.results[0]?.outcome, inside.results[0]?.outcome);
    assert.deepEqual(byHead.results[0]?.outcome, { ...inside.results[0]?.outcome, generation: 0 });
    const listed = (keys: readonly string[]) => keys.filter((key) => key.includes('/by-hash/')).length;
    assert.deepEqual([listed(withRecord.asked), listed(without.asked)], [0, 1], 'small indexes travel in the record');
    assert.match(byHead.warnings.join(), /^The signature of suite bookworm was not checked/);
  });

  test('checks the signature where it has a key', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const { store } = readersStore(repository, noRecords);
    const suites = [suiteOf('bookworm', debs.add('two', { Version: '2' }))];
    assert.deepEqual((await dryRun(repository, store, suites, { ...outside, keys })).warnings, []);
    await assert.rejects(dryRun(repository, store, suites, { ...outside, keys: other }), {
      code: 'inrelease-other-key',
    });
    await repository.publish([suiteOf('trixie', debs.add('three'))], {}, 'unsigned');
    const unsigned = [suiteOf('trixie', debs.add('four', { Version: '2' }))];
    await assert.rejects(dryRun(repository, store, unsigned, { ...outside, keys }), { code: 'suite-unsigned' });
    assert.deepEqual((await dryRun(repository, store, unsigned, outside)).warnings, []);
  });

  test('finds conflicts', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const { store } = readersStore(repository, noRecords);
    const suites = [suiteOf('bookworm', debs.add('other', { Description: 'other bytes' }))];
    await assert.rejects(dryRun(repository, store, suites, outside), DryRunProblems);
  });

  test('does not trust a record that is of another head, or is none', async () => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const record = await repository.store.get('.apt-publish/bookworm.json');
    await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))]);
    assert.ok(record.found);
    for (const body of [record.body, Buffer.from('<html>')]) {
      await repository.store.put('.apt-publish/bookworm.json', body, { contentType: 'text/plain', cacheControl: '' });
      const suites = [suiteOf('bookworm', debs.add('three', { Version: '3' }))];
      const { results } = await dryRun(repository, readersStore(repository).store, suites, outside);
      assert.deepEqual([results[0]?.outcome.generation, changesOf({ results })], [0, ['added hello 3 amd64']]);
    }
  });

  test('takes a suite for new only when its head is not found, and says so where it is forbidden (invariant 6)', async () => {
    using repository = new Repository();
    const suites = [suiteOf('bookworm', repository.debs.add('one'))];
    const absent = await dryRun(repository, readersStore(repository).store, suites, outside);
    assert.deepEqual([changesOf(absent), absent.warnings], [['added hello 1.0 amd64'], []]);
    const { store } = readersStore(repository, (key) => (key.startsWith('dists/') ? 'forbidden' : 'absent'));
    const forbidden = await dryRun(repository, store, suites, outside);
    assert.deepEqual(changesOf(forbidden), changesOf(absent));
    assert.match(
      forbidden.warnings.join(),
      /^Whether suite bookworm exists cannot be told .* conflicts would not be seen/,
    );
  });
});
