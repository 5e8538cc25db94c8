import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { compress, decompress } from '../../src/codec/codecs.ts';
import { DecoderFault } from '../../src/codec/faults.ts';
import { joinStreams, splitStream } from '../../src/codec/xz-container.ts';

/** Several files as one. */
const joinFiles = (files: readonly Uint8Array[]) => joinStreams(files.map(splitStream));

import { runSuccessfully, skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { packagesLike } from './texts.ts';

const skip = skipWithout('xz');
const parts = [packagesLike(3000, 1), packagesLike(70_001, 2), Buffer.alloc(0), packagesLike(200, 3)];

async function streams(): Promise<Uint8Array[]> {
  return Promise.all(parts.map((part) => compress('xz', part)));
}

test('streams are joined into one whose index names every block', async () => {
  const file = joinFiles(await streams());
  const { blocks } = splitStream(file);
  assert.deepEqual(
    blocks.map((block) => block.unpackedSize),
    [3000, 70_001, 200],
  );
  assert.deepEqual(Buffer.from(await decompress('xz', file, 73_201, 'The data')), Buffer.concat(parts));
});

test('joining one stream, or the parts of a joined one, changes nothing', async () => {
  const [first, second, , last] = await streams();
  assert(first !== undefined && second !== undefined && last !== undefined);
  assert.deepEqual(joinFiles([first]), first);
  assert.deepEqual(joinFiles([joinFiles([first, second]), last]), joinFiles([first, second, last]));
});

test('xz tests a joined stream and lists its blocks', { skip }, async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/joined.xz`;
  await writeFile(file, joinFiles(await streams()));
  await runSuccessfully('xz', ['-t', file]);
  const listing = (await runSuccessfully('xz', ['--robot', '-l', file])).toString();
  // file, streams, blocks, compressed size, uncompressed size, ratio, check
  assert.match(listing, /^file\t1\t3\t\d+\t73201\t[\d.]+\tCRC64\t/m);
});

test('a multi-block file that xz wrote is taken apart and put together again', { skip }, async () => {
  const theirs = await runSuccessfully('xz', ['-c', '--block-size=16384'], { input: packagesLike(100_000) });
  assert.equal(splitStream(theirs).blocks.length, 7);
  assert.deepEqual(Buffer.from(joinFiles([theirs])), theirs);
});

test('streams with different checks are not joined', { skip }, async () => {
  const [first] = await streams();
  assert(first !== undefined);
  const theirs = await runSuccessfully('xz', ['-c', '--check=crc32'], { input: 'x' });
  assert.throws(() => joinFiles([first, theirs]), RangeError);
  assert.throws(() => joinFiles([]), RangeError);
});

test('a damaged header, footer or index is refused', async () => {
  const file = Buffer.from(joinFiles(await streams()));
  const indexSize = (file.readUInt32LE(file.length - 8) + 1) * 4;
  const changeable = [
    ...Array.from({ length: 12 }, (_, index) => index),
    ...Array.from({ length: 12 + indexSize }, (_, index) => file.length - 1 - index),
  ];
  for (const at of changeable) {
    const changed = Buffer.from(file);
    changed[at] = (changed[at] ?? 0) ^ 0x11;
    assert.throws(() => splitStream(changed), DecoderFault, `byte ${at}`);
  }
  for (const end of [0, 11, 23, file.length - 4]) assert.throws(() => splitStream(file.subarray(0, end)), DecoderFault);
  assert.throws(() => splitStream(Buffer.concat([file, file])), DecoderFault);
});
