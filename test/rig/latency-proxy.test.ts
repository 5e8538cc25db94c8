import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type LatencyProxyOptions, startLatencyProxy } from './latency-proxy.ts';
import { put } from './probe-requests.ts';
import { RawClient } from './s3-raw-client.ts';
import { rigCredentials, startS3Server } from './s3-server.ts';

async function behindProxy(
  options: Omit<LatencyProxyOptions, 'to'>,
  ask: (raw: RawClient, proxy: Awaited<ReturnType<typeof startLatencyProxy>>) => Promise<void>,
): Promise<void> {
  await using server = await startS3Server();
  await using proxy = await startLatencyProxy({ to: server.endpoint, ...options });
  using raw = new RawClient(proxy.endpoint, 'apt', rigCredentials);
  await ask(raw, proxy);
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

test('every request costs a round trip, the first on a connection one more when handshakes count', () =>
  behindProxy({ delayMs: 100, handshake: true }, async (raw, proxy) => {
    const first = await elapsed(() => raw.send(put('k')));
    const second = await elapsed(() => raw.send(put('k')));
    assert.ok(first >= 400, `first: ${first} ms`);
    assert.ok(second >= 200 && second < 400, `second: ${second} ms`);
    assert.equal(proxy.counts.connections, 1);
    assert.equal(proxy.counts.requests, 2);
  }));

test('requests in flight together share one round trip, and are counted', () =>
  behindProxy({ delayMs: 50 }, async (raw, proxy) => {
    const wave = await elapsed(() => Promise.all(Array.from({ length: 16 }, (_, n) => raw.send(put(`k${n}`)))));
    assert.ok(wave >= 100 && wave < 800, `${wave} ms`);
    assert.equal(proxy.counts.peakConnections, 16);
    assert.equal(proxy.counts.requests, 16);
    assert.ok(proxy.counts.bytesUp > 16 * 4);
  }));

test('large bodies come through whole in both directions', () =>
  behindProxy({ delayMs: 1 }, async (raw) => {
    const body = randomBytes(20 << 20);
    await raw.send({ method: 'PUT', key: 'large', body });
    const sum = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
    assert.equal(sum((await raw.send({ key: 'large' })).body), sum(body));
  }));

test('all connections share the line', () =>
  behindProxy({ delayMs: 0, bytesPerSecond: 1_000_000 }, async (raw) => {
    const body = randomBytes(50_000);
    const four = await elapsed(() =>
      Promise.all(Array.from({ length: 4 }, (_, n) => raw.send({ method: 'PUT', key: `k${n}`, body }))),
    );
    assert.ok(four >= 200, `${four} ms for 200 kB at 1 MB/s`);
  }));

test('a connection that the server drops is dropped for the client too', async () => {
  await using server = await startS3Server();
  await using proxy = await startLatencyProxy({ to: server.endpoint, delayMs: 5 });
  using raw = new RawClient(proxy.endpoint, 'apt', rigCredentials);
  server.intercept(() => ({ do: 'drop', when: 'before' }));
  await assert.rejects(raw.send({ key: 'k' }));
});
