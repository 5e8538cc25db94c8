import assert from 'node:assert/strict';
import { type Compression, decompress } from '../../src/codec/codecs.ts';
import { Generator } from '../debian/generator.ts';
import { canPack, pack } from '../debs.ts';
import { type Dictionary, mutated } from './mutation.ts';
import type { Target } from './target.ts';

const limit = 256 * 1024;

/** Text with repetitions, noise, and zeros that unpack to far more than they are: one sample of each, and two of them in a row. */
const generator = new Generator(11);
const noise = Buffer.from(Array.from({ length: 3000 }, () => generator.below(256)));
const contents = [
  Buffer.from('hello hello hello '.repeat(40)),
  noise,
  Buffer.alloc(limit),
  Buffer.alloc(0),
  Buffer.from('x'),
];

/** Bytes of magic numbers and of ends, in no encoding but their own. */
const magic: Dictionary = [
  '\x1f',
  '\x28',
  'BZh9',
  '1AY&SY',
  '\x17rE8P\x90',
  '7zXZ\0',
  'YZ',
  ']\0\0',
  '\0\0\0\0',
  '\u00ff',
];

export function streamTarget(compression: Exclude<Compression, 'none'>): Target {
  const samples = contents.map((content) => pack(compression, content));
  const [first = Buffer.alloc(0)] = samples;
  return {
    name: `stream-${compression}`,
    cost: 1,
    make(generator) {
      const sample = samples[generator.below(samples.length)] ?? first;
      const other = samples[generator.below(samples.length)] ?? first;
      const input = generator.below(5) === 0 ? Buffer.concat([sample, other]) : sample;
      return mutated(input, generator, magic, other);
    },
    async check(input) {
      const unpacked = await decompress(compression, input, limit, 'The data of x.deb');
      assert.ok(unpacked.length <= limit);
    },
  };
}

export const streamTargets: readonly Target[] = (['gz', 'zst', 'xz', 'bz2', 'lzma'] as const)
  .filter((compression) => canPack(compression))
  .map(streamTarget);
