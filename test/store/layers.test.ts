import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import { limited, limiter } from '../../src/store/limited.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { bytesPart } from '../../src/store/part-body.ts';
import { retried } from '../../src/store/retried.ts';
import { objectClass, traced } from '../../src/store/traced.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { TestClock } from './clocks.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const body = new TextEncoder().encode('body');

type Fault = 'before' | 'after' | 'throttled' | 'busy-for-an-hour' | 'forbidden';

/** A memory store whose calls fail as told, one fault a call, until none is left. `calls` counts what arrived. */
function faulty(clock: TestClock, faults: readonly Fault[]) {
  const inner = new MemoryStore({ clock });
  const left = [...faults];
  const calls: string[] = [];
  const store = new Proxy<ObjectStore>(inner, {
    get: (target, name: keyof ObjectStore) => {
      return async (...args: never[]) => {
        calls.push(name);
        const fault = left.shift();
        const call = target[name].bind(target) as (...args: never[]) => Promise<unknown>;
        if (fault === undefined) return call(...args);
        if (fault === 'after') await call(...args);
        throw failure(fault);
      };
    },
  });
  return { inner, store, calls };
}

function failure(fault: Fault): Error {
  if (fault === 'forbidden') return new Problem({ code: 'forbidden', title: 'No', what: 'No.', advice: 'No.' });
  const ambiguous = fault === 'before' || fault === 'after';
  return new TransientStoreError({
    kind: ambiguous ? 'connection' : 'throttled',
    ambiguous,
    message: 'It failed.',
    ...(fault === 'busy-for-an-hour' ? { retryAfter: 3_600_000 } : {}),
  });
}

function retrying(faults: readonly Fault[], random = () => 0.5) {
  const clock = new TestClock();
  const opened = faulty(clock, faults);
  return { ...opened, clock, retried: retried(opened.store, { clock, random }) };
}

describe('a retried store', () => {
  test('repeats a read until it succeeds', async () => {
    const { retried: store, calls } = retrying(['before', 'throttled', 'before', 'before']);
    assert.deepEqual(await store.get('key'), { found: false });
    assert.equal(calls.length, 5);
  });

  test('gives up after five attempts with a problem that says so', async () => {
    const { retried: store, calls } = retrying(Array.from({ length: 9 }, () => 'before'));
    await assert.rejects(store.get('key'), { name: 'Problem', code: 'store-unavailable' });
    assert.equal(calls.length, 5);
  });

  test('does not repeat what would fail again', async () => {
    const { retried: store, calls } = retrying(['forbidden']);
    await assert.rejects(store.get('key'), { code: 'forbidden' });
    assert.equal(calls.length, 1);
  });

  test('repeats a write without a condition, and one of content that never changes', async () => {
    for (const options of [attributes, { ...attributes, condition: { absent: true } } as const]) {
      const { retried: store, inner, calls } = retrying(['before', 'before']);
      assert.equal((await store.put('key', body, options)).written, true);
      assert.equal(calls.length, 3);
      assert.equal((await inner.get('key')).found, true);
    }
  });

  test('a repeated create may find its own first attempt, which is "exists"', async () => {
    const { retried: store } = retrying(['after']);
    assert.deepEqual(await store.put('key', body, { ...attributes, condition: { absent: true } }), { written: false });
  });

  const never = [
    ['a compare-and-swap', { ...attributes, condition: { etag: 'x' } }],
    ['a create that is to be sent once', { ...attributes, condition: { absent: true }, once: true }],
    ['a write that is to be sent once', { ...attributes, once: true }],
  ] as const;
  for (const [title, options] of never) {
    for (const fault of ['before', 'after'] as const) {
      test(`never repeats ${title} after an answer that says nothing (lost ${fault} it took effect)`, async () => {
        const { retried: store, calls } = retrying([fault]);
        await assert.rejects(store.put('key', body, options), { name: 'TransientStoreError', ambiguous: true });
        assert.equal(calls.length, 1);
      });
    }
    test(`repeats ${title} after an answer that says it had no effect`, async () => {
      const { retried: store, calls } = retrying(['throttled', 'throttled']);
      await store.put('key', body, options);
      assert.equal(calls.length, 3);
    });
  }

  test('waits between a tenth of a second and a bound that grows to 20 s, longer when throttled', async () => {
    const waits = async (fault: Fault, random: number) => {
      const { retried: store, clock } = retrying(
        Array.from({ length: 4 }, () => fault),
        () => random,
      );
      await store.get('key');
      return clock.sleeps;
    };
    assert.deepEqual(await waits('before', 0), [100, 100, 100, 100]);
    assert.deepEqual(await waits('before', 1), [200, 600, 1800, 5400]);
    assert.deepEqual(await waits('throttled', 1), [1500, 4500, 13_500, 20_000]);
  });

  test('honours Retry-After, and does not wait for an hour', async () => {
    const clock = new TestClock();
    const { store: inner, calls } = faulty(clock, ['busy-for-an-hour']);
    await assert.rejects(retried(inner, { clock, random: () => 0 }).get('key'), { code: 'store-unavailable' });
    assert.equal(calls.length, 1);
    const answers = [new TransientStoreError({ kind: 'throttled', ambiguous: false, message: '', retryAfter: 7000 })];
    const asking = new Proxy<ObjectStore>(inner, {
      get: (target, name: keyof ObjectStore) => {
        const answer = answers.shift();
        return answer === undefined ? target[name] : () => Promise.reject(answer);
      },
    });
    await retried(asking, { clock, random: () => 0 }).get('key');
    assert.deepEqual(clock.sleeps, [7000]);
  });

  test('looks for the object before it completes an upload again', async () => {
    const sha256 = '230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5';
    for (const fault of ['before', 'after'] as const) {
      const { retried: store, inner, calls } = retrying([fault]);
      const upload = await inner.startUpload('key', { ...attributes, sha256 });
      const part = await inner.putPart(upload, { number: 1, offset: 0 }, bytesPart(body));
      assert.equal((await store.completeUpload(upload, [part])).written, true);
      const again = fault === 'before' ? ['completeUpload'] : [];
      assert.deepEqual(calls, ['completeUpload', 'head', ...again]);
      assert.equal((await inner.get('key')).found, true);
    }
  });
});

describe('a limited store', () => {
  /** A store whose reads wait until they are let through. */
  function gated() {
    const waiting: (() => void)[] = [];
    let most = 0;
    const store = new Proxy<ObjectStore>(new MemoryStore({ clock: new TestClock() }), {
      get: () => async () => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          most = Math.max(most, waiting.length);
        });
        return { found: false };
      },
    });
    const drain = async () => {
      for (let idle = 0; idle < 5; idle += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        for (const resolve of waiting.splice(0)) {
          resolve();
          idle = 0;
        }
      }
    };
    return { store, drain, most: () => most };
  }

  test('has as many requests in flight as its limiter allows, over all stores that share it', async () => {
    const { store, drain, most } = gated();
    const slots = limiter(3);
    const [one, other] = [limited(store, slots), limited(store, slots)];
    const all = Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).get(`${index}`)));
    await drain();
    await all;
    assert.equal(most(), 3);
  });

  test('follows a limit that is raised on the way', async () => {
    const { store, drain, most } = gated();
    const slots = limiter(1);
    const all = Promise.all(Array.from({ length: 8 }, (_, index) => limited(store, slots).get(`${index}`)));
    slots.concurrency = 4;
    await drain();
    await all;
    assert.equal(most(), 4);
  });

  test('gives the slot back when a request fails', async () => {
    const slots = limiter(1);
    const { store } = faulty(new TestClock(), ['forbidden']);
    await assert.rejects(limited(store, slots).get('key'));
    assert.deepEqual(await limited(store, slots).get('key'), { found: false });
  });
});

describe('a traced store', () => {
  test('records each attempt with its verb, class, bytes, times and outcome, and no key', async () => {
    const clock = new TestClock();
    const recorder = new Recorder(clock);
    const { store: inner } = faulty(clock, []);
    await recorder.phase('upload', 'sid', async (scope) => {
      const store = traced(inner, scope);
      await store.get('dists/sid/InRelease');
      await clock.sleep(10);
      await store.put('pool/main/a/a.deb', body, attributes);
      await store.put('pool/main/a/a.deb', body, { ...attributes, condition: { absent: true } });
      await store.get('pool/main/a/a.deb');
      await store.copy('pool/main/a/a.deb', 'dists/sid/Release', attributes);
      await store.delete(['pool/main/a/a.deb', 'b']);
      await store.listPage('pool/');
      await assert.rejects(traced(faulty(clock, ['throttled']).store, scope).head('.apt-publish/sid.json'));
      await assert.rejects(traced(faulty(clock, ['forbidden']).store, scope).get('dists/sid/main/Packages.gz'));
    });
    const spans = recorder.spans.map((span) =>
      span.kind === 'request'
        ? [span.verb, span.object, span.outcome, span.start, span.end, span.bytesUp, span.bytesDown]
        : span,
    );
    assert.deepEqual(spans, [
      ['GET', 'head', 'not-found', 0, 0, 0, 0],
      ['PUT', 'pool', 'ok', 10, 10, 4, 0],
      ['PUT', 'pool', 'precondition-failed', 10, 10, 4, 0],
      ['GET', 'pool', 'ok', 10, 10, 0, 4],
      ['COPY', 'release', 'ok', 10, 10, 0, 0],
      ['DELETE', 'pool', 'ok', 10, 10, 0, 0],
      ['LIST', 'pool', 'ok', 10, 10, 0, 0],
      ['HEAD', 'record', 'throttled', 10, 10, 0, 0],
      ['GET', 'index', 'failed', 10, 10, 0, 0],
    ]);
    assert.doesNotMatch(JSON.stringify(recorder.spans), /a\.deb|InRelease/);
  });

  test('classes keys, of suites with a slash as well', () => {
    const classes = {
      '.apt-publish/sid.json': 'record',
      '.apt-publish/bookworm/updates.json': 'record',
      '.apt-publish/pool.json': 'record',
      '.apt-publish/probe': 'other',
      'dists/bookworm/updates/InRelease': 'head',
      'dists/sid/Release': 'release',
      'dists/sid/Release.gpg': 'release',
      'dists/sid/main/binary-amd64/Packages.xz': 'index',
      'dists/sid/main/binary-amd64/by-hash/SHA256/00ff': 'by-hash',
      'pool/main/a/a/a_1_all.deb': 'pool',
      'somewhere/else': 'other',
    };
    for (const [key, expected] of Object.entries(classes)) assert.equal(objectClass(key), expected, key);
  });
});
