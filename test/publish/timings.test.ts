import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { perform } from '../../src/publish/commands.ts';
import type { PublishRequest } from '../../src/publish/request.ts';
import { layer } from '../../src/store/layer.ts';
import { TransientStoreError } from '../../src/store/object-store.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { changeSettings, publishRequest, suiteOf, testRun } from './publishing.ts';
import { Repository } from './repository.ts';

const keys = await fixture('ed25519');
const key = '.apt-publish/timings/bookworm.times';

/** Publishes a new version of one package, with times kept. */
async function publish(
  repository: Repository,
  version: string,
  request: Partial<PublishRequest> = {},
  store = repository.store as Parameters<typeof testRun>[0],
) {
  await repository.clock.sleep(60_000);
  const run = { ...testRun(store, repository.clock, { keys }), keepTimings: true } as const;
  const path = repository.debs.add(`hello-${version}`, { Version: version });
  const [result] = await perform(run, publishRequest([suiteOf('bookworm', path)], request));
  assert.ok(result);
  const timed = run.recorder.spans.filter((span) => span.kind === 'request' && span.object === 'other');
  return { outcome: result.outcome, timed: timed.map((span) => ('verb' in span ? span.verb : '')), run };
}

async function kept(repository: Repository): Promise<{ command: string; at: string; phases: { phase: string }[] }[]> {
  return JSON.parse(await repository.text(key)).runs;
}

describe('the times of a publish', () => {
  test('are kept beside the records, newest first, and seen by the next run of the same command', async () => {
    using repository = new Repository();
    const first = await publish(repository, '1');
    assert.equal(first.outcome.before, undefined);
    const second = await publish(repository, '2');
    const [newest, oldest, ...rest] = await kept(repository);
    assert.deepEqual(rest, []);
    assert.equal(second.outcome.before?.at, oldest?.at);
    assert.ok((newest?.at ?? '') > (oldest?.at ?? ''));
    assert.deepEqual(
      second.outcome.before?.phases.map(({ phase }) => phase),
      ['read', 'scan', 'plan', 'index', 'sign', 'probe', 'upload', 'stage', 'claim', 'rename', 'commit'],
    );
    const run = { ...testRun(repository.store, repository.clock, { keys }), keepTimings: true } as const;
    const request = { command: 'republish', suites: [{ suite: 'bookworm' }], ...changeSettings } as const;
    const [republished] = await perform(run, request);
    assert.equal(republished?.outcome.before, undefined);
  });

  test('cost one request to read and one to write, and none where nothing changes', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    assert.deepEqual((await publish(repository, '2')).timed, ['GET', 'PUT']);
    assert.deepEqual((await publish(repository, '2')).timed, []);
    assert.deepEqual((await publish(repository, '3', { dryRun: true })).timed, ['GET']);
    assert.equal((await kept(repository)).length, 2);
  });

  test('are not kept unless asked for, as under SOURCE_DATE_EPOCH', async () => {
    using repository = new Repository();
    await repository.publish([suiteOf('bookworm', repository.debs.add('one'))]);
    assert.deepEqual(await repository.keys('.apt-publish/timings/'), []);
  });

  test('are those of the last thirty runs', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    const [run] = await kept(repository);
    const runs = Array.from({ length: 30 }, (_, index) => ({ ...run, durationMs: index }));
    const body = Buffer.from(JSON.stringify({ schema: 'apt-publish/timings/1', runs }));
    await repository.store.put(key, body, { contentType: 'application/json', cacheControl: 'no-store' });
    await publish(repository, '2');
    assert.equal((await kept(repository)).length, 30);
  });

  test('that are garbage, or more than there may be, count as none', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    const [run] = await kept(repository);
    const schema = 'apt-publish/timings/1';
    const garbage = [
      '{',
      '[]',
      JSON.stringify({ schema, runs: [{ ...run, command: 'format c:' }] }),
      JSON.stringify({ schema, runs: Array.from({ length: 31 }, () => run) }),
      JSON.stringify({ schema, runs: [run], note: '<script>' }),
    ];
    for (const [index, text] of garbage.entries()) {
      await repository.store.put(key, Buffer.from(text), { contentType: 'text/plain', cacheControl: '' });
      assert.equal((await publish(repository, `2.${index}`)).outcome.before, undefined, text);
      assert.equal((await kept(repository)).length, 1, text);
    }
  });

  test('that cannot be read or written fail no run, and are asked for once', async () => {
    using repository = new Repository();
    await publish(repository, '1');
    const failing = layer(repository.store, (call, attempt) => {
      if (!call.key.startsWith('.apt-publish/timings/')) return attempt();
      throw new TransientStoreError({ kind: 'throttled', ambiguous: false, message: 'not now' });
    });
    const { outcome, timed, run } = await publish(repository, '2', {}, failing);
    assert.equal(outcome.changed, true);
    assert.deepEqual(timed, ['GET', 'PUT']);
    assert.deepEqual(run.warnings, []);
  });
});
