import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { constants, gunzipSync, zstdCompressSync } from 'node:zlib';
import { segments } from '../../src/codec/carry.ts';
import { compress, decompress } from '../../src/codec/codecs.ts';
import { splitFrames } from '../../src/codec/zstd-frames.ts';
import { machineHas } from '../debs.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** Stanzas that differ, `count` of them, as an index has them. */
function index(count: number, seed = 1): Buffer {
  let state = seed;
  const word = () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state.toString(36);
  };
  const stanza = (number: number) =>
    `Package: p${String(number).padStart(6, '0')}\nVersion: ${word()}\nDescription: ${word()} ${word()} ${word()}\n\n`;
  return Buffer.from(Array.from({ length: count }, (_, number) => stanza(number)).join(''));
}

function inserted(content: Buffer, at: number, text: string): Buffer {
  return Buffer.concat([content.subarray(0, at), Buffer.from(text), content.subarray(at)]);
}

/** How many bytes of one file stand in the other as runs of 4 KiB. */
function shared(one: Uint8Array, other: Uint8Array): number {
  const haystack = Buffer.from(other);
  let bytes = 0;
  for (let at = 0; at + 4096 <= one.length; at += 4096)
    if (haystack.includes(Buffer.from(one.subarray(at, at + 4096)))) bytes += 4096;
  return bytes;
}

describe('segments', () => {
  const published = Buffer.from('aaaaaaaabbbbbbbbccccccccdddddddd');
  const ends = [8, 16, 24, 32];

  for (const [what, content, expected] of [
    ['nothing changed', 'aaaaaaaabbbbbbbbccccccccdddddddd', [0, 1, 2, 3]],
    ['something came in between', 'aaaaaaaabbbbXbbbbccccccccdddddddd', [0, [8, 13], [13, 17], 2, 3]],
    ['something came at a boundary', 'aaaaaaaaXbbbbbbbbccccccccdddddddd', [0, [8, 9], 1, 2, 3]],
    ['something left', 'aaaaaaaabbbccccccccdddddddd', [0, [8, 11], 2, 3]],
    ['a whole block left', 'aaaaaaaaccccccccdddddddd', [0, 2, 3]],
    ['the end was cut', 'aaaaaaaabbbbbbbbcccc', [0, 1, [16, 20]]],
    ['everything is new', 'xyz', [[0, 3]]],
    ['nothing is left', '', []],
  ] as const) {
    test(`carry what stands unchanged when ${what}`, () => {
      const found = segments(published, ends, Buffer.from(content), { block: 8, changed: 8 });
      assert.deepEqual(
        found.map((segment) => ('block' in segment ? segment.block : [segment.start, segment.end])),
        expected,
      );
    });
  }

  test('cut what changes smaller than what is new', () => {
    const cut = (content: string, blockEnds = ends) =>
      segments(published, blockEnds, Buffer.from(content), { block: 8, changed: 4 }).map((segment) =>
        'block' in segment ? segment.block : segment.end - segment.start,
      );
    assert.deepEqual(cut('aaaaaaaabbbbXbbbccccccccdddddddd'), [0, 4, 4, 2, 3]);
    assert.deepEqual(cut('aaaaaaaabbbbbbbbcccccccc'.concat('z'.repeat(20))), [0, 1, 2, 7, 7, 6]);
    assert.deepEqual(cut('aaaaaaaabbbbXbbb', []), [8, 8]);
  });
});

const tools = { gz: 'gzip', xz: 'xz', zst: 'zstd' } as const;
const aptHelper = '/usr/lib/apt/apt-helper';

// Enough for several pieces; xz takes ten times as long.
for (const [form, count] of [
  ['gz', 40_000],
  ['xz', 20_000],
  ['zst', 40_000],
] as const) {
  describe(`a large index as .${form}`, () => {
    test('carries most of its published bytes over when a stanza comes in, and decodes to the new content', async () => {
      const content = index(count);
      const packed = await compress(form, content);
      const next = inserted(content, content.indexOf('Package: p010000'), 'Package: p009999a\nVersion: 1\n\n');
      const nextPacked = await compress(form, next, { packed, content });
      assert.deepEqual(Buffer.from(await decompress(form, nextPacked, next.length, 'the file')), next);
      assert.ok(shared(nextPacked, packed) > 0.3 * packed.length);
      assert.deepEqual(
        await compress(form, next, { packed, content }),
        nextPacked,
        'the same arguments give the same bytes',
      );
    });

    test('survives a life of changes', async () => {
      let content = index(count, 7);
      let packed = await compress(form, content);
      for (const step of [3, 19_000, 10_001]) {
        const at = content.indexOf(`Package: p${String(step).padStart(6, '0')}`);
        const grown = inserted(
          content,
          at,
          `Package: p${String(step).padStart(6, '0')}a\nVersion: ${'9'.repeat(step)}\n\n`,
        );
        const next = Buffer.concat([grown.subarray(0, 100_000), grown.subarray(100_200)]);
        packed = Buffer.from(await compress(form, next, { packed, content }));
        content = next;
        assert.deepEqual(Buffer.from(await decompress(form, packed, content.length, 'the file')), content);
      }
      if (machineHas(tools[form])) {
        const { stdout } = spawnSync(tools[form], ['-dc'], { input: packed, maxBuffer: 2 ** 30 });
        assert.ok(stdout.equals(content), `${tools[form]} reads it`);
      }
      if (existsSync(aptHelper)) {
        await using folder = await temporaryFolder();
        const path = join(folder.path, `Packages.${form}`);
        await writeFile(path, packed);
        const { stdout } = spawnSync(aptHelper, ['cat-file', path], { maxBuffer: 2 ** 30 });
        assert.ok(stdout.equals(content), 'apt reads it');
      }
      if (form === 'gz') assert.ok(gunzipSync(packed).equals(content));
    });

    test('is compressed anew when the published form is of another make', async () => {
      const content = index(count);
      for (const packed of [
        Buffer.from('nothing of the kind'),
        Buffer.alloc(0),
        (await compress(form, content)).subarray(5),
      ]) {
        const packedAnew = await compress(form, content, { packed, content });
        assert.deepEqual(packedAnew, await compress(form, content));
      }
    });
  });
}

test('a large .gz has one member, so that readers which stop after the first read all of it', async () => {
  const content = index(40_000);
  const packed = Buffer.from(await compress('gz', content));
  assert.equal(
    packed.readUInt32LE(packed.length - 4),
    content.length,
    'the size in the only trailer is that of the whole',
  );
});

describe('the frames of a .zst', () => {
  const content = Buffer.from('content '.repeat(100));
  const options = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
  const frame = (bytes: Buffer) => zstdCompressSync(bytes, { ...options, pledgedSrcSize: bytes.length });

  test('are found by what they say themselves, whatever their size', () => {
    // The size of the content takes one, two, four bytes; blocks are raw, repeated or compressed, one or several.
    const bodies = [content.subarray(0, 100), content, Buffer.alloc(70_000, 'x'), Buffer.alloc(0), index(10_000)];
    const frames = bodies.map(frame);
    const size = bodies.reduce((sum, { length }) => sum + length, 0);
    const found = splitFrames(Buffer.concat(frames), size) ?? [];
    assert.deepEqual(
      found.map(({ packed, size }) => [packed.length, size]),
      frames.map((packed, at) => [packed.length, bodies[at]?.length]),
    );
  });

  test('are not found where something else stands, or a size or a checksum is missing', () => {
    const whole = frame(content);
    const skippable = Buffer.from('502a4d180400000061626364', 'hex');
    assert.equal(splitFrames(Buffer.concat([whole, skippable]), content.length), undefined);
    assert.equal(splitFrames(whole, content.length + 1), undefined);
    assert.equal(splitFrames(zstdCompressSync(content), content.length), undefined);
    for (let length = 0; length < whole.length; length += 1)
      assert.equal(splitFrames(whole.subarray(0, length), content.length), undefined, `${length} bytes`);
  });
});
