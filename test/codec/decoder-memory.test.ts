import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { compress, decompress } from '../../src/codec/codecs.ts';
import { packagesLike } from './texts.ts';

const refusal = {
  code: 'decompression-limit',
  what: 'The data of x.deb needs more than 128 MiB of memory to unpack.',
};

/** An .xz file whose block header asks for a dictionary by `code` (The .xz File Format 1.2.1, section 5.3.1). */
async function xzWithDictionary(code: number): Promise<Uint8Array> {
  const file = Buffer.from(await compress('xz', packagesLike(1000)));
  // Stream header (12), then the block header: its size, flags, filter 0x21, one byte of properties, the dictionary.
  assert.deepEqual([...file.subarray(12, 16)], [2, 0, 0x21, 1]);
  file[16] = code;
  file.writeUInt32LE(crc32(file.subarray(12, 20)), 20);
  return file;
}

test('an xz dictionary of 64 MiB, the largest that presets use, is read', async () => {
  const unpacked = await decompress('xz', await xzWithDictionary(28), 1000, 'The data of x.deb');
  assert.deepEqual(Buffer.from(unpacked), packagesLike(1000));
});

test('an xz header that asks for more memory than allowed is refused', async () => {
  for (const code of [30, 36, 40]) {
    await assert.rejects(decompress('xz', await xzWithDictionary(code), 1000, 'The data of x.deb'), refusal);
  }
});

test('an lzma header that asks for more memory than allowed is refused', async () => {
  const header = Buffer.from('5d000000c0ffffffffffffffff00', 'hex');
  await assert.rejects(decompress('lzma', header, 1000, 'The data of x.deb'), refusal);
});

/** A zstd frame of one raw block of one byte, with a window of 2^(10 + exponent) bytes (RFC 8878, section 3.1.1.1.2). */
function zstdWithWindow(exponent: number): Uint8Array {
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, exponent << 3, 0x09, 0x00, 0x00, 0x78);
}

test('a zstd window of 128 MiB is read, and a larger one refused', async () => {
  const unpacked = await decompress('zst', zstdWithWindow(17), 1000, 'The data of x.deb');
  assert.equal(Buffer.from(unpacked).toString(), 'x');
  for (const exponent of [18, 21, 31]) {
    await assert.rejects(decompress('zst', zstdWithWindow(exponent), 1000, 'The data of x.deb'), refusal);
  }
});
