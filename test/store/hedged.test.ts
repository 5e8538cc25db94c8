import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Hedging, hedged } from '../../src/store/hedged.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { traced } from '../../src/store/traced.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { TestClock } from './clocks.ts';
import { VirtualTime } from './virtual-time.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const body = new TextEncoder().encode('body');
const constant = { ...attributes, overlaps: true } as const;
const ordinary = 40;
const late = 2000;

/** How long each copy of a request takes, and what becomes of it, in the order in which they are sent. */
type Fate = number | { readonly ms: number; readonly fails: TransientStoreError['kind'] };

/**
 * A store a little away. A copy that was given up takes effect all the same when its time has come, as it does on a server that does not notice
 * that nobody waits any more. `fates` are used up one by one; then every request is ordinary.
 */
function opened(fates: readonly Fate[] = []) {
  const time = new VirtualTime();
  const inner = new MemoryStore({ clock: new TestClock() });
  const left = [...fates];
  const sent: { readonly method: string; readonly at: number; signal?: AbortSignal }[] = [];
  const plain = new Proxy<ObjectStore>(inner, {
    get: (target, method: keyof ObjectStore) => {
      return (...args: never[]) => {
        const given: readonly unknown[] = args;
        const signal = given.find((each) => each instanceof AbortSignal);
        sent.push({ method, at: time.monotonic(), ...(signal === undefined ? {} : { signal }) });
        const fate = left.shift() ?? ordinary;
        const { ms, fails } = typeof fate === 'number' ? { ms: fate, fails: undefined } : fate;
        const answer = time.sleep(ms).then(() => {
          if (fails !== undefined) throw new TransientStoreError({ kind: fails, ambiguous: false, message: '' });
          return (target[method].bind(target) as (...all: never[]) => Promise<unknown>)(...args);
        });
        const givenUp = new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('given up')));
        });
        return Promise.race([answer, givenUp]);
      };
    },
  });
  const hedging = new Hedging(time);
  return { time, inner, plain, sent, hedging, left, store: hedged(plain, hedging) };
}

/** Teaches the run what is ordinary: reads of a small object, one after the other. */
async function warmUp({ time, store }: ReturnType<typeof opened>, requests: number): Promise<void> {
  for (let count = 0; count < requests; count += 1) await time.run(store.head('dists/sid/InRelease'));
}

/** What a call answers, and how many virtual milliseconds it took. */
async function timed<T>(time: VirtualTime, call: () => Promise<T>): Promise<{ answer: T; ms: number }> {
  const from = time.monotonic();
  let end = from;
  const answer = await time.run(call().finally(() => (end = time.monotonic())));
  return { answer, ms: end - from };
}

describe('a hedged store', () => {
  const calls: [string, (store: ObjectStore) => Promise<unknown>][] = [
    ['a look', (store) => store.head('pool/a.deb')],
    ['a read of a record', (store) => store.get('.apt-publish/sid.json')],
    ['a read of a small range', (store) => store.get('pool/a.deb', { offset: 0, length: 1000 })],
    ['a write of constant content', (store) => store.put('pool/a.deb', body, constant)],
  ];
  for (const [title, call] of calls) {
    test(`sends ${title} again that is late, and gives the first copy up`, async () => {
      const opening = opened([...Array.from({ length: 8 }, () => ordinary), late]);
      await warmUp(opening, 8);
      const { time, store, sent, hedging } = opening;
      const { ms } = await timed(time, () => call(store));
      assert.ok(ms < 500, `${ms} ms`);
      assert.equal(sent.length, 10);
      assert.deepEqual(
        sent.slice(-2).map(({ signal }) => signal?.aborted),
        [true, false],
      );
      assert.deepEqual([hedging.counts?.sent, hedging.counts?.won], [1, 1]);
    });
  }

  const never: [string, (store: ObjectStore) => Promise<unknown>][] = [
    ['a copy', (store) => store.copy('pool/a.deb', 'dists/sid/main/binary-amd64/Packages', attributes)],
    ['a write of a name whose content changes', (store) => store.put('dists/sid/Release', body, attributes)],
    [
      'a write that is to be sent once',
      (store) => store.put('dists/sid/InRelease', body, { ...attributes, once: true }),
    ],
    [
      'a compare-and-swap',
      (store) => store.put('dists/sid/InRelease', body, { ...attributes, condition: { etag: 'x' } }),
    ],
    ['a removal', (store) => store.delete(['pool/a.deb'])],
    ['a large write', (store) => store.put('pool/a.deb', new Uint8Array(1024 ** 2 + 1), constant)],
    ['a read that may be large', (store) => store.get('pool/a.deb')],
  ];
  for (const [title, call] of never) {
    test(`never sends ${title} twice`, async () => {
      const opening = opened([...Array.from({ length: 60 }, () => ordinary), 60_000]);
      await warmUp(opening, 60);
      const { time, store, sent, hedging } = opening;
      const { ms } = await timed(time, () => call(store));
      assert.equal(ms, 60_000);
      assert.equal(sent.length, 61);
      assert.equal(hedging.counts, undefined);
    });
  }

  test('answers with the first copy where that comes first after all', async () => {
    const opening = opened([...Array.from({ length: 8 }, () => ordinary), 430, late]);
    await warmUp(opening, 8);
    const { ms } = await timed(opening.time, () => opening.store.put('pool/a.deb', body, constant));
    assert.equal(ms, 430);
    assert.deepEqual(opening.hedging.counts, { sent: 1, won: 0, wastedBytes: body.length });
  });

  test('sends a third copy where the second is late too, and no fourth', async () => {
    const opening = opened([...Array.from({ length: 8 }, () => ordinary), late, late, ordinary]);
    await warmUp(opening, 8);
    const { ms } = await timed(opening.time, () => opening.store.head('pool/a.deb'));
    assert.ok(ms < 1000, `${ms} ms`);
    const unlucky = opened([...Array.from({ length: 8 }, () => ordinary), late, late, late]);
    await warmUp(unlucky, 8);
    assert.equal((await timed(unlucky.time, () => unlucky.store.head('pool/a.deb'))).ms, late);
    assert.equal(unlucky.sent.length, 11);
  });

  test('waits for the other copy when one fails, and fails when both do', async () => {
    const failed = { ms: 10, fails: 'server' } as const;
    const one = opened([...Array.from({ length: 8 }, () => ordinary), 900, failed, failed]);
    await warmUp(one, 8);
    assert.equal((await timed(one.time, () => one.store.head('pool/a.deb'))).ms, 900);
    const both = opened([
      ...Array.from({ length: 8 }, () => ordinary),
      { ms: 900, fails: 'connection' },
      failed,
      failed,
    ]);
    await warmUp(both, 8);
    await assert.rejects(both.time.run(both.store.head('pool/a.deb')), { name: 'TransientStoreError' });
  });

  test('the copy that was given up may land afterwards: a create then finds the other, and changes nothing', async () => {
    const opening = opened([...Array.from({ length: 8 }, () => ordinary), late]);
    await warmUp(opening, 8);
    const { time, store, inner } = opening;
    const written = await timed(time, () =>
      store.put('pool/a.deb', body, { ...constant, condition: { absent: true } }),
    );
    assert.equal(written.answer.written, true);
    const before = await inner.get('pool/a.deb');
    await time.run(time.sleep(2 * late));
    assert.deepEqual(await inner.get('pool/a.deb'), before);
  });

  test('the wave at the beginning is measured by its own first answers', async () => {
    const { time, store, hedging } = opened([ordinary, ordinary, late]);
    const wave = () => Promise.all(['record', 'pool', 'other'].map((name) => store.get(`.apt-publish/${name}.json`)));
    const { ms } = await timed(time, wave);
    assert.ok(ms < 500, `${ms} ms`);
    assert.equal(hedging.counts?.won, 1);
  });

  test('a store that is slow in everything is asked nothing twice', async () => {
    const { time, store, sent } = opened(Array.from({ length: 100 }, () => 1500));
    for (let count = 0; count < 20; count += 1) await time.run(store.head('pool/a.deb'));
    assert.equal(sent.length, 20);
  });

  test('of hundreds of requests, fewer than one in twenty is sent again besides the four that a run begins with', async () => {
    // One in ten is late: more than the budget bears, and not enough for an outage.
    const requests = 400;
    const fates = Array.from({ length: 2 * requests }, (_, index) => (index % 12 === 11 ? late : ordinary));
    const { time, store, sent } = opened(fates);
    const all = async () => {
      for (let count = 0; count < requests; count += 16) {
        await Promise.all(Array.from({ length: 16 }, (_, one) => store.head(`pool/${count + one}.deb`)));
      }
    };
    await time.run(all());
    const extra = sent.length - requests;
    assert.ok(extra > 0.02 * requests && extra <= 0.05 * requests + 4, `${extra} of ${requests}`);
  });

  test('bodies of some size that a full link delays unevenly are not sent again, and one that is far out is', async () => {
    const { time, store, sent, left } = opened();
    const put = (count: number) => store.put(`pool/${count}.deb`, new Uint8Array(384 * 1024), constant);
    const requests = 200;
    left.push(...Array.from({ length: requests }, (_, index) => 300 + 23 * ((7 * index) % 40)));
    for (let count = 0; count < requests; count += 1) await time.run(put(count));
    assert.equal(sent.length, requests);
    left.push(6000);
    const { ms } = await timed(time, () => put(requests));
    assert.ok(ms > 2000 && ms < 4000, `${ms} ms`);
    assert.equal(sent.length, requests + 2);
  });

  test('nothing is sent again in an outage: when more than a fifth of the requests are late', async () => {
    const { time, store, sent, left } = opened();
    for (let count = 0; count < 200; count += 1) await time.run(store.head('pool/a.deb'));
    left.push(...Array.from({ length: 400 }, () => late));
    for (let count = 0; count < 20; count += 1) await time.run(store.head('pool/a.deb'));
    assert.ok(sent.length - 220 <= 12, `${sent.length - 220} second copies`);
    const before = sent.length;
    for (let count = 0; count < 20; count += 1) await time.run(store.head('pool/a.deb'));
    assert.equal(sent.length, before + 20);
  });

  test('nothing is sent again for ten seconds after the store has asked for less', async () => {
    const { time, store, sent, left } = opened();
    for (let count = 0; count < 60; count += 1) await time.run(store.head('pool/a.deb'));
    left.push({ ms: 10, fails: 'throttled' }, late);
    await assert.rejects(time.run(store.copy('pool/a.deb', 'dists/sid/main/Contents', attributes)));
    assert.equal((await timed(time, () => store.head('pool/a.deb'))).ms, late);
    assert.equal(sent.length, 62);
    await time.run(time.sleep(10_000));
    left.push(late);
    assert.ok((await timed(time, () => store.head('pool/a.deb'))).ms < 500);
  });

  test('no more than two second copies are in flight together', async () => {
    const { time, store, sent, left } = opened();
    for (let count = 0; count < 200; count += 1) await time.run(store.head('pool/a.deb'));
    left.push(...Array.from({ length: 100 }, () => 300));
    await time.run(Promise.all(Array.from({ length: 5 }, () => store.head('pool/a.deb'))));
    assert.equal(sent.length - 205, 2);
  });

  test('each copy is a span of the record, one that was given up as cancelled', async () => {
    const opening = opened([...Array.from({ length: 8 }, () => ordinary), late]);
    await warmUp(opening, 8);
    const { time, hedging, plain } = opening;
    const recorder = new Recorder(time);
    await time.run(recorder.phase('read', undefined, (scope) => hedged(traced(plain, scope), hedging).head('key')));
    const outcomes = recorder.spans.map((span) => (span.kind === 'request' ? span.outcome : ''));
    assert.deepEqual(outcomes.toSorted(), ['cancelled', 'not-found']);
  });
});
