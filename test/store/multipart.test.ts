import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Summing } from '../../src/codec/sums.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { putFile } from '../../src/store/multipart.ts';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { singleRequestLimit } from '../../src/store/parts.ts';
import { S3Store } from '../../src/store/s3.ts';
import { stampOf } from '../../src/store/source-file.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { TestClock } from './clocks.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'immutable' } as const;

interface Watched {
  readonly inner: MemoryStore;
  readonly store: ObjectStore;
  readonly parts: { number: number; offset: number; length: number; sha256: string }[];
  mostParts(): number;
}

/** A memory store that tells of its parts; the part `failing` fails after the others in flight had time to end. */
function watched(failing?: number): Watched {
  const inner = new MemoryStore({ clock: new TestClock() });
  const parts: Watched['parts'] = [];
  let now = 0;
  let most = 0;
  const putPart: ObjectStore['putPart'] = async (upload, part, body) => {
    parts.push({ ...part, length: body.length, sha256: body.sha256 });
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 2));
    now -= 1;
    if (part.number === failing) throw new TransientStoreError({ kind: 'server', ambiguous: true, message: 'no' });
    return inner.putPart(upload, part, body);
  };
  const store = new Proxy<ObjectStore>(inner, {
    get: (target, name: keyof ObjectStore) => (name === 'putPart' ? putPart : target[name].bind(target)),
  });
  return { inner, store, parts, mostParts: () => most };
}

async function file(folder: string, bytes: Uint8Array) {
  const path = join(folder, 'package.deb');
  await writeFile(path, bytes);
  return { path, size: bytes.byteLength, sha256: createHash('sha256').update(bytes).digest('hex') };
}

test('a small file is one PUT, an empty one too', async () => {
  await using folder = await temporaryFolder();
  for (const content of ['', 'small']) {
    const { store, inner, parts } = watched();
    const { sha256, ...small } = await file(folder.path, Buffer.from(content));
    assert.equal((await putFile(store, 'pool/x.deb', small, { ...attributes, sha256 })).written, true);
    const back = await inner.get('pool/x.deb');
    assert.ok(back.found);
    assert.equal(Buffer.from(back.body).toString(), content);
    assert.deepEqual([parts.length, inner.openUploads], [0, 0]);
  }
});

test('a file over the limit goes in parts of 8 MiB, with its attributes, and over S3 no request is larger', async () => {
  await using folder = await temporaryFolder();
  await using server = await startS3Server({ quirks: { maxBody: 8 * 1024 ** 2 } });
  const { endpoint } = server;
  const settings = { bucket: 'apt', prefix: '', endpoint, forcePathStyle: true, credentials: rigCredentials };
  const store = new S3Store({ ...settings, version: 'test' });
  const { sha256, ...large } = await file(folder.path, Buffer.alloc(singleRequestLimit + 5, 'apt'));
  assert.equal((await putFile(store, 'pool/x.deb', large, { ...attributes, sha256 })).written, true);
  const head = await store.head('pool/x.deb');
  assert.ok(head.found);
  assert.deepEqual([head.size, head.sha256, head.cacheControl], [large.size, sha256, 'immutable']);
  const back = await store.get('pool/x.deb');
  assert.ok(back.found);
  assert.equal(createHash('sha256').update(back.body).digest('hex'), sha256);
  const again = await putFile(store, 'pool/x.deb', large, { ...attributes, sha256, condition: { absent: true } });
  assert.deepEqual(again, { written: false });
  assert.equal(server.objects('apt').uploads.size, 0);
  store.close();
});

test('parts are in order, of one size but the last, and at most four are in memory', async () => {
  await using folder = await temporaryFolder();
  const { store, parts, mostParts, inner } = watched();
  const { sha256, ...whole } = await file(folder.path, Buffer.from('0123456789'.repeat(10).concat('tail')));
  await putFile(store, 'pool/x.deb', whole, { ...attributes, sha256, partSize: 10 });
  assert.deepEqual(
    parts.map(({ number, offset, length }) => [number, offset, length]),
    Array.from({ length: 11 }, (_, index) => [index + 1, index * 10, index === 10 ? 4 : 10]),
  );
  assert.equal(mostParts(), 4);
  const back = await inner.get('pool/x.deb');
  assert.ok(back.found);
  assert.equal(Buffer.from(back.body).toString(), '0123456789'.repeat(10).concat('tail'));
});

test('after a failed part nothing more is sent, and no upload stays open', async () => {
  await using folder = await temporaryFolder();
  const { store, parts, inner } = watched(2);
  const { path, size } = await file(folder.path, Buffer.alloc(200, 'x'));
  await assert.rejects(putFile(store, 'pool/x.deb', { path, size }, { ...attributes, partSize: 10 }), {
    name: 'TransientStoreError',
  });
  assert.ok(parts.length < 10, `${parts.length} parts were sent`);
  assert.equal(inner.openUploads, 0);
  assert.deepEqual(await inner.get('pool/x.deb'), { found: false });
});

test('a lost condition leaves the object as it was and no upload open', async () => {
  await using folder = await temporaryFolder();
  const { store, inner } = watched();
  await inner.put('pool/x.deb', Buffer.from('first'), attributes);
  const { path, size } = await file(folder.path, Buffer.alloc(50, 'x'));
  const options = { ...attributes, condition: { absent: true }, partSize: 10 } as const;
  assert.deepEqual(await putFile(store, 'pool/x.deb', { path, size }, options), { written: false });
  assert.equal(inner.openUploads, 0);
});

for (const partSize of [undefined, 10]) {
  const how = partSize === undefined ? 'in one request' : 'in parts';
  test(`a file that is not what was scanned any more is not published, ${how}`, async () => {
    await using folder = await temporaryFolder();
    const { store, inner } = watched();
    const scanned = await file(folder.path, Buffer.alloc(50, 'x'));
    const options = { ...attributes, sha256: scanned.sha256, ...(partSize === undefined ? {} : { partSize }) };
    for (const now of [Buffer.alloc(50, 'y'), Buffer.alloc(30, 'x')]) {
      await writeFile(scanned.path, now);
      await assert.rejects(putFile(store, 'pool/x.deb', scanned, options), { code: 'file-changed' });
    }
    assert.equal(inner.openUploads, 0);
    assert.deepEqual(await inner.get('pool/x.deb'), { found: false });
  });
}

test('what was scanned goes with the hash of each part, and whatever happens to the file before its last part is sent is seen', async () => {
  await using folder = await temporaryFolder();
  const bytes = Buffer.from('0123456789'.repeat(4).concat('tail'));
  const { path, size, sha256 } = await file(folder.path, bytes);
  const scan = async () => {
    const summing = new Summing(10);
    summing.update(bytes);
    return { path, size, scanned: { stamp: stampOf(await stat(path, { bigint: true })), parts: summing.end().parts } };
  };
  const options = { ...attributes, sha256, partSize: 10 };
  const { store, parts, mostParts } = watched();
  assert.equal((await putFile(store, 'pool/x.deb', await scan(), options)).written, true);
  // Read as they are sent, they need not be few.
  assert.equal(mostParts(), 5);
  const tail = createHash('sha256').update('tail').digest('hex');
  assert.deepEqual(parts.at(-1), { number: 5, offset: 40, length: 4, sha256: tail });

  const other = join(folder.path, 'other');
  const changes = {
    'is overwritten': () => writeFile(path, bytes.toReversed()),
    'is overwritten, and its time set back': async () => {
      const { atime, mtime } = await stat(path);
      await writeFile(path, bytes.toReversed());
      await utimes(path, atime, mtime);
    },
    grows: () => appendFile(path, 'x'),
    'is replaced': async () => {
      await writeFile(other, bytes);
      await rename(other, path);
    },
  };
  for (const [how, change] of Object.entries(changes)) {
    for (const when of ['before the upload', 'during the upload']) {
      const { store, inner } = watched();
      await writeFile(path, bytes);
      const scanned = await scan();
      // Longer than the clock of the file system stands still.
      await sleep(20);
      const changing = new Proxy(store, {
        get: (target, name: keyof ObjectStore) =>
          name === 'startUpload' && when === 'during the upload'
            ? async (key: string, given: typeof attributes) => {
                const upload = await target.startUpload(key, given);
                await change();
                return upload;
              }
            : target[name].bind(target),
      });
      if (when === 'before the upload') await change();
      const sending = putFile(changing, 'pool/y.deb', scanned, options);
      await assert.rejects(sending, { code: 'file-changed' }, `${how} ${when}`);
      assert.equal(inner.openUploads, 0);
      assert.deepEqual(await inner.get('pool/y.deb'), { found: false });
    }
  }
});
