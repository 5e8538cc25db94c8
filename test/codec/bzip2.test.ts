import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decompress, decompressStream } from '../../src/codec/codecs.ts';
import { runSuccessfully, skipWithout } from '../rig/process.ts';
import { noise, packagesLike } from './texts.ts';

const skip = skipWithout('bzip2');

/** 3 000 000 zeros, by bzip2 1.0.8. */
const zeros = Buffer.from('QlpoOTFBWSZTWaZFgLIAFvpACMAAQAAACCAAMMwJqmmpAi2pIEXi7kinChIUyLAWQA==', 'base64');
/** Nothing at all, by bzip2 1.0.8. */
const nothing = Buffer.from('425a683917724538509000000000', 'hex');

test('long runs are undone', async () => {
  assert.deepEqual(Buffer.from(await decompress('bz2', zeros, 3_000_000, 'The data')), Buffer.alloc(3_000_000));
});

test('empty streams are read, however many', async () => {
  const many = Buffer.concat(Array.from({ length: 300_000 }, () => nothing));
  assert.equal((await decompress('bz2', many, 0, 'The data')).length, 0);
});

test('runs around the lengths that bzip2 writes specially are undone', { skip }, async () => {
  const runs = [1, 2, 3, 4, 5, 6, 254, 255, 256, 258, 259, 260, 263, 1000];
  const sample = Buffer.from(runs.map((length, index) => (index % 2 ? 'a' : 'b').repeat(length)).join(''));
  const packed = await runSuccessfully('bzip2', ['-c'], { input: sample });
  assert.deepEqual(Buffer.from(await decompress('bz2', packed, sample.length, 'The data')), sample);
});

test('blocks of every size, all bytes and several streams are read in odd chunks', { skip }, async () => {
  const samples = [packagesLike(450_000), noise(250_000), Buffer.from('x'), packagesLike(2_000_000, 2)];
  for (const level of ['-1', '-9']) {
    const streams = await Promise.all(samples.map((input) => runSuccessfully('bzip2', [level, '-c'], { input })));
    const packed = Buffer.concat(streams);
    const source = async function* () {
      for (let at = 0; at < packed.length; at += 40_009) yield packed.subarray(at, at + 40_009);
    };
    const pieces: Uint8Array[] = [];
    for await (const piece of decompressStream('bz2', source(), 3_000_000, 'The data')) pieces.push(piece);
    assert.deepEqual(Buffer.concat(pieces), Buffer.concat(samples));
  }
});

test('a block that was not written by bzip2 is refused', async () => {
  const changes: [at: number, value: number, said: RegExp][] = [
    [2, 0x30, /it is not bzip2 data/],
    [3, 0x30, /it is not bzip2 data/],
    [4, 0x30, /neither a block nor an end/],
    [10, 0, /the checksum of a block does not fit/],
    [14, 0x80, /randomised/],
  ];
  for (const [at, value, said] of changes) {
    const changed = Buffer.from(zeros);
    changed[at] = value;
    await assert.rejects(decompress('bz2', changed, 3_000_000, 'The data'), {
      code: 'compressed-data-corrupt',
      what: said,
    });
  }
});
