import { createHash } from 'node:crypto';

/** Uniform numbers in [0, 1), one after the other. */
export type Chance = () => number;

/**
 * Chance that anybody can repeat: the same words give the same numbers on every machine. A pairing's name is the seed of its order, so the
 * order was not chosen after the fact, and whoever reads the record can work out that it was kept. Generator: sfc32 by Chris Doty-Humphrey
 * (PractRand), which passes the usual batteries.
 */
export function seededChance(seed: string): Chance {
  const digest = createHash('sha256').update(seed).digest();
  let [a, b, c, counter] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), 1];
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 12; round += 1) next();
  return next;
}

/** As many of the values as asked for, each drawn from all of them. Throws for no values, which is a defect. */
export function resample(values: readonly number[], size: number, chance: Chance): number[] {
  return Array.from({ length: size }, () => {
    const drawn = values[Math.floor(chance() * values.length)];
    if (drawn === undefined) throw new Error('A sample of nothing.');
    return drawn;
  });
}
