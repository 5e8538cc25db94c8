import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { publish } from '../../src/publish/publish.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { AptClient } from '../e2e/apt-client.ts';
import { Debs, publishRequest, suiteOf, testRun } from '../publish/publishing.ts';
import { cephMissing, startCeph } from '../rig/ceph.ts';
import { startHttpCache } from '../rig/http-cache.ts';
import { startLatencyProxy } from '../rig/latency-proxy.ts';
import { skipWithout } from '../rig/process.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';
import { complaints, type Naming, reader } from './readers.ts';

const publishes = 50;
/** Milliseconds each way between publisher and store: a publish is under way most of the time. */
const distance = 50;
const keys = await fixture('ed25519');

/** What a client has done until the publishes were over. */
interface Tally {
  updates: number;
  downloads: number;
  /** What apt said, once for each update or download that did not go well. */
  readonly failures: string[];
}

test('clients by hash update and download without an error during 50 publishes, through a cache that keeps what it may', {
  skip: cephMissing() || skipWithout('apt-get'),
}, async (t) => {
  await using stack = new AsyncDisposableStack();
  const ceph = stack.use(await startCeph());
  const url = await ceph.createBucket('live', '');
  const cache = stack.use(await startHttpCache({ to: url, now: Date.now, notFoundSeconds: 60 }));
  const far = stack.use(await startLatencyProxy({ to: ceph.endpoint, delayMs: distance }));
  const { credentials } = ceph;
  const settings = { bucket: 'live', prefix: '', endpoint: far.endpoint, forcePathStyle: true, credentials };
  const store = stack.adopt(new S3Store({ ...settings, version: 'test' }), (opened) => opened.close());
  const debs = stack.use(new Debs());

  const publishNumber = async (number: number) => {
    const path = debs.add(`tool-${number}`, { Package: 'tool', Version: `${number}.0` });
    const request = publishRequest([suiteOf('sid', path)], { compression: ['gz', 'xz'], keepVersions: 3 });
    await publish(testRun(store, realClock, { keys }), request);
  };
  await publishNumber(0);
  let over = false;
  const isOver = () => over;
  const warm = stack.use(await reader(cache.url, 'by-hash', keys));
  const anew = (naming: Naming) =>
    useRepeatedly(isOver, async (use) => {
      await using fresh = await reader(cache.url, naming, keys);
      await use(fresh);
    });
  const clients = [useRepeatedly(isOver, (use) => use(warm)), anew('by-hash')];
  const byName = anew('by-name');
  const from = performance.now();
  try {
    for (let number = 1; number <= publishes; number += 1) await publishNumber(number);
  } finally {
    over = true;
  }
  const ms = performance.now() - from;
  const tallies = await Promise.all(clients);
  const unsafe = await byName;

  assert.deepEqual(await complaints(warm), []);
  assert.match(await warm.available(), new RegExp(`^Package: tool\nVersion: ${publishes}\\.0$`, 'm'));
  // apt asks for the canonical name, in silence, when it gets nothing by hash: nobody had to.
  const missed = cache.requests.filter(({ path, status }) => path.includes('/by-hash/') && status >= 400);
  assert.deepEqual(missed, []);
  const hits = cache.requests.filter(({ hit }) => hit).length;
  t.diagnostic(
    `${publishes} publishes in ${(ms / 1000).toFixed(1)} s; ${hits} of ${cache.requests.length} answers from the cache`,
  );
  for (const [index, { updates, downloads, failures }] of tallies.entries()) {
    const who = ['one client by hash', 'new clients by hash'][index];
    t.diagnostic(`${who}, while a publish was under way:`);
    t.diagnostic(
      `${updates} updates by clients, ${downloads} downloads by clients, ${failures.length} failures of clients`,
    );
    assert.deepEqual(failures, []);
    assert.ok(updates > 5 && downloads > 5, 'There were hardly any clients.');
  }
  assert.ok(hits > 0, 'The cache has kept nothing.');
  // No order of writes is safe for them; how many fail is chance.
  t.diagnostic(`new clients by name: ${unsafe.updates} updates, ${unsafe.failures.length} failed`);
});

/** Updates and downloads, over and over; only what happens before the end counts as done. */
async function useRepeatedly(
  isOver: () => boolean,
  withClient: (use: (client: AptClient) => Promise<void>) => Promise<void>,
): Promise<Tally> {
  const tally: Tally = { updates: 0, downloads: 0, failures: [] };
  while (!isOver()) {
    await withClient(async (client) => {
      const told = await complaints(client);
      tally.updates += 1;
      if (told.length > 0) {
        tally.failures.push(told.join('\n'));
        return;
      }
      try {
        const files = await client.inEmptyFolder(['download', 'tool'], (folder) => readdir(folder));
        tally.downloads += files.length;
      } catch (error) {
        tally.failures.push(String(error));
      }
    });
  }
  return tally;
}
