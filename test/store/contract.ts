import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../src/problem.ts';
import {
  type ListedObject,
  listed,
  type ObjectStore,
  type PartBody,
  type PutOptions,
  TransientStoreError,
} from '../../src/store/object-store.ts';
import { bytesPart } from '../../src/store/part-body.ts';

/** A store under test. Every test gets a fresh, empty one. */
export interface StoreUnderTest extends AsyncDisposable {
  readonly store: ObjectStore;
}

export interface Abilities {
  /** Content-Type and Cache-Control are kept with an object. */
  readonly attributes: boolean;
  /** A completion of a multipart upload holds conditions. */
  readonly conditionalCompletion: boolean;
  /** Reason for which the whole contract is skipped. */
  readonly skip?: string | false;
}

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (body: Uint8Array) => new TextDecoder().decode(body);
const hash = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');

/** A part that is read as from a disk: into the given room, now more of it and now less. */
function readAsFromDisk(whole: Uint8Array): PartBody {
  return {
    ...bytesPart(whole),
    read: async (position, room) => {
      const length = Math.min(room.length, whole.length - position, 1 + (position % 7) * 100_000);
      room.set(whole.subarray(position, position + length));
      return room.subarray(0, length);
    },
  };
}

/** Keys that broke other tools: escapes of versions, blanks, what looks escaped already, and more than ASCII. */
const oddKeys = [
  'pool/main/g/g++/g++_1:2.0~rc1+dfsg-1_amd64.deb',
  'pool/a b/c%20d/100%.deb',
  'pool/ünï/日本.deb',
  "pool/quo'te/(a)!*&=$,;@#?[x].deb",
];

async function everything(store: ObjectStore, prefix: string): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const object of listed(store, prefix)) objects.push(object);
  return objects;
}

/** What the port promises, as tests over one store or one layer. */
export function storeContract(name: string, open: () => Promise<StoreUnderTest>, abilities: Abilities): void {
  const put = (store: ObjectStore, key: string, body: string, options: Partial<PutOptions> = {}) =>
    store.put(key, bytes(body), { ...attributes, ...options });
  /** Ceph before 20 answers 500 to most losers of a race: an error that says nothing, as the port allows. */
  const contend = (...args: Parameters<typeof put>) =>
    put(...args).catch((error: unknown) => {
      if (error instanceof TransientStoreError && error.ambiguous) return { written: false } as const;
      throw error;
    });
  const read = async (store: ObjectStore, key: string) => {
    const object = await store.get(key);
    return object.found ? text(object.body) : undefined;
  };
  const check = (title: string, body: (store: ObjectStore) => Promise<void>) =>
    test(title, async () => {
      await using opened = await open();
      await body(opened.store);
    });

  describe(`${name} keeps the contract of a store`, { skip: abilities.skip ?? false }, () => {
    check('a missing object is a value, for get, head and copy', async (store) => {
      assert.deepEqual(await store.get('dists/sid/InRelease'), { found: false });
      assert.deepEqual(await store.head('dists/sid/InRelease'), { found: false });
      assert.deepEqual(await store.copy('a/missing', 'b', attributes), { found: false });
      assert.deepEqual(await store.get('b'), { found: false });
    });

    check('a range of an object is read, as far as there is one', async (store) => {
      await put(store, 'a/b', 'hello world');
      const piece = async (offset: number, length: number) => {
        const found = await store.get('a/b', { offset, length });
        return found.found ? text(found.body) : undefined;
      };
      assert.deepEqual([await piece(0, 5), await piece(6, 5), await piece(9, 100)], ['hello', 'world', 'ld']);
      assert.equal(await piece(11, 1), undefined);
      assert.deepEqual(await store.get('a/missing', { offset: 0, length: 5 }), { found: false });
    });

    check('what was written is read, with the ETag that the write returned, its size, age and hash', async (store) => {
      const body = bytes('hello');
      const written = await store.put('a/b', body, { ...attributes, sha256: hash(body) });
      assert.ok(written.written);
      const found = await store.get('a/b');
      assert.ok(found.found);
      assert.equal(text(found.body), 'hello');
      assert.equal(found.etag, written.etag);
      assert.ok((found.age ?? 0) >= 0 && (found.age ?? 0) < 60);
      const head = await store.head('a/b');
      assert.ok(head.found);
      assert.deepEqual([head.size, head.etag, head.sha256], [5, written.etag, hash(body)]);
      assert.doesNotMatch(found.etag, /"/);
      if (abilities.attributes) {
        assert.deepEqual([head.contentType, head.cacheControl], [attributes.contentType, attributes.cacheControl]);
      }
    });

    check('an empty object and one of every byte value come back as they were', async (store) => {
      const all = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
      await store.put('empty', new Uint8Array(), attributes);
      await store.put('all', all, attributes);
      const [empty, back] = [await store.get('empty'), await store.get('all')];
      assert.ok(empty.found && back.found);
      assert.equal(empty.body.byteLength, 0);
      assert.equal(hash(back.body), hash(all));
    });

    check('a view into a larger buffer is written as the view only, and may change afterwards', async (store) => {
      const large = bytes('before|body|after');
      await store.put('view', large.subarray(7, 11), attributes);
      large.fill(0);
      assert.equal(await read(store, 'view'), 'body');
    });

    check('a write without a condition replaces', async (store) => {
      await put(store, 'key', 'one');
      await put(store, 'key', 'two');
      assert.equal(await read(store, 'key'), 'two');
    });

    check('`absent` creates once and never replaces', async (store) => {
      assert.equal((await put(store, 'a/key', 'one', { condition: { absent: true } })).written, true);
      assert.deepEqual(await put(store, 'a/key', 'two', { condition: { absent: true } }), { written: false });
      assert.equal(await read(store, 'a/key'), 'one');
      await store.delete(['a/key']);
      assert.equal((await put(store, 'a/key', 'three', { condition: { absent: true } })).written, true);
    });

    check('`etag` replaces exactly the object it was read from', async (store) => {
      const first = await put(store, 'key', 'one');
      assert.ok(first.written && first.etag !== undefined);
      const second = await put(store, 'key', 'two', { condition: { etag: first.etag } });
      assert.ok(second.written && second.etag !== undefined);
      assert.deepEqual(await put(store, 'key', 'three', { condition: { etag: first.etag } }), { written: false });
      assert.equal(await read(store, 'key'), 'two');
      assert.equal((await put(store, 'key', 'four', { condition: { etag: second.etag } })).written, true);
    });

    check('`etag` on an object that is gone is a failed precondition and writes nothing', async (store) => {
      const first = await put(store, 'key', 'one');
      assert.ok(first.written && first.etag !== undefined);
      await store.delete(['key']);
      assert.deepEqual(await put(store, 'key', 'two', { condition: { etag: first.etag } }), { written: false });
      assert.equal(await read(store, 'key'), undefined);
    });

    check('of many that create one key at once exactly one wins, and its bytes stay', async (store) => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          contend(store, 'race', `writer ${index}`, { condition: { absent: true } }),
        ),
      );
      const winners = answers.flatMap((answer, index) => (answer.written ? [index] : []));
      assert.equal(winners.length, 1);
      assert.equal(await read(store, 'race'), `writer ${winners[0]}`);
    });

    check('of many that replace one state at once exactly one wins, and its bytes stay', async (store) => {
      const first = await put(store, 'race', 'start');
      assert.ok(first.written && first.etag !== undefined);
      const condition = { etag: first.etag };
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => contend(store, 'race', `writer ${index}`, { condition })),
      );
      const winners = answers.flatMap((answer, index) => (answer.written ? [index] : []));
      assert.equal(winners.length, 1);
      assert.equal(await read(store, 'race'), `writer ${winners[0]}`);
    });

    check('a copy has the bytes of its source and the attributes it was given', async (store) => {
      const body = bytes('index');
      await store.put('from/by-hash/1', body, { ...attributes, sha256: hash(body) });
      await put(store, 'to', 'older');
      const copied = await store.copy('from/by-hash/1', 'to', {
        contentType: 'application/gzip',
        cacheControl: 'max-age=1',
        sha256: hash(body),
      });
      assert.ok('written' in copied && copied.written);
      assert.equal(await read(store, 'to'), 'index');
      const head = await store.head('to');
      assert.ok(head.found);
      assert.equal(head.sha256, hash(body));
      if (abilities.attributes) {
        assert.deepEqual([head.contentType, head.cacheControl], ['application/gzip', 'max-age=1']);
      }
    });

    for (const key of oddKeys) {
      check(`the key ${key} is written, read, listed, copied and deleted`, async (store) => {
        await put(store, key, 'odd');
        assert.equal(await read(store, key), 'odd');
        assert.deepEqual(
          (await everything(store, 'pool/')).map((object) => object.key),
          [key],
        );
        assert.ok('written' in (await store.copy(key, 'copy', attributes)));
        assert.equal(await read(store, 'copy'), 'odd');
        await store.copy('copy', `${key}.2`, attributes);
        await store.delete([key, `${key}.2`]);
        assert.deepEqual(await everything(store, 'pool/'), []);
      });
    }

    check('a listing has all keys that begin with the prefix, and no others, with sizes and times', async (store) => {
      const keys = ['pool/a/1', 'pool/a/22', 'pool/ab/333', 'pool/b/4444', 'poolside/5', '.apt-publish/sid.json'];
      await Promise.all(keys.map((key) => put(store, key, key)));
      const under = async (prefix: string) => (await everything(store, prefix)).map(({ key }) => key).sort();
      assert.deepEqual(await under('pool/a'), ['pool/a/1', 'pool/a/22', 'pool/ab/333']);
      assert.deepEqual(await under('pool/a/'), ['pool/a/1', 'pool/a/22']);
      assert.deepEqual(await under('nothing/'), []);
      assert.deepEqual(await under(''), keys.toSorted());
      for (const { key, size, modified } of await everything(store, 'pool/')) {
        assert.equal(size, key.length);
        assert.ok(Math.abs(modified - Date.now()) < 60_000);
      }
    });

    check('a delete removes what there is, takes what is missing for done, and leaves the rest', async (store) => {
      await Promise.all(['a/1', 'a/2', 'a/3'].map((key) => put(store, key, key)));
      await store.delete(['a/1', 'a/missing', 'a/2', 'b/missing']);
      await store.delete(['a/missing']);
      await store.delete([]);
      assert.deepEqual(
        (await everything(store, '')).map(({ key }) => key),
        ['a/3'],
      );
    });

    check('a multipart upload shows nothing before its completion and everything after it', async (store) => {
      const size = 5 * 1024 ** 2;
      const whole = Buffer.alloc(2 * size + 7, 'apt');
      const upload = await store.startUpload('pool/large.deb', { ...attributes, sha256: hash(whole) });
      const parts = await Promise.all(
        [2, 0, 1].map((index) => {
          const offset = index * size;
          return store.putPart(upload, { number: index + 1, offset }, bytesPart(whole.subarray(offset, offset + size)));
        }),
      );
      assert.deepEqual(await store.get('pool/large.deb'), { found: false });
      assert.deepEqual(await everything(store, 'pool/'), []);
      assert.equal((await store.completeUpload(upload, parts)).written, true);
      const back = await store.get('pool/large.deb');
      assert.ok(back.found);
      assert.equal(hash(back.body), hash(whole));
      const head = await store.head('pool/large.deb');
      assert.ok(head.found);
      assert.deepEqual([head.size, head.sha256], [whole.length, hash(whole)]);
    });

    check('the memory of bytes that were written may be used for others', async (store) => {
      const room = Buffer.from('first');
      await store.put('a/b', room, attributes);
      const upload = await store.startUpload('pool/x.deb', attributes);
      const part = await store.putPart(upload, { number: 1, offset: 0 }, bytesPart(room));
      room.fill('x');
      await store.completeUpload(upload, [part]);
      assert.deepEqual([await read(store, 'a/b'), await read(store, 'pool/x.deb')], ['first', 'first']);
    });

    check('parts are read in whatever pieces they come, into memory that is used again', async (store) => {
      const size = 5 * 1024 ** 2;
      const whole = randomBytes(6 * size);
      const upload = await store.startUpload('pool/large.deb', attributes);
      const parts = [0, 1, 2, 3, 4, 5].map(async (index) => {
        const body = readAsFromDisk(whole.subarray(index * size, (index + 1) * size));
        return store.putPart(upload, { number: index + 1, offset: index * size }, body);
      });
      await store.completeUpload(upload, await Promise.all(parts));
      const back = await store.get('pool/large.deb');
      assert.ok(back.found && whole.equals(back.body));
    });

    check(
      'a part that cannot be read to its end is the failure of its reading, and the store goes on',
      async (store) => {
        const upload = await store.startUpload('pool/large.deb', attributes);
        const part = bytesPart(Buffer.alloc(3 * 1024 ** 2, 'apt'));
        const failure = new Problem({
          code: 'file-changed',
          title: 'It changed',
          what: 'It changed.',
          advice: 'Wait.',
        });
        const broken: PartBody = {
          ...part,
          read: async (position) => {
            if (position > 2 * 1024 ** 2) throw failure;
            return (await part.read(position, Buffer.alloc(0))).subarray(0, 700_000);
          },
        };
        const sending = store.putPart(upload, { number: 1, offset: 0 }, broken);
        const waiting = sleep(10_000, undefined, { ref: false });
        await assert.rejects(Promise.race([sending, waiting]), failure, 'not one that waits for the rest of the part');
        const sent = await store.putPart(upload, { number: 1, offset: 0 }, part);
        assert.equal((await store.completeUpload(upload, [sent])).written, true);
      },
    );

    check('an aborted upload leaves nothing, and may be aborted again', async (store) => {
      const upload = await store.startUpload('pool/large.deb', attributes);
      await store.putPart(upload, { number: 1, offset: 0 }, bytesPart(bytes('part')));
      await store.abortUpload(upload);
      await store.abortUpload(upload);
      assert.deepEqual(await store.get('pool/large.deb'), { found: false });
      assert.deepEqual(await everything(store, ''), []);
    });

    const skip = abilities.conditionalCompletion ? false : 'this store ignores conditions on completions';
    test('a completion with `absent` does not replace', { skip }, async () => {
      await using opened = await open();
      const { store } = opened;
      await put(store, 'pool/x.deb', 'first');
      const upload = await store.startUpload('pool/x.deb', attributes);
      const part = await store.putPart(upload, { number: 1, offset: 0 }, bytesPart(bytes('second')));
      assert.deepEqual(await store.completeUpload(upload, [part], { absent: true }), { written: false });
      assert.equal(await read(store, 'pool/x.deb'), 'first');
    });
  });
}
