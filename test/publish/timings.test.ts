import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { perform } from '../../src/publish/commands.ts';
import type { PublishRequest } from '../../src/publish/request.ts';
import { timedRuns, trendOf } from '../../src/publish/timings.ts';
import { layer } from '../../src/store/layer.ts';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { changeSettings, publishRequest, suiteOf, testRun } from './publishing.ts';
import { Repository } from './repository.ts';

const keys = await fixture('ed25519');
const key = '.apt-publish/timings/bookworm.publish.1';

function timedRun(repository: Repository, store: ObjectStore = repository.store) {
  return { ...testRun(store, repository.clock, { keys }), keepTimings: true } as const;
}

/** Publishes a version of one package, with times kept; `timed` are the requests about those. */
async function publish(
  repository: Repository,
  version: string,
  request: Partial<PublishRequest> = {},
  store?: ObjectStore,
) {
  await repository.clock.sleep(60_000);
  const run = timedRun(repository, store);
  const path = repository.debs.add(`hello-${version}`, { Version: version });
  const [result] = await perform(run, publishRequest([suiteOf('bookworm', path)], request));
  assert.ok(result);
  const requests = run.recorder.spans.filter((span) => span.kind === 'request');
  const timed = requests.filter(({ object }) => object === 'other').map(({ verb }) => verb);
  return { outcome: result.outcome, timed, warnings: run.warnings };
}

describe('the times of a publish', () => {
  test('are kept beside the records, and seen by the dry runs after it', async () => {
    using repository = new Repository();
    assert.equal((await publish(repository, '1', { dryRun: true })).outcome.before, undefined);
    await publish(repository, '1');
    const at = new Date(repository.clock.now()).toISOString();
    const { before } = (await publish(repository, '2', { dryRun: true })).outcome;
    assert.equal(before?.at, at);
    assert.deepEqual(
      before?.phases.map(({ phase }) => phase),
      ['read', 'scan', 'plan', 'index', 'sign', 'probe', 'upload', 'stage', 'claim', 'rename'],
    );
  });

  test('are not those of another command', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    const at = new Date(repository.clock.now()).toISOString();
    await repository.clock.sleep(60_000);
    const request = { command: 'republish', suites: [{ suite: 'bookworm' }], ...changeSettings } as const;
    await perform(timedRun(repository), request);
    assert.equal((await publish(repository, '2', { dryRun: true })).outcome.before?.at, at);
    assert.equal((await repository.keys('.apt-publish/timings/')).length, 2);
  });

  test('cost one write, none where nothing changes, and a dry run one wave of reads', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    assert.deepEqual((await publish(repository, '2')).timed, ['PUT']);
    assert.deepEqual((await publish(repository, '2')).timed, []);
    const { timed } = await publish(repository, '3', { dryRun: true });
    assert.deepEqual(timed, Array(timedRuns).fill('GET'));
  });

  test('are those of the last runs: a new one takes the place of the oldest, whatever else was published between them', async () => {
    using repository = new Repository();
    for (let run = 1; run <= 2 * timedRuns + 1; run += 1) {
      await publish(repository, String(run));
      if (run % 2 === 1) continue;
      await repository.clock.sleep(60_000);
      const request = { command: 'republish', suites: [{ suite: 'bookworm' }], ...changeSettings } as const;
      await perform(timedRun(repository), request);
    }
    const trend = await trendOf(repository.store, 'bookworm');
    const generations = (command: string) =>
      trend.filter((each) => each.command === command).map(({ generation }) => generation);
    // Two publishes and a republish in turn: 1 2 (3) 4 5 (6) …, 34 generations in all.
    assert.deepEqual(
      generations('publish'),
      [34, 32, 31, 29, 28, 26, 25, 22, 19, 16, 13].toSorted((a, b) => b - a),
    );
    assert.equal((await repository.keys('.apt-publish/timings/')).length, 2 * timedRuns);
    assert.deepEqual(
      trend.map(({ at }) => at),
      trend
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
  });

  test('are told by the history beside the generations, and are none of another suite', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    await publish(repository, '2');
    const limits = { renameConcurrency: 'auto', uploadConcurrency: 'auto' } as const;
    const request = { command: 'history', suites: [{ suite: 'bookworm' }], ...limits } as const;
    const [result] = await perform(timedRun(repository), request);
    const told = result?.history?.map(({ number, durationMs }) => [number, typeof durationMs]);
    assert.deepEqual(told, [
      [2, 'number'],
      [1, 'number'],
    ]);
    await repository.store.put(
      '.apt-publish/timings/bookworm.publish.publish.1',
      Buffer.from(await repository.text(key)),
      { contentType: 'text/plain', cacheControl: '' },
    );
    assert.equal((await trendOf(repository.store, 'bookworm')).length, 2);
  });

  test('are not kept unless asked for, as under SOURCE_DATE_EPOCH', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', repository.debs.add('one'))]);
    assert.deepEqual(await repository.keys('.apt-publish/timings/'), []);
  });

  test('that are garbage count as none', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    const kept = JSON.parse(await repository.text(key));
    const phases = Array.from({ length: 100 }, () => ({ phase: 'read', ms: 1 }));
    const garbage = [{ ...kept, durationMs: -1 }, { ...kept, phases }, { ...kept, note: '<script>' }, []];
    for (const text of ['{', ...garbage.map((each) => JSON.stringify(each))]) {
      await repository.store.put(key, Buffer.from(text), { contentType: 'text/plain', cacheControl: '' });
      assert.equal((await publish(repository, '2', { dryRun: true })).outcome.before, undefined, text);
    }
  });

  test('that cannot be read or written fail no run, and are asked for once', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    const failing = layer(repository.store, (call, attempt) => {
      if (!call.key.startsWith('.apt-publish/timings/')) return attempt();
      throw new TransientStoreError({ kind: 'throttled', ambiguous: false, message: 'not now' });
    });
    for (const [dryRun, verbs] of [
      [true, Array(timedRuns).fill('GET')],
      [false, ['PUT']],
    ] as const) {
      const { outcome, timed, warnings } = await publish(repository, '2', { dryRun }, failing);
      assert.deepEqual([outcome.changed, timed, warnings], [true, verbs, []]);
    }
  });
});
