import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import { HttpStore } from '../../src/store/http.ts';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { FaultAction } from '../rig/s3-faults.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';
import { storeContract } from './contract.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;

/** A bucket that everybody may read, written with keys and read without. */
async function publicBucket(hidden: string) {
  const server = await startS3Server();
  const writer = new S3Store({
    bucket: 'apt',
    prefix: 'some/prefix',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: rigCredentials,
    version: 'test',
  });
  const reader = new HttpStore({
    url: server.publicUrl('apt', 'some/prefix'),
    input: 'public-url',
    hidden,
    version: 'test',
  });
  return {
    server,
    writer,
    reader,
    [Symbol.asyncDispose]: async () => {
      writer.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

storeContract(
  'what is read at a public address',
  async () => {
    // This server says "forbidden" of what does not exist, as S3 does to those who may not list.
    const { writer, reader, ...rest } = await publicBucket('');
    const store: ObjectStore = {
      ...bound(writer),
      get: (key, range) => reader.get(key, range),
      head: (key) => reader.head(key),
    };
    return { ...rest, store };
  },
  { attributes: true, conditionalCompletion: true },
);

function bound(store: ObjectStore): ObjectStore {
  return {
    get: (key, range) => store.get(key, range),
    head: (key) => store.head(key),
    put: (key, body, options) => store.put(key, body, options),
    copy: (from, to, given) => store.copy(from, to, given),
    listPage: (prefix, from) => store.listPage(prefix, from),
    delete: (keys) => store.delete(keys),
    startUpload: (key, given) => store.startUpload(key, given),
    putPart: (upload, part, body) => store.putPart(upload, part, body),
    completeUpload: (upload, parts, condition) => store.completeUpload(upload, parts, condition),
    abortUpload: (upload) => store.abortUpload(upload),
  };
}

function problem(code: string) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    return true;
  };
}

describe('a public address', () => {
  test('forbids what is not there, which is no "not found" but below what is hidden', async () => {
    await using bucket = await publicBucket('.apt-publish/');
    await assert.rejects(bucket.reader.get('dists/sid/InRelease'), problem('public-access-denied'));
    await assert.rejects(bucket.reader.head('dists/sid/InRelease'), problem('public-access-denied'));
    assert.deepEqual(await bucket.reader.get('.apt-publish/sid.json'), { found: false });
  });

  test('is never written or listed', async () => {
    await using bucket = await publicBucket('');
    const { reader } = bucket;
    const upload = { key: 'a', id: '1', attributes };
    const asked: readonly (() => Promise<unknown>)[] = [
      () => reader.put('a'),
      () => reader.copy('a', 'b'),
      () => reader.listPage(''),
      () => reader.delete(['a']),
      () => reader.startUpload('a'),
      () => reader.putPart(upload),
      () => reader.completeUpload(upload),
      () => reader.abortUpload(upload),
    ];
    for (const ask of asked) await assert.rejects(ask, problem('store-read-only'));
    assert.deepEqual(bucket.server.requests, []);
  });

  const failures: readonly (readonly [FaultAction, Partial<TransientStoreError>])[] = [
    [
      { do: 'answer', when: 'before', status: 503, code: 'SlowDown', retryAfter: 3 },
      { kind: 'throttled', retryAfter: 3000 },
    ],
    [{ do: 'answer', when: 'before', status: 500, code: 'InternalError' }, { kind: 'server' }],
    [{ do: 'drop', when: 'before' }, { kind: 'connection' }],
    [{ do: 'cut-body', bytes: 3 }, { kind: 'connection' }],
  ];
  for (const [action, expected] of failures) {
    test(`that answers with ${JSON.stringify(action)} may be asked again`, async () => {
      await using bucket = await publicBucket('');
      await bucket.writer.put('a', Buffer.from('hello'), attributes);
      using _ = bucket.server.intercept(() => action);
      const error = await bucket.reader.get('a').catch((thrown: unknown) => thrown);
      assert.ok(error instanceof TransientStoreError, String(error));
      assert.deepEqual({ kind: error.kind, ...(error.retryAfter && { retryAfter: error.retryAfter }) }, expected);
      assert.equal(error.ambiguous, false);
    });
  }

  test('that is none is a problem, which trying again does not help', async () => {
    const server = await startS3Server();
    await server[Symbol.asyncDispose]();
    const reader = new HttpStore({ url: `${server.endpoint}/apt`, input: 'public-url', hidden: '', version: 'test' });
    await assert.rejects(reader.get('a'), problem('public-address-unreachable'));
    await using web = await publicBucket('');
    using _ = web.server.intercept(() => ({ do: 'page', status: 418, html: '<h1>teapot</h1>' }));
    await assert.rejects(web.reader.get('a'), problem('public-address-refused'));
    using __ = web.server.intercept(() => ({ do: 'page', status: 404, html: '<h1>Not here</h1>' }));
    _[Symbol.dispose]();
    assert.deepEqual(await web.reader.get('a'), { found: false });
  });
});
