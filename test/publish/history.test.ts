import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseGenerationName } from '../../src/publish/generation-name.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { publishRequest, suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const keys = await fixture('ed25519');

function historyOf(...suites: readonly string[]) {
  const limits = { renameConcurrency: 'auto', uploadConcurrency: 'auto' } as const;
  return { command: 'history', suites: suites.map((suite) => ({ suite })), ...limits } as const;
}

describe('the history', () => {
  test('tells every generation that is kept, newest first: when, by whom, what changed', async () => {
    using repository = new Repository();
    const { debs } = repository;
    const many = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1'].map((name) => debs.add(name, { Package: name }));
    await repository.perform(publishRequest([suiteOf('bookworm', ...many)]), keys, 'octo-org/tool, run 1, by octocat');
    await repository.remove('bookworm', ['a1']);
    await repository.rollback('bookworm', '1');
    const { results, requests } = await repository.perform(historyOf('bookworm'));
    const entries = results[0]?.history ?? [];
    assert.deepEqual(
      entries.map(({ number, state, made }) => [
        number,
        state,
        made?.command,
        made?.added,
        made?.removed,
        made?.packages,
      ]),
      [
        [3, 'live', 'rollback', 1, 0, ['a1']],
        [2, 'kept', 'remove', 0, 1, ['a1']],
        [1, 'kept', 'publish', 6, 0, ['a1', 'b1', 'c1', 'd1', 'e1']],
      ],
    );
    assert.equal(entries[2]?.made?.by, 'octo-org/tool, run 1, by octocat');
    assert.equal(entries[2]?.made?.at, '2026-01-01T00:01:00.000Z');
    assert.equal(entries[2]?.replaced, '2026-01-01T00:02:00.000Z');
    assert.deepEqual(new Set(requests.map(({ verb }) => verb)), new Set(['GET']));
  });

  test('shows a claim that is not committed without finishing it', async () => {
    using repository = new Repository();
    const { debs, store } = repository;
    await repository.publish([suiteOf('bookworm', debs.add('one'))]);
    const head = await repository.text('dists/bookworm/InRelease');
    await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))]);
    const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' };
    await store.put('dists/bookworm/InRelease', Buffer.from(head), attributes);
    const { results } = await repository.perform(historyOf('bookworm'));
    assert.deepEqual(
      results[0]?.history?.map(({ number, state }) => `${number} ${state}`),
      ['2 claimed', '1 live'],
    );
    assert.equal(await repository.text('dists/bookworm/InRelease'), head);
  });

  test('of a suite that is not there is refused', async () => {
    using repository = new Repository();
    await assert.rejects(repository.perform(historyOf('bookworm')), problemCode('suite-missing'));
  });
});

describe('the name of a generation', () => {
  const names: readonly (readonly [text: string, name: ReturnType<typeof parseGenerationName>])[] = [
    ['12', { kind: 'number', number: 12 }],
    ['12345678', { kind: 'hash', prefix: '12345678' }],
    ['ABCDEF0123', { kind: 'hash', prefix: 'abcdef0123' }],
    ['2026-01-31T12:00:00Z', { kind: 'moment', at: Date.UTC(2026, 0, 31, 12) }],
    ['2026-01-31T12:00+02:00', { kind: 'moment', at: Date.UTC(2026, 0, 31, 10) }],
  ];
  for (const [text, name] of names) test(`is read: ${text}`, () => assert.deepEqual(parseGenerationName(text), name));
  for (const text of [
    '',
    '-1',
    'abc',
    'abcdef0',
    '2026-01-31',
    '2026-01-31T12:00',
    '2026-13-31T12:00Z',
    'x'.repeat(64),
  ]) {
    test(`is refused: ${JSON.stringify(text)}`, () => assert.equal(parseGenerationName(text), undefined));
  }
});
