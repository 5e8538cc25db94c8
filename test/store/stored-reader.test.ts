import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/store/memory.ts';
import { putFile } from '../../src/store/multipart.ts';
import type { ByteRange, ObjectStore } from '../../src/store/object-store.ts';
import { singleRequestLimit } from '../../src/store/parts.ts';
import { storedReader } from '../../src/store/stored-reader.ts';
import { problemCode } from '../publish/problem-code.ts';
import { realClock } from './clocks.ts';

const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-cache' };

/** A store that holds `key`, and notes which ranges of it are asked for. */
async function holding(key: string, body: Uint8Array) {
  const store = new MemoryStore({ clock: realClock });
  await store.put(key, body, attributes);
  const asked: (ByteRange | undefined)[] = [];
  const get: ObjectStore['get'] = (name, range) => {
    asked.push(range);
    return store.get(name, range);
  };
  return { source: { get }, asked };
}

function copy(source: Pick<ObjectStore, 'get'>, target: ObjectStore, size: number, sha256: string, partSize?: number) {
  const open = () => storedReader(source, { key: 'pool/a.deb', size });
  const file = { path: 'pool/a.deb', size, open };
  return putFile(target, 'pool/a.deb', file, {
    ...attributes,
    sha256,
    ...(partSize === undefined ? {} : { partSize }),
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('an object on its way from one store into another', () => {
  test('is read in one request when it is small', async () => {
    const body = Buffer.from('hello');
    const { source, asked } = await holding('pool/a.deb', body);
    const target = new MemoryStore({ clock: realClock });
    await copy(source, target, body.length, sha256(body));
    const object = await target.get('pool/a.deb');
    assert.ok(object.found && body.equals(object.body));
    assert.deepEqual(asked, [undefined]);
  });

  test('is read piece by piece when it is large, each piece once', async () => {
    const body = Buffer.alloc(singleRequestLimit + 5, 'x');
    const { source, asked } = await holding('pool/a.deb', body);
    const target = new MemoryStore({ clock: realClock });
    await copy(source, target, body.length, sha256(body));
    const object = await target.get('pool/a.deb');
    assert.ok(object.found && body.equals(object.body));
    const part = singleRequestLimit / 2;
    assert.deepEqual(asked, [
      { offset: 0, length: part },
      { offset: part, length: part },
      { offset: 2 * part, length: 5 },
    ]);
  });

  test('does not appear when its bytes are not those that were promised', async () => {
    const body = Buffer.from('hello world');
    const { source } = await holding('pool/a.deb', body);
    for (const [size, hash, partSize] of [
      [body.length, sha256(Buffer.from('other')), undefined],
      [body.length, sha256(Buffer.from('other')), 4],
      [body.length + 3, sha256(body), undefined],
      [body.length + 3, sha256(body), 4],
      [body.length - 3, sha256(body), undefined],
    ] as const) {
      const target = new MemoryStore({ clock: realClock });
      await assert.rejects(copy(source, target, size, hash, partSize), problemCode('import-file-changed'));
      assert.deepEqual((await target.listPage('')).objects, []);
      assert.equal(target.openUploads, 0);
    }
  });

  test('that is not there is a problem that says so', async () => {
    const { source } = await holding('pool/b.deb', Buffer.from('other'));
    const target = new MemoryStore({ clock: realClock });
    await assert.rejects(copy(source, target, 5, sha256(Buffer.from('other'))), problemCode('import-file-missing'));
  });
});
