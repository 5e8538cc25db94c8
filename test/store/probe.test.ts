import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DirectoryStore } from '../../src/store/directory.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { type Probed, probe } from '../../src/store/probe.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { Quirks } from '../rig/s3-quirks.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { realClock, TestClock } from './clocks.ts';

const stores: readonly [string, Quirks, Probed, number][] = [
  ['as AWS', {}, { kind: 'enforced', etags: 'bare' }, 5],
  ['with opaque ETags', { opaqueEtags: true }, { kind: 'enforced', etags: 'bare' }, 5],
  ['as Ceph before 20', { ifMatchUnquotedOnly: true, raceLosers: 500 }, { kind: 'enforced', etags: 'bare' }, 5],
  [
    'that drops conditions without a word',
    { conditions: { 'put-if-none-match': 'ignored', 'put-if-match': 'ignored' } },
    { kind: 'none', etags: 'bare', weakness: 'ignored' },
    2,
  ],
  [
    'that answers 501 to conditions',
    { conditions: { 'put-if-none-match': 'refused', 'put-if-match': 'refused' } },
    { kind: 'none', etags: 'bare', weakness: 'refused' },
    1,
  ],
  [
    'that knows only If-None-Match',
    { conditions: { 'put-if-match': 'ignored' } },
    { kind: 'create-only', etags: 'bare', weakness: 'ignored' },
    3,
  ],
  [
    'that refuses only If-Match',
    { conditions: { 'put-if-match': 'refused' } },
    { kind: 'create-only', etags: 'bare', weakness: 'refused' },
    4,
  ],
];

for (const [title, quirks, expected, requests] of stores) {
  test(`a store ${title} is found to be ${expected.kind} in ${requests} requests, and again`, async () => {
    await using server = await startS3Server({ quirks });
    const { endpoint } = server;
    const settings = { bucket: 'apt', prefix: 'p', endpoint, forcePathStyle: true, credentials: rigCredentials };
    const store = new S3Store({ ...settings, version: 'test' });
    assert.deepEqual(await probe(store), expected);
    assert.equal(server.requests.length, requests);
    assert.deepEqual(await probe(store), expected);
    store.close();
    assert.ok(server.requests.every(({ verb, key }) => verb !== 'DELETE' && key === 'p/.apt-publish/probe'));
  });
}

test('a store that knows only quoted ETags is found out', async () => {
  await using server = await startS3Server();
  const { endpoint } = server;
  using _ = server.intercept(({ headers }) => {
    const bare = headers['if-match'] !== undefined && !`${headers['if-match']}`.startsWith('"');
    return bare ? { do: 'answer', when: 'before', status: 412, code: 'PreconditionFailed' } : undefined;
  });
  const settings = { bucket: 'apt', prefix: '', endpoint, forcePathStyle: true, credentials: rigCredentials };
  const store = new S3Store({ ...settings, version: 'test' });
  assert.deepEqual(await probe(store), { kind: 'enforced', etags: 'quoted' });
  store.close();
});

test('memory stores are found to be what they were told to be', async () => {
  const kinds = { enforced: 'enforced', 'create-only': 'create-only', ignored: 'none', refused: 'none' } as const;
  for (const conditions of ['enforced', 'create-only', 'ignored', 'refused'] as const) {
    const store = new MemoryStore({ clock: new TestClock(), conditions });
    assert.equal((await probe(store)).kind, kinds[conditions]);
  }
});

test('a directory holds conditions, and several probes at once agree', async () => {
  await using folder = await temporaryFolder();
  const probes = ['a', 'b', 'c'].map((writer) =>
    probe(new DirectoryStore({ root: join(folder.path, 'site'), clock: realClock, writer })),
  );
  for (const probed of await Promise.all(probes)) assert.deepEqual(probed, { kind: 'enforced', etags: 'bare' });
});
