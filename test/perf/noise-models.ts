import type { Chance } from '../../src/perf/chance.ts';
import { orderOfRuns, type Pair, type Role } from '../../src/perf/pairs.ts';

/** How a machine disturbs runs: from the position of a run in its session, the logarithm of the factor by which it takes longer. */
export type NoiseModel = (session: Chance) => (position: number) => number;

/** Five machines, each with runs that scatter by about 3 % of their time, and four of them with a vice of their own. */
export const noiseModels: Readonly<Record<string, NoiseModel>> = {
  independent: (chance) => () => 0.03 * normal(chance),
  'a drift of 1 % a run': (chance) => (position) => 0.03 * normal(chance) + 0.01 * position,
  'a second slot that is 5 % faster': (chance) => (position) => 0.03 * normal(chance) - (position % 2 === 1 ? 0.05 : 0),
  'a heavy tail: one run in ten stalls': (chance) => () =>
    0.03 * normal(chance) + (chance() < 0.1 ? 0.2 * -Math.log(1 - chance()) : 0),
  'a neighbour that works in a rhythm': (chance) => {
    const [period, phase] = [2 + 5 * chance(), 2 * Math.PI * chance()];
    return (position) => 0.03 * normal(chance) + 0.04 * Math.sin((2 * Math.PI * position) / period + phase);
  },
};

/** Measured pairs of a base and of a head that takes `effect` times as long, on such a machine. */
export function simulatedPairs(count: number, model: NoiseModel, effect: number, chance: Chance): Pair[] {
  const disturbance = model(chance);
  const order = orderOfRuns(count, chance);
  const time = (position: number, role: Role) => Math.exp(disturbance(position)) * (role === 'head' ? effect : 1);
  return Array.from({ length: count }, (_, pair): Pair => {
    const first = order[2 * pair] ?? 'base';
    const second = first === 'base' ? 'head' : 'base';
    const [one, two] = [time(2 * pair, first), time(2 * pair + 1, second)];
    return first === 'base' ? { base: one, head: two, first } : { base: two, head: one, first };
  });
}

/** Box and Muller (1958). */
export function normal(chance: Chance): number {
  return Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
}
