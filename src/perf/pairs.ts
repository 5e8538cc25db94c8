import type { Chance } from './chance.ts';
import { median } from './signed-rank.ts';

/** Which of the two that are compared. What the comparison is about is the head: "slower" says that the head is. */
export const roles = ['base', 'head'] as const;
export type Role = (typeof roles)[number];

/** Two runs, one directly after the other, of one quantity of which more is worse (time, requests, bytes). */
export interface Pair {
  readonly base: number;
  readonly head: number;
  /** Which of the two ran first. */
  readonly first: Role;
}

/** Pairs at the first look and at the second and last one. Looking after every pair finds "slower" in one of five equal branches. */
export const looks = [6, 12] as const;

/**
 * The order of the runs of so many pairs, an even number: blocks of four, each base-head-head-base or its mirror image as a coin falls. A drift
 * over the session cancels out within each block, and so does an advantage of whoever runs second; the coin defends against noise
 * that comes in a rhythm.
 */
export function orderOfRuns(pairs: number, chance: Chance): Role[] {
  return Array.from({ length: pairs / 2 }, (): Role[] =>
    chance() < 0.5 ? ['base', 'head', 'head', 'base'] : ['head', 'base', 'base', 'head'],
  ).flat();
}

/** What the pairs say, as differences of logarithms: +0.1 and −0.1 are equally far from no difference, and `Math.expm1` makes a ratio of them. */
export interface Differences {
  /** One for each pair, positive where the head took more. */
  readonly values: readonly number[];
  /** How much longer the second run of a pair takes than the first, whichever it is; 0 where all pairs were run in one order. */
  readonly position: number;
  /** Whether that was so much that it has been taken out of the values. */
  readonly corrected: boolean;
}

/**
 * `band` is what noise alone does, as a difference of logarithms: only a position that matters beside it is corrected for. The position is half of
 * what separates the pairs of one order from those of the other, so that a difference between base and head is no part of it.
 */
export function differences(pairs: readonly Pair[], band: number): Differences {
  const raw = pairs.map(({ base, head, first }) => ({ value: Math.log(head) - Math.log(base), first }));
  const [headSecond, headFirst] = roles.map((role) => raw.filter(({ first }) => first === role));
  const gaps = (headSecond ?? []).flatMap((one) => (headFirst ?? []).map((other) => (one.value - other.value) / 2));
  const position = gaps.length === 0 ? 0 : median(gaps);
  const corrected = Math.abs(position) > band / 2;
  const values = raw.map(({ value, first }) => (corrected ? value - (first === 'base' ? position : -position) : value));
  return { values, position, corrected };
}

/**
 * How much all runs became slower from the first to the last, as a difference of logarithms: the median of the slopes between all runs (Theil
 * 1950) of one role, times the length of the session. A drift does no harm to balanced pairs, but says that the machine was not at rest.
 */
export function drift(pairs: readonly Pair[]): number {
  const slopes = roles.flatMap((role) => {
    const times = pairs.map((pair) => Math.log(pair[role]));
    return times.flatMap((time, at) => times.slice(at + 1).map((later, gap) => (later - time) / (gap + 1)));
  });
  return slopes.length === 0 ? 0 : median(slopes) * (pairs.length - 1);
}
