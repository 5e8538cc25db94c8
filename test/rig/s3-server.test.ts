import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deleteMany, list, put, summary } from './probe-requests.ts';
import type { FaultAction } from './s3-faults.ts';
import { RawClient } from './s3-raw-client.ts';
import { rigCredentials, type S3Server, startS3Server } from './s3-server.ts';

async function withServer(ask: (raw: RawClient, server: S3Server) => Promise<void>): Promise<void> {
  await using server = await startS3Server();
  using raw = new RawClient(server.endpoint, 'apt', rigCredentials);
  await ask(raw, server);
}

/** Does this to the next request only. */
function once(server: S3Server, action: FaultAction): void {
  let left = 1;
  server.intercept(() => (left-- > 0 ? action : undefined));
}

test('the record of a request is complete before its answer is read', () =>
  withServer(async (raw, server) => {
    await raw.send(put('a+b'));
    await raw.send({ key: 'none' });
    await raw.send(deleteMany(['a+b', 'x'], true));
    const seen = server.requests.map(({ verb, key, keys, status, code, inFlight }) => ({
      ...{ verb, key, keys, status, code, inFlight },
    }));
    assert.deepEqual(seen, [
      { verb: 'PUT', key: 'a+b', keys: [], status: 200, code: undefined, inFlight: 1 },
      { verb: 'GET', key: 'none', keys: [], status: 404, code: 'NoSuchKey', inFlight: 1 },
      { verb: 'DELETE', key: '', keys: ['a+b', 'x'], status: 200, code: undefined, inFlight: 1 },
    ]);
    assert.ok(server.requests.every(({ start, end = 0 }) => end >= start));
    assert.equal(server.requests[0]?.bytesUp, 4);
  }));

test('the peak counts the requests that are served together', () =>
  withServer(async (raw, server) => {
    for (let round = 0; round < 50; round += 1) await raw.send(put('a'));
    assert.equal(server.peakInFlight, 1);
    server.intercept(() => ({ do: 'delay', ms: 50 }));
    await Promise.all([raw.send(put('a')), raw.send(put('b'))]);
    assert.equal(server.peakInFlight, 2);
  }));

test('objects can be looked at and tampered with', () =>
  withServer(async (raw, server) => {
    await raw.send(put('k'));
    const objects = server.objects('apt');
    assert.equal(objects.text('k'), 'body');
    objects.write('k', 'tampered');
    assert.equal((await raw.send({ key: 'k' })).body.toString(), 'tampered');
    objects.remove('k');
    assert.deepEqual(objects.keys(), []);
    assert.throws(() => objects.text('k'), /no object k/);
  }));

test('a session token has to be sent and signed, and a denied verb is denied', async () => {
  const holder = { ...rigCredentials, sessionToken: 'token', deny: ['DELETE'] } as const;
  await using server = await startS3Server({ credentials: [holder] });
  using raw = new RawClient(server.endpoint, 'apt', holder);
  const token = { 'x-amz-security-token': 'token' };
  assert.equal(await summary(raw, put('k')), '400 InvalidToken');
  assert.equal(await summary(raw, put('k', token)), '200');
  assert.equal(await summary(raw, { method: 'DELETE', key: 'k', headers: token }), '403 AccessDenied');
});

test("the server's clock is its own", async () => {
  const now = (): number => Date.parse('2001-02-03T04:05:06Z');
  await using server = await startS3Server({ now });
  using raw = new RawClient(server.endpoint, 'apt', rigCredentials);
  const answer = await raw.send({ key: 'k' });
  assert.equal(answer.summary, '403 RequestTimeTooSkewed');
  assert.equal(answer.headers.date, 'Sat, 03 Feb 2001 04:05:06 GMT');
});

test('an answer can be replaced before or after the request took effect', () =>
  withServer(async (raw, server) => {
    once(server, { do: 'answer', when: 'before', status: 503, code: 'SlowDown', retryAfter: 2 });
    const refused = await raw.send(put('k'));
    assert.deepEqual([refused.summary, refused.headers['retry-after']], ['503 SlowDown', '2']);
    assert.equal(server.objects('apt').has('k'), false);
    once(server, { do: 'answer', when: 'after', status: 500, code: 'InternalError' });
    assert.equal(await summary(raw, put('k')), '500 InternalError');
    assert.equal(server.objects('apt').text('k'), 'body');
  }));

test('a connection can be dropped before or after the request took effect', () =>
  withServer(async (raw, server) => {
    once(server, { do: 'drop', when: 'before' });
    await assert.rejects(raw.send(put('k')), { code: 'ECONNRESET' });
    assert.equal(server.objects('apt').has('k'), false);
    once(server, { do: 'drop', when: 'after' });
    await assert.rejects(raw.send(put('k')), { code: 'ECONNRESET' });
    assert.equal(server.objects('apt').text('k'), 'body');
    assert.deepEqual(
      server.requests.map(({ status }) => status),
      [undefined, undefined],
    );
  }));

test('a body can be cut short', () =>
  withServer(async (raw, server) => {
    server.objects('apt').write('k', 'x'.repeat(100_000));
    once(server, { do: 'cut-body', bytes: 50_000 });
    await assert.rejects(raw.send({ key: 'k' }), { code: 'ECONNRESET' });
  }));

test('a body can stall until the client has had enough', () =>
  withServer(async (raw, server) => {
    server.objects('apt').write('k', 'x'.repeat(100_000));
    once(server, { do: 'stall-body', bytes: 50_000 });
    const stalled = raw.send({ key: 'k' }).then(
      () => 'answered',
      () => 'given up',
    );
    assert.equal(await Promise.race([stalled, sleep(100, 'waiting')]), 'waiting');
    raw[Symbol.dispose]();
    assert.equal(await stalled, 'given up');
  }));

test('a page that is not S3 can come in place of an answer', () =>
  withServer(async (raw, server) => {
    once(server, { do: 'page', status: 200, html: '<html>log in</html>' });
    assert.equal((await raw.send({ key: 'k' })).body.toString(), '<html>log in</html>');
  }));

test('a delayed request takes effect late', () =>
  withServer(async (raw, server) => {
    once(server, { do: 'delay', ms: 60 });
    const sent = raw.send(put('k'));
    await sleep(20);
    assert.equal(server.objects('apt').has('k'), false);
    assert.equal((await sent).summary, '200');
  }));

test('a stale listing shows what was deleted and not what is new', () =>
  withServer(async (raw, server) => {
    const objects = server.objects('apt');
    for (const key of ['a', 'b']) objects.write(key, '');
    objects.remove('a');
    objects.write('c', '');
    once(server, { do: 'stale-list', changes: 2 });
    assert.deepEqual((await list(raw, {})).keys, ['a', 'b']);
    assert.deepEqual((await list(raw, {})).keys, ['b', 'c']);
  }));

test('a hook is gone when it is disposed of', () =>
  withServer(async (raw, server) => {
    {
      using _hook = server.intercept(() => ({ do: 'answer', when: 'before', status: 500, code: 'InternalError' }));
      assert.equal(await summary(raw, put('k')), '500 InternalError');
    }
    assert.equal(await summary(raw, put('k')), '200');
  }));

test('held requests take effect in the order in which they are let through', () =>
  withServer(async (raw, server) => {
    const steps = server.hold(({ verb }) => verb === 'PUT');
    const sent = [1, 2, 3].map((writer) => raw.send({ ...put('k', { 'if-none-match': '*' }), body: `${writer}` }));
    await steps.next(({ number }) => number === 3);
    assert.equal(await summary(raw, { key: 'k' }), '404 NoSuchKey');
    for (const chosen of [2, 3, 1]) {
      const held = await steps.next(({ number }) => number === chosen);
      assert.equal(held.request.status, undefined);
      await held.release();
      assert.equal(held.request.status, chosen === 2 ? 200 : 412);
    }
    assert.deepEqual(steps.held, []);
    await Promise.all(sent);
  }));

test('a request that never comes is said so, with those that are waiting', () =>
  withServer(async (raw, server) => {
    const steps = server.hold();
    const sent = raw.send(put('k'));
    await steps.next();
    await assert.rejects(
      steps.next(({ verb }) => verb === 'COPY', 20),
      /no such request within 20 ms; held: #1 PUT apt\/k/,
    );
    steps.open();
    assert.equal((await sent).status, 200);
  }));
