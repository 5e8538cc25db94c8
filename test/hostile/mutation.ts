import type { Generator } from '../debian/generator.ts';

/** Pieces that formats give a meaning to: what a blind change of bytes would hardly ever come upon. */
export type Dictionary = readonly [string, ...string[]];

/** Numbers at which counting goes wrong. */
const numbers = [
  '0',
  '1',
  '-1',
  '00',
  '127',
  '255',
  '256',
  '511',
  '512',
  '4294967295',
  '4294967296',
  '9007199254740991',
] as const;
const lengths = ['9007199254740993', '99999999999999999999', '1e9', '0x10', ' 7', '７'] as const;
const bytes = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x2d, 0x2e, 0x2f, 0x3a, 0x7f, 0x80, 0xc2, 0xff] as const;

/**
 * The input as it is, one time in eight, or after one to four changes: bits, bytes, pieces cut out, doubled, moved or cut off, a word of the dictionary, a number in
 * digits. `join` is another input of the same kind, for grafts.
 */
export function mutated(input: Uint8Array, generator: Generator, dictionary: Dictionary, join = input): Buffer {
  let result: Buffer = Buffer.from(input);
  const rounds = generator.below(8) === 0 ? 0 : 1 + generator.below(4);
  for (let round = 0; round < rounds; round += 1) {
    result = changed(result, generator, dictionary, join);
  }
  return result;
}

function changed(input: Buffer, generator: Generator, dictionary: Dictionary, join: Uint8Array): Buffer {
  const at = generator.below(input.length + 1);
  const length = 1 + generator.below(generator.of([4, 64, 600]));
  const head = input.subarray(0, at);
  const tail = input.subarray(at);
  switch (generator.below(11)) {
    case 0:
      return withByte(input, at, (byte) => byte ^ (1 << generator.below(8)));
    case 1:
      return withByte(input, at, () => generator.of(bytes));
    case 2:
      return withByte(input, at, () => generator.below(256));
    case 3:
      return Buffer.concat([head, Buffer.from(generator.of(dictionary), 'utf8'), tail]);
    case 4: {
      const word = Buffer.from(generator.of(dictionary), 'utf8');
      return Buffer.concat([head, word, tail.subarray(word.length)]);
    }
    case 5:
      return Buffer.concat([head, tail.subarray(length)]);
    case 6:
      return Buffer.concat([head, tail.subarray(0, length), tail]);
    case 7:
      return Buffer.from(generator.below(4) === 0 ? head : tail);
    case 8: {
      const from = generator.below(join.length + 1);
      return Buffer.concat([head, join.subarray(from, from + length), tail]);
    }
    case 9:
      return withNumber(input, generator);
    default: {
      const from = generator.below(input.length + 1);
      return Buffer.concat([head, input.subarray(from, from + length), tail.subarray(length)]);
    }
  }
}

function withByte(input: Buffer, at: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(input);
  if (at < copy.length) copy[at] = change(copy[at] ?? 0);
  return copy;
}

/** Puts another number in the place of a run of digits, keeping the width where a format has columns. */
function withNumber(input: Buffer, generator: Generator): Buffer {
  const text = input.toString('latin1');
  const runs = [...text.matchAll(/\d+/g)];
  const run = runs[generator.below(runs.length)];
  if (run === undefined) return input;
  const number = generator.of([...numbers, ...lengths]);
  const fitted = generator.below(2) === 0 ? number : number.padStart(run[0].length, '0').slice(-run[0].length);
  return Buffer.from(text.slice(0, run.index) + fitted + text.slice(run.index + run[0].length), 'latin1');
}
