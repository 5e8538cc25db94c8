import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { perform } from '../../src/publish/commands.ts';
import type { RunContext } from '../../src/publish/run-context.ts';
import { Hedging } from '../../src/store/hedged.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { S3Request } from '../rig/s3-request.ts';
import { rigCredentials, type S3Server, startS3Server } from '../rig/s3-server.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';
import { Debs, publishedAt, publishRequest, suiteOf, testRun } from './publishing.ts';

const keys = await fixture('ed25519');

/** A server each of whose requests takes 20 ms, and of those that are `chosen` the first copy much longer. It takes effect all the same. */
async function serverWith(lateMs: number, chosen: (request: S3Request) => boolean): Promise<S3Server> {
  const server = await startS3Server();
  const seen = new Set<string>();
  server.intercept((request) => {
    const name = `${request.verb} ${request.key}`;
    const isLate = chosen(request) && !seen.has(name);
    if (isLate) seen.add(name);
    return { do: 'delay', ms: isLate ? lateMs : 20 };
  });
  return server;
}

/** Publishes packages, as a run of the action does; answers how long it took. */
async function publish(server: S3Server, debs: Debs, packages: number, date = publishedAt) {
  const store = new S3Store({
    bucket: 'apt',
    prefix: '',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: rigCredentials,
    version: 'test',
  });
  const hedging = new Hedging(realClock);
  const run: RunContext = { ...testRun(store, realClock, { keys, date }), hedging };
  const paths = Array.from({ length: packages }, (_, index) =>
    debs.add(`tool-${date}-${index}`, { Package: `tool-${date}-${index}`, Architecture: 'all' }),
  );
  const from = performance.now();
  await perform(run, publishRequest([suiteOf('sid', ...paths)], { architectures: ['amd64', 'arm64'] }));
  const ms = performance.now() - from;
  store.close();
  return { ms, hedging, spans: run.recorder.spans };
}

/** The bytes of every object, by key. */
function objectsOf(server: S3Server) {
  const objects = server.objects('apt');
  return new Map(objects.keys().map((key) => [key, objects.get(key)?.body]));
}

describe('late requests of a publish', () => {
  test('hold it up no longer than it takes to send them again, and leave what a prompt store would', async () => {
    const lateMs = 4000;
    await using server = await serverWith(
      lateMs,
      ({ verb, key, number }) =>
        (verb === 'GET' && key.endsWith('.apt-publish/sid.json')) ||
        (verb === 'PUT' && key.includes('pool/') && number === 30),
    );
    using debs = new Debs();
    const { ms, hedging, spans } = await publish(server, debs, 30);
    assert.ok(ms < lateMs, `${ms} ms`);
    assert.ok((hedging.counts?.won ?? 0) >= 2, JSON.stringify(hedging.counts));
    assert.equal(
      spans.filter((span) => span.kind === 'request' && span.outcome === 'cancelled').length,
      hedging.counts?.sent,
    );
    const before = objectsOf(server);
    await sleep(lateMs);
    assert.deepEqual(objectsOf(server), before);
  });

  test('that are a claim or a head are sent again, since their second copy finds the ETag gone', async () => {
    const lateMs = 4000;
    const chosen = ({ verb, key }: S3Request) => verb === 'PUT' && /\/InRelease$|^\.apt-publish\/sid\.json$/.test(key);
    await using server = await serverWith(lateMs, chosen);
    using debs = new Debs();
    const { ms } = await publish(server, debs, 3);
    assert.ok(ms < lateMs, `${ms} ms`);
    const before = server.objects('apt').get('dists/sid/InRelease')?.etag;
    await sleep(lateMs);
    assert.equal(server.objects('apt').get('dists/sid/InRelease')?.etag, before);
    const sent = server.requests.filter(chosen).map(({ key }) => key);
    assert.deepEqual([sent.length, new Set(sent).size], [4, 2]);
  });

  test('that write the first names of a suite are sent again, since their second copy finds the names there', async () => {
    const lateMs = 4000;
    const chosen = ({ verb, key }: S3Request) =>
      verb === 'PUT' && /\/(?:Release|Release\.gpg|binary-amd64\/Packages\.gz)$/.test(key);
    await using server = await serverWith(lateMs, chosen);
    using debs = new Debs();
    const { ms } = await publish(server, debs, 30);
    assert.ok(ms < lateMs, `${ms} ms`);
    await publish(server, debs, 1, publishedAt + 1000);
    const before = objectsOf(server);
    await sleep(lateMs);
    assert.deepEqual(objectsOf(server), before, 'a late copy took the place of what was published since');
  });

  test('are waited for where a second copy could land after the next publisher', async () => {
    const lateMs = 1500;
    for (const chosen of [
      ({ verb, key }: S3Request) => verb === 'COPY' && key.endsWith('Packages.gz'),
      ({ verb, key }: S3Request) => verb === 'PUT' && key.endsWith('/Release'),
    ]) {
      let later = false;
      await using server = await serverWith(lateMs, (request) => later && chosen(request));
      using debs = new Debs();
      await publish(server, debs, 3);
      later = true;
      const from = server.requests.length;
      const { ms } = await publish(server, debs, 3, publishedAt + 1000);
      assert.ok(ms >= lateMs, `${ms} ms`);
      const asked = server.requests
        .slice(from)
        .filter(chosen)
        .map(({ key }) => key);
      assert.deepEqual(asked, [...new Set(asked)]);
    }
  });
});
