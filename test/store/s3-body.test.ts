import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBody } from '../../src/store/s3-body.ts';

async function* chunks(...parts: string[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

test('a body is read whole, with and without an announced length', async () => {
  assert.equal(`${await readBody(chunks('ab', 'c'), 3, 'key')}`, 'abc');
  assert.equal(`${await readBody(chunks('ab', 'c'), undefined, 'key')}`, 'abc');
  assert.equal((await readBody(undefined, 0, 'key')).byteLength, 0);
});

test('a body of another length than announced may come right the next time', async () => {
  const transient = { name: 'TransientStoreError', kind: 'connection' };
  await assert.rejects(readBody(chunks('ab'), 3, 'key'), transient);
  await assert.rejects(readBody(chunks('abcd'), 3, 'key'), transient);
  await assert.rejects(readBody(undefined, 3, 'key'), transient);
});

test('a body over the limit is refused before it is read when announced, else as soon as it is known', async () => {
  const tooLarge = { name: 'Problem', code: 'store-read-too-large' };
  await assert.rejects(readBody(chunks('a'), 2 ** 40, 'key'), tooLarge);
  const block = Buffer.alloc(64 * 1024 ** 2);
  let sent = 0;
  const endless = (async function* () {
    for (;;) {
      sent += 1;
      yield block;
    }
  })();
  await assert.rejects(readBody(endless, undefined, 'key'), tooLarge);
  assert.equal(sent, 17);
});
