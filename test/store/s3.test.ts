import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../src/problem.ts';
import { type PartBody, TransientStoreError } from '../../src/store/object-store.ts';
import { bytesPart } from '../../src/store/part-body.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { S3Settings } from '../../src/store/s3-connection.ts';
import type { FaultAction } from '../rig/s3-faults.ts';
import type { Quirks } from '../rig/s3-quirks.ts';
import { rigCredentials, type S3Server, startS3Server } from '../rig/s3-server.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const body = Buffer.from('twelve bytes');

interface Opened extends AsyncDisposable {
  readonly server: S3Server;
  readonly store: S3Store;
}

async function open(quirks: Quirks = {}, settings: Partial<S3Settings> = {}): Promise<Opened> {
  const server = await startS3Server({ quirks });
  const store = new S3Store({
    bucket: 'apt',
    prefix: '',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: rigCredentials,
    version: '1.2.3',
    ...settings,
  });
  return {
    server,
    store,
    [Symbol.asyncDispose]: async () => {
      store.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Rejects with a problem of this code, which holds neither the secret nor the key id nor anything signed. */
async function rejectsWith(code: string, attempt: Promise<unknown>): Promise<Problem> {
  const error: unknown = await attempt.then(
    () => assert.fail(`no error, ${code} expected`),
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof Problem, `${error}`);
  assert.equal(error.code, code, error.message);
  assert.ok(error.title.length <= 60, error.title);
  const all = `${error.message} ${error.stack} ${error.cause instanceof Error ? error.cause.stack : ''}`;
  for (const secret of [rigCredentials.secretAccessKey, rigCredentials.accessKeyId, 'AWS4-HMAC', 'Signature=']) {
    assert.ok(!all.includes(secret), `${secret} in ${all}`);
  }
  return error;
}

async function transient(attempt: Promise<unknown>): Promise<TransientStoreError> {
  const error: unknown = await attempt.then(
    () => assert.fail('no error, a transient one expected'),
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof TransientStoreError, `${error}`);
  return error;
}

describe('what is sent', () => {
  test('a write has its length and type, and neither checksum extension, ACL, Content-Encoding nor Expect', async () => {
    await using opened = await open({ aclRefused: true, awsChunked: 501, checksums: 501 });
    await opened.store.put('key', Buffer.alloc(3 * 1024 ** 2), attributes);
    const headers = opened.server.requests[0]?.headers ?? {};
    assert.equal(headers['content-length'], `${3 * 1024 ** 2}`);
    assert.equal(headers['cache-control'], 'no-cache');
    assert.match(`${headers['user-agent']}`, /apt-publish\/1\.2\.3/);
    assert.match(`${headers['x-amz-content-sha256']}`, /^[0-9a-f]{64}$/);
    const names = Object.keys(headers).join(' ');
    assert.doesNotMatch(names, /checksum|trailer|acl|content-encoding|expect|transfer-encoding|x-amz-decoded/);
  });

  test('a body is signed with the hash that it is known to have, and one that has another is refused', async () => {
    await using opened = await open();
    const { store, server } = opened;
    const sha256 = createHash('sha256').update(body).digest('hex');
    const wrong = createHash('sha256').update('others').digest('hex');
    const upload = await store.startUpload('large', attributes);
    await store.put('key', body, { ...attributes, sha256 });
    await store.putPart(upload, { number: 1, offset: 0 }, bytesPart(body));
    const sent = server.requests.slice(1).map(({ headers }) => headers['x-amz-content-sha256']);
    assert.deepEqual(sent, [sha256, sha256]);
    await transient(store.put('other', body, { ...attributes, sha256: wrong }));
    await transient(store.putPart(upload, { number: 2, offset: 12 }, { ...bytesPart(body), sha256: wrong }));
    assert.deepEqual(await store.get('other'), { found: false });
  });

  test('a failed request is sent once', async () => {
    await using opened = await open();
    using _ = opened.server.intercept(() => ({ do: 'answer', when: 'before', status: 500, code: 'InternalError' }));
    await transient(opened.store.get('key'));
    assert.equal(opened.server.requests.length, 1);
  });

  test('an ETag condition is spelled bare, or quoted where that was found to be needed', async () => {
    await using opened = await open();
    const written = await opened.store.put('key', body, attributes);
    assert.ok(written.written && written.etag !== undefined);
    await opened.store.put('key', body, { ...attributes, condition: { etag: written.etag } });
    await opened.store.put('key', body, { ...attributes, condition: { etag: written.etag, spelled: 'quoted' } });
    const sent = opened.server.requests.slice(1).map(({ headers }) => headers['if-match']);
    assert.deepEqual(sent, [written.etag, `"${written.etag}"`]);
  });

  test('temporary credentials come with their token, from a function too', async () => {
    await using opened = await open(
      {},
      { credentials: async () => ({ ...rigCredentials, sessionToken: 'the-token' }) },
    );
    await opened.store.get('key');
    assert.equal(opened.server.requests[0]?.headers['x-amz-security-token'], 'the-token');
  });

  test('requests are signed for the region given, us-east-1 without one', async () => {
    await using plain = await open();
    await using given = await open({}, { region: 'eu-central-1' });
    await plain.store.get('key');
    await given.store.get('key');
    assert.match(`${plain.server.requests[0]?.headers.authorization}`, /\/us-east-1\/s3\//);
    assert.match(`${given.server.requests[0]?.headers.authorization}`, /\/eu-central-1\/s3\//);
  });
});

describe('batch deletes', () => {
  const keys = Array.from({ length: 30 }, (_, index) => `a/${index}+~%20&<`);

  test('go out as one request with a Content-MD5', async () => {
    await using opened = await open({ deleteObjects: 'content-md5-only', checksums: 400 });
    await Promise.all(keys.map((key) => opened.store.put(key, body, attributes)));
    const before = opened.server.requests.length;
    await opened.store.delete(keys);
    assert.equal(opened.server.requests.length, before + 1);
    assert.deepEqual((await opened.store.listPage('')).objects, []);
  });

  test('become single ones where they are not supported, at most eight at once, and that is remembered', async () => {
    await using opened = await open({ deleteObjects: 'unsupported' });
    using _ = opened.server.intercept(({ verb }) => (verb === 'DELETE' ? { do: 'delay', ms: 5 } : undefined));
    await opened.store.delete(keys);
    assert.equal(opened.server.requests.length, 31);
    assert.ok(opened.server.peakInFlight > 1 && opened.server.peakInFlight <= 8);
    await opened.store.delete(keys);
    assert.equal(opened.server.requests.length, 61);
  });

  test('do not hide that credentials are wrong behind single ones', async () => {
    await using opened = await open({}, { credentials: { ...rigCredentials, secretAccessKey: 'wrong' } });
    await rejectsWith('store-credentials-wrong', opened.store.delete(keys));
    assert.equal(opened.server.requests.length, 1);
  });
});

describe('answers that are problems', () => {
  test('a forbidden read is never "not found"', async () => {
    await using opened = await open({ forbiddenForMissing: true });
    const problem = await rejectsWith('store-access-denied', opened.store.get('dists/sid/InRelease'));
    assert.match(problem.what, /dists\/sid\/InRelease/);
    await rejectsWith('store-access-denied', opened.store.head('dists/sid/InRelease'));
  });

  test('a missing bucket is no empty repository', async () => {
    await using opened = await open({}, { bucket: 'other' });
    await rejectsWith('store-bucket-missing', opened.store.get('dists/sid/InRelease'));
    await rejectsWith('store-bucket-missing', opened.store.listPage(''));
  });

  test('wrong secrets and unknown keys are told apart', async () => {
    await using wrong = await open({}, { credentials: { ...rigCredentials, secretAccessKey: 'wrong' } });
    await rejectsWith('store-credentials-wrong', wrong.store.put('key', body, attributes));
    await using unknown = await open({}, { credentials: { ...rigCredentials, accessKeyId: 'NOBODY' } });
    await rejectsWith('store-credentials-unknown', unknown.store.put('key', body, attributes));
  });

  test('a credentials function that fails is a problem of the credentials', async () => {
    const failing = async () =>
      Promise.reject(Object.assign(new Error('no token'), { name: 'CredentialsProviderError' }));
    await using opened = await open({}, { credentials: failing });
    await rejectsWith('store-credentials-missing', opened.store.get('key'));
  });

  for (const others of [301, 400] as const) {
    test(`a wrong region (${others}) names the right one`, async () => {
      await using opened = await open({ region: { name: 'eu-west-3', others } });
      const problem = await rejectsWith('store-wrong-region', opened.store.put('key', body, attributes));
      assert.match(problem.advice, /region: eu-west-3/);
      await rejectsWith('store-wrong-region', opened.store.get('key'));
    });
  }

  test('too large a body', async () => {
    await using opened = await open({ maxBody: 5 });
    await rejectsWith('store-object-too-large', opened.store.put('key', body, attributes));
  });

  test('a refused condition is told from other refusals', async () => {
    const refused = { 'put-if-none-match': 'refused', 'put-if-match': 'refused' } as const;
    await using opened = await open({ conditions: refused });
    const { store } = opened;
    await rejectsWith(
      'store-condition-refused',
      store.put('key', body, { ...attributes, condition: { absent: true } }),
    );
    await rejectsWith('store-condition-refused', store.put('key', body, { ...attributes, condition: { etag: 'x' } }));
  });

  for (const status of [200, 403, 404]) {
    test(`a web page (${status}) is a wrong endpoint, and its 404 no missing object`, async () => {
      await using opened = await open();
      using _ = opened.server.intercept(() => ({ do: 'page', status, html: '<html><body>Console</body></html>' }));
      const { store } = opened;
      await rejectsWith('store-not-s3', store.get('dists/sid/InRelease'));
      await rejectsWith('store-not-s3', store.put('key', body, attributes));
      await rejectsWith('store-not-s3', store.copy('key', 'other', attributes));
      await rejectsWith('store-not-s3', store.listPage('.apt-publish/'));
    });
  }

  test('a page that is not well-formed XML is one as well', async () => {
    await using opened = await open();
    using _ = opened.server.intercept(() => ({
      do: 'page',
      status: 404,
      html: '<!doctype html><p>404<br>nothing & here',
    }));
    await rejectsWith('store-not-s3', opened.store.get('dists/sid/InRelease'));
  });

  test('a host that does not exist and a port where nothing listens', async () => {
    await using opened = await open({}, { endpoint: 'http://no-such-host.invalid' });
    const error: unknown = await opened.store.get('key').catch((caught: unknown) => caught);
    // Without a resolver the machine says EAI_AGAIN, which may pass.
    if (!(error instanceof TransientStoreError)) await rejectsWith('store-unreachable', Promise.reject(error));
    const gone = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => gone.once('listening', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    await using nothing = await open({}, { endpoint: `http://127.0.0.1:${port}` });
    await rejectsWith('store-unreachable', nothing.store.get('key'));
  });

  test('TLS asked of a server that has none', async () => {
    await using plain = await open();
    const endpoint = plain.server.endpoint.replace('http:', 'https:');
    await using opened = await open({}, { endpoint });
    await rejectsWith('store-unreachable', opened.store.get('key'));
  });
});

describe('answers that may pass', () => {
  const faults: readonly [string, FaultAction, Partial<TransientStoreError>][] = [
    [
      'SlowDown',
      { do: 'answer', when: 'before', status: 503, code: 'SlowDown' },
      { kind: 'throttled', ambiguous: false },
    ],
    [
      '429',
      { do: 'answer', when: 'before', status: 429, code: 'TooMany', retryAfter: 3 },
      { kind: 'throttled', retryAfter: 3000 },
    ],
    ['500', { do: 'answer', when: 'after', status: 500, code: 'InternalError' }, { kind: 'server', ambiguous: true }],
    [
      '502 as a page',
      { do: 'page', status: 502, html: '<html>Bad Gateway</html>' },
      { kind: 'server', ambiguous: true },
    ],
    [
      '409',
      { do: 'answer', when: 'before', status: 409, code: 'ConditionalRequestConflict' },
      { kind: 'server', ambiguous: false },
    ],
    [
      '400 RequestTimeout',
      { do: 'answer', when: 'before', status: 400, code: 'RequestTimeout' },
      { kind: 'timeout', ambiguous: false },
    ],
    ['a connection dropped before', { do: 'drop', when: 'before' }, { kind: 'connection', ambiguous: true }],
    ['a connection dropped after', { do: 'drop', when: 'after' }, { kind: 'connection', ambiguous: true }],
  ];
  for (const [title, action, expected] of faults) {
    test(`${title}: ${expected.kind}${expected.ambiguous === true ? ', ambiguous' : ''}`, async () => {
      await using opened = await open();
      using _ = opened.server.intercept(() => action);
      const { store } = opened;
      const error = await transient(store.put('key', body, { ...attributes, condition: { absent: true } }));
      assert.deepEqual({ ...error, ...expected }, { ...error });
      assert.equal((await transient(store.get('key'))).kind, expected.kind);
    });
  }

  test('a body that is cut short', async () => {
    await using opened = await open();
    await opened.store.put('key', body, attributes);
    using _ = opened.server.intercept(() => ({ do: 'cut-body', bytes: 5 }));
    assert.equal((await transient(opened.store.get('key'))).kind, 'connection');
  });

  test('a body that stalls, and an answer that never comes', async () => {
    await using opened = await open({}, { stallMs: 300 });
    await opened.store.put('key', body, attributes);
    const began = performance.now();
    {
      using _ = opened.server.intercept(() => ({ do: 'stall-body', bytes: 5 }));
      assert.equal((await transient(opened.store.get('key'))).kind, 'timeout');
    }
    opened.server.hold();
    const error = await transient(opened.store.put('key', body, attributes));
    assert.deepEqual([error.kind, error.ambiguous], ['timeout', true]);
    assert.ok(performance.now() - began < 5000);
  });

  test('an answer that comes before all of a part was sent, whose connection is closed then', async (t) => {
    const warned = t.mock.method(console, 'warn');
    const closed = Promise.withResolvers<void>();
    await using server = createServer((request, response) => {
      request.socket.once('close', closed.resolve);
      response.writeHead(503).end();
    }).listen(0, '127.0.0.1');
    server.keepAliveTimeout = 0;
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await using opened = await open({}, { endpoint: `http://127.0.0.1:${port}` });
    const slow: PartBody = {
      ...bytesPart(Buffer.alloc(1000)),
      read: async (position) => {
        if (position === 100) await Promise.race([closed.promise, sleep(20_000, undefined, { ref: false })]);
        return new Uint8Array(100);
      },
    };
    const upload = { key: 'large', id: '1', attributes };
    const error = await transient(opened.store.putPart(upload, { number: 1, offset: 0 }, slow));
    assert.equal(error.kind, 'throttled');
    const late = sleep(10_000, 'still open', { ref: false });
    assert.notEqual(await Promise.race([closed.promise, late]), 'still open');
    assert.equal(warned.mock.callCount(), 0);
  });

  test('an error inside a success of a copy and of a completion', async () => {
    await using opened = await open();
    const { store } = opened;
    await store.put('key', body, attributes);
    const upload = await store.startUpload('large', attributes);
    const part = await store.putPart(upload, { number: 1, offset: 0 }, bytesPart(body));
    using _ = opened.server.intercept(() => ({ do: 'answer', when: 'before', status: 200, code: 'InternalError' }));
    assert.equal((await transient(store.copy('key', 'other', attributes))).ambiguous, true);
    assert.equal((await transient(store.completeUpload(upload, [part]))).ambiguous, true);
  });
});

test('a listing of several pages is fetched page by page', async () => {
  await using opened = await open({ pageSize: 2 });
  for (const key of ['a', 'b', 'c', 'd', 'e']) await opened.store.put(key, body, attributes);
  const first = await opened.store.listPage('');
  assert.equal(first.objects.length, 2);
  const second = await opened.store.listPage('', first.next);
  const third = await opened.store.listPage('', second.next);
  assert.deepEqual([third.objects.map(({ key }) => key), third.next], [['e'], undefined]);
});

test('a completion that is answered without an ETag has none', async () => {
  await using opened = await open({ completeWithoutEtag: true });
  const upload = await opened.store.startUpload('large', attributes);
  const part = await opened.store.putPart(upload, { number: 1, offset: 0 }, bytesPart(body));
  assert.deepEqual(await opened.store.completeUpload(upload, [part]), { written: true });
});
