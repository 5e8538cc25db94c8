import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Debs } from '../publish/publishing.ts';
import { skipWithout } from '../rig/process.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { recordUpdate, reordered, type States } from './states.ts';
import { type Reading, type Straddled, straddleAll } from './straddles.ts';

const keys = await fixture('ed25519');
const byHash = { naming: 'by-hash', detached: false } as const;
const byName = { naming: 'by-name', detached: false } as const;

/** Ways of reading that no moment of a publish disturbs. */
const safe: readonly Reading[] = [
  { title: 'by hash, holding nothing', ...byHash, warm: false },
  { title: 'by hash, holding the state before', ...byHash, warm: true },
  { title: 'by name, holding the state before', ...byName, warm: true },
  {
    title: 'by hash from Release and Release.gpg, holding the state before',
    naming: 'by-hash',
    detached: true,
    warm: true,
  },
  {
    title: 'by name from Release and Release.gpg, holding the state before',
    naming: 'by-name',
    detached: true,
    warm: true,
  },
];

describe('a real apt-get update that lies across our publish', { skip: skipWithout('apt-get') }, () => {
  const debs = new Debs();
  const updates: [title: string, states: States][] = [];
  before(async () => {
    const first = ['one', 'two'].map((name) => debs.add(name, { Package: name }));
    const update = [debs.add('two-next', { Package: 'two', Version: '2.0' }), debs.add('three', { Package: 'three' })];
    for (const concurrency of [1, 16]) {
      const states = await recordUpdate(keys, { first, update }, concurrency);
      updates.push([`${concurrency} in flight`, states]);
    }
  });
  after(() => debs[Symbol.dispose]());

  for (const reading of safe) {
    test(`never fails: ${reading.title}`, async (t) => {
      for (const [title, states] of updates) {
        const straddled = await straddleAll(states, reading, keys);
        t.diagnostic(`${title}: ${counts(straddled)}`);
        const { straddles, tried, failures } = straddled;
        t.diagnostic(`${straddles} straddles tried, ${tried} updates by clients, ${failures.size} failures of clients`);
        assert.deepEqual(failures, new Map());
      }
    });
  }

  test('can fail: by name, holding nothing, as with every order of writes', async (t) => {
    const [[title, states] = ['', undefined]] = updates;
    assert.ok(states !== undefined);
    const straddled = await straddleAll(states, { title: 'by name', ...byName, warm: false }, keys);
    t.diagnostic(`${title}: ${counts(straddled)}`);
    assert.ok(straddled.failures.size > 0);
  });

  test('would fail by hash if the head came before what it names', async (t) => {
    const [[, states] = ['', undefined]] = updates;
    assert.ok(states !== undefined);
    const headFirst = reordered(states, (key) => (key.endsWith('/InRelease') ? 0 : 1));
    const straddled = await straddleAll(headFirst, { title: 'by hash', ...byHash, warm: false }, keys);
    t.diagnostic(counts(straddled));
    assert.ok(straddled.failures.size > 0);
  });

  test('would fail by name if the head came before the names', async (t) => {
    const [[, states] = ['', undefined]] = updates;
    assert.ok(states !== undefined);
    const headFirst = reordered(states, (key) => (/\/Packages\.\w+$/.test(key) ? 1 : 0));
    const straddled = await straddleAll(headFirst, { title: 'by name', ...byName, warm: true }, keys);
    t.diagnostic(counts(straddled));
    assert.ok(straddled.failures.size > 0);
  });
});

function counts({ failures, straddles, tried }: Straddled): string {
  const [words = []] = failures.values();
  const said = words.length === 0 ? '' : `, with ${words[0]}`;
  return `${failures.size} of ${straddles} fail (${tried} of them differ to a client)${said}`;
}
