import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sumFile } from '../../src/codec/file-sums.ts';
import { Summing } from '../../src/codec/sums.ts';
import { workers } from '../../src/codec/workers.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const hex = (algorithm: 'md5' | 'sha256', bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');

/** By a way of its own: all bytes at hand. */
function expected(bytes: Uint8Array, partSize?: number) {
  const starts =
    partSize === undefined ? [] : Array.from({ length: Math.ceil(bytes.length / partSize) }, (_, n) => n * partSize);
  const parts = starts
    .map((start) => bytes.subarray(start, start + (partSize ?? 0)))
    .map((part) => hex('sha256', part));
  return { md5: hex('md5', bytes), sha256: hex('sha256', bytes), parts };
}

test('sums do not depend on how the bytes come', () => {
  const bytes = randomBytes(1000);
  for (const partSize of [undefined, 1, 7, 250, 999, 1000, 1001]) {
    for (const chunk of [1, 3, 250, 600, 1000]) {
      const summing = new Summing(partSize);
      for (let at = 0; at < bytes.length; at += chunk) summing.update(bytes.subarray(at, at + chunk));
      assert.deepEqual(summing.end(), expected(bytes, partSize), `parts of ${partSize}, chunks of ${chunk}`);
    }
  }
});

test('a file is summed by another thread, in more steps than one', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'file');
  const bytes = randomBytes(9 * 1024 ** 2 + 1);
  await writeFile(path, bytes);
  await using handle = await open(path);
  const { fd } = handle;
  assert.deepEqual(await sumFile({ fd, size: bytes.length }, workers), expected(bytes));
  const partSize = 4 * 1024 ** 2;
  assert.deepEqual(await sumFile({ fd, size: bytes.length, partSize }, workers), expected(bytes, partSize));
  assert.equal(await sumFile({ fd, size: bytes.length + 1 }, workers), undefined, 'a file that ends early has no sums');
});

test('a file that cannot be read is an error of the system', async () => {
  await using folder = await temporaryFolder();
  await using handle = await open(folder.path);
  await assert.rejects(sumFile({ fd: handle.fd, size: 10 }, workers), { code: 'EISDIR' });
});
