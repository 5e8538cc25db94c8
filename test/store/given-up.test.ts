import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpStore } from '../../src/store/http.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { FaultAction } from '../rig/s3-faults.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const body = Buffer.from('body');
const never = { do: 'delay', ms: 60_000 } as const;
const stalled = { do: 'stall-body', bytes: 2 } as const;

/** How long a call lasts that is given up after a tenth of a second, of a server that would not answer for a minute. */
async function givenUp(
  fault: FaultAction,
  anonymous: boolean,
  call: (store: ObjectStore, signal: AbortSignal) => unknown,
) {
  await using server = await startS3Server();
  const s3 = new S3Store({
    bucket: 'apt',
    prefix: '',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: rigCredentials,
    version: 'test',
  });
  const url = server.publicUrl('apt');
  const store = anonymous ? new HttpStore({ url, input: 'public-url', hidden: '.apt-publish/', version: 'test' }) : s3;
  await s3.put('key', body, attributes);
  server.intercept(() => fault);
  const controller = new AbortController();
  const from = performance.now();
  const ended = assert.rejects(async () => call(store, controller.signal));
  await sleep(100);
  controller.abort();
  await ended;
  s3.close();
  return performance.now() - from;
}

describe('a request that is given up ends at once', () => {
  const calls: Record<string, [FaultAction, (store: ObjectStore, signal: AbortSignal) => unknown]> = {
    'a read without an answer': [never, (store, signal) => store.get('key', undefined, signal)],
    'a read whose body stalls': [stalled, (store, signal) => store.get('key', undefined, signal)],
    'a look': [never, (store, signal) => store.head('key', signal)],
  };
  const writes: typeof calls = {
    'a write': [never, (store, signal) => store.put('other', body, attributes, signal)],
    'a listing': [never, (store, signal) => store.listPage('', undefined, signal)],
  };
  for (const [title, [fault, call]] of Object.entries({ ...calls, ...writes })) {
    test(`${title}, of S3`, async () => {
      const ms = await givenUp(fault, false, call);
      assert.ok(ms < 5000, `${ms} ms`);
    });
  }
  for (const [title, [fault, call]] of Object.entries(calls)) {
    test(`${title}, of a public address`, async () => {
      const ms = await givenUp(fault, true, call);
      assert.ok(ms < 5000, `${ms} ms`);
    });
  }
});
