import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { type Compression, compress, decompress, decompressStream, type Form, forms } from '../../src/codec/codecs.ts';
import { runSuccessfully, skipWithout } from '../rig/process.ts';
import { noise, packagesLike } from './texts.ts';

const tools: Record<Form, string> = { gz: 'gzip', xz: 'xz', zst: 'zstd' };
const fox = 'The quick brown fox jumps over the lazy dog. '.repeat(3);

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function streamed(form: Compression, bytes: Uint8Array, chunkSize: number, limit: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decompressStream(form, inChunks(bytes, chunkSize), limit, 'The data')) pieces.push(piece);
  return Buffer.concat(pieces);
}

const samples = [0, 1, 5, 4096, 65_536, 65_537, 262_144, 700_001].map((size) => packagesLike(size, size + 1));
samples.push(noise(300_000), Buffer.alloc(1_500_000));

for (const form of forms) {
  describe(form, () => {
    test('gives back what was compressed, whole and in odd chunks', async () => {
      for (const sample of samples) {
        const packed = await compress(form, sample);
        assert.deepEqual(Buffer.from(await decompress(form, packed, sample.length, 'The data')), sample);
        assert.deepEqual(await streamed(form, packed, 1021, sample.length), sample);
      }
      const tiny = await compress(form, Buffer.from(fox));
      assert.equal((await streamed(form, tiny, 1, 1000)).toString(), fox);
    });

    test('gives the same bytes twice and leaves the input as it was', async () => {
      const sample = packagesLike(300_000);
      const before = Buffer.from(sample);
      const [first, second] = await Promise.all([compress(form, sample), compress(form, sample)]);
      assert.deepEqual(first, second);
      assert.deepEqual(sample, before);
      await decompress(form, first, sample.length, 'The data');
      assert.deepEqual(first, second);
    });

    const tool = tools[form];
    test(`writes what ${tool} reads and reads what it writes`, { skip: skipWithout(tool) }, async () => {
      for (const sample of samples) {
        const packed = await compress(form, sample);
        assert.deepEqual(await runSuccessfully(tool, ['-dc'], { input: packed }), sample);
        const theirs = await runSuccessfully(tool, ['-c'], { input: sample });
        assert.deepEqual(Buffer.from(await decompress(form, theirs, sample.length, 'The data')), sample);
      }
    });

    test('reads several members one after the other, wherever the chunks are cut', async () => {
      const parts = [packagesLike(5000, 1), Buffer.alloc(0), packagesLike(300, 2)];
      const packed = await Promise.all(parts.map((part) => compress(form, part)));
      for (const chunkSize of [1, 7, 64, packed[0]?.length ?? 0, 100_000]) {
        assert.deepEqual(await streamed(form, Buffer.concat(packed), chunkSize, 5300), Buffer.concat(parts));
      }
    });
  });
}

test('gzip output carries no time, no name and the same operating system everywhere', async () => {
  const packed = await compress('gz', Buffer.from(fox));
  assert.deepEqual([...packed.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3]);
});

// A new version of liblzma may change this sum: that is a change users see, and belongs in the changelog.
test('xz output has one known sum on every machine (invariant 8)', async () => {
  const packed = await compress('xz', packagesLike(200_000));
  const sum = createHash('sha256').update(packed).digest('hex');
  assert.equal(sum, '28ce7142618a6e5b14c6811ae18264ef7742a7f11d435acb58d46c260f5a9df3');
});

/** Text in every form that is read; the forms this project does not write come from xz 5.4.1 and bzip2 1.0.8. */
async function foxes(): Promise<Record<Exclude<Compression, 'none'>, Buffer>> {
  const [gz, xz, zst] = await Promise.all(forms.map((form) => compress(form, Buffer.from(fox))));
  assert(gz !== undefined && xz !== undefined && zst !== undefined);
  return {
    gz: Buffer.from(gz),
    xz: Buffer.from(xz),
    zst: Buffer.from(zst),
    lzma: Buffer.from(
      'XQAAgAD//////////wAqGgiiAyVm8Ut4xaIF/y7m2dIgGq00+OId6EE2+twGabs85BA0Jwnrs2bj7Tda6Brkd///+sCgAA==',
      'base64',
    ),
    bz2: Buffer.from(
      'QlpoOTFBWSZTWUAyupwAABATgEABBAA////wIABIz/1SgmTCM0jam0Qr9VHqNDQyYjQ2iGjps6ZJoTe3luhJCVSitw5aqLXxBiKUEOT0/EOj4qIKKQGMsWLi7kinChIIBldTgA==',
      'base64',
    ),
  };
}

const compressions = ['gz', 'xz', 'zst', 'lzma', 'bz2'] as const;

const damaged = { code: 'compressed-data-corrupt', what: /^The data of x\.deb is damaged: .*\.$/ };
const tooLarge = { code: 'decompression-limit', what: /^The data of x\.deb / };

async function refused(form: Compression, bytes: Uint8Array, expected: typeof damaged, limit = 1000): Promise<void> {
  await assert.rejects(decompress(form, bytes, limit, 'The data of x.deb'), expected);
}

for (const form of compressions) {
  test(`${form} data that ends early is refused at every length`, async () => {
    const packed = (await foxes())[form];
    for (let length = 0; length < packed.length; length += 1) await refused(form, packed.subarray(0, length), damaged);
  });

  test(`${form} data followed by anything else is refused, in the same chunk or another`, async () => {
    const packed = (await foxes())[form];
    for (const rest of ['garbage', '\0', '\0\0\0\0\0', 'B', '\x1f', '(']) {
      const bytes = Buffer.concat([packed, Buffer.from(rest, 'latin1')]);
      await refused(form, bytes, damaged);
      await assert.rejects(streamed(form, bytes, packed.length, 1000), { code: 'compressed-data-corrupt' });
    }
  });

  test(`${form} data under the name of another form is refused`, async () => {
    const packed = await foxes();
    for (const other of compressions) if (other !== form) await refused(other, packed[form], damaged);
  });

  test(`${form} data may unpack to exactly the limit, and to no byte more`, async () => {
    const packed = (await foxes())[form];
    assert.equal(Buffer.from(await decompress(form, packed, fox.length, 'The data')).toString(), fox);
    await refused(form, packed, tooLarge, fox.length - 1);
    await refused(form, packed, tooLarge, 0);
  });
}

for (const form of ['gz', 'xz', 'zst', 'bz2'] as const) {
  test(`a changed byte in ${form} data gives the same text or a refusal`, async () => {
    const packed = (await foxes())[form];
    let refusals = 0;
    for (let at = 0; at < packed.length; at += 1) {
      const changed = Buffer.from(packed);
      changed[at] = (changed[at] ?? 0) ^ 0x24;
      try {
        assert.equal(Buffer.from(await decompress(form, changed, 1000, 'The data')).toString(), fox);
      } catch (error) {
        assert(error instanceof Error && 'code' in error, String(error));
        assert.match(String(error.code), /^compressed-data-corrupt$|^decompression-limit$/);
        refusals += 1;
      }
    }
    // gzip's header has bytes that no checksum covers: time and operating system.
    assert(refusals >= packed.length - 10, `${refusals} of ${packed.length}`);
  });
}

test('uncompressed data passes through, up to the limit', async () => {
  const sample = noise(1000);
  assert.deepEqual(await streamed('none', sample, 100, 1000), sample);
  await refused('none', sample, tooLarge, 999);
});

for (const form of forms) {
  test(`${form} data that would fill the disk is given up at the limit, not after it`, async () => {
    const bomb = await compress(form, Buffer.alloc(8_000_000));
    let came = 0;
    const consume = async () => {
      for await (const piece of decompressStream(form, inChunks(bomb, 100), 1_000_000, 'The data'))
        came += piece.length;
    };
    await assert.rejects(consume, {
      code: 'decompression-limit',
      what: 'The data unpacks to more than 1000000 bytes.',
    });
    assert(came <= 1_000_000, `${came}`);
  });
}

test('a source is read no further than its consumer goes, and is closed when that stops', async () => {
  for (const form of forms) {
    const packed = await compress(form, noise(2_000_000));
    let read = 0;
    let closed = false;
    const source = async function* () {
      try {
        for await (const chunk of inChunks(packed, 10_000)) {
          read += chunk.length;
          yield chunk;
        }
      } finally {
        closed = true;
      }
    };
    for await (const _ of decompressStream(form, source(), 2_000_000, 'The data')) break;
    assert(read <= 600_000, `${form}: ${read}`);
    assert(closed);
  }
});

test('an error of the source comes through as it is', async () => {
  const packed = await foxes();
  for (const form of compressions) {
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield packed[form].subarray(0, 20);
      throw new Error('the disk is gone');
    };
    const consume = async () => {
      for await (const _ of decompressStream(form, source(), 1000, 'The data'));
    };
    await assert.rejects(consume, { message: 'the disk is gone' });
  }
});
