import { type Chance, resample, seededChance } from './chance.ts';
import { hodgesLehmann, quantile, signedRankInterval } from './signed-rank.ts';

/** What noise depends on: pairs measured under another key say nothing about this one. */
export interface NoiseKey {
  readonly scenario: string;
  /** Image, processor and number of cores. */
  readonly machine: string;
  readonly endpoint: 'emulator' | 's3';
  /** Of the code that measures. */
  readonly harness: string;
}

/** One night's pairing of a build with itself. */
export interface NoiseSession {
  readonly key: NoiseKey;
  /** ISO 8601, UTC. */
  readonly started: string;
  /** Of its pairs, as differences of logarithms. */
  readonly differences: readonly number[];
}

/** What noise alone does to a comparison of so many pairs. Differences of logarithms. */
export interface Noise {
  /** The estimate of 99 % of comparisons of a build with itself lies within this on either side. */
  readonly band: number;
  /** `default` until enough was measured; `stale` when it was, but too long ago. */
  readonly source: 'measured' | 'default' | 'stale';
  /** The pairs that the band was measured with, from how many sessions; both 0 for a band that was not measured. */
  readonly differences: readonly number[];
  readonly sessions: number;
}

const daysFresh = 14;
const fewestDifferences = 24;
const fewestSessions = 4;
const resamples = 2000;
/**
 * Of the estimates that noise alone makes, how many lie within the band. With 95 % a neighbour that works in a rhythm, which makes a session's
 * pairs alike, brought five false verdicts in a hundred comparisons and plain noise three; with 99 %, two and one.
 */
const within = 0.99;
/** Until it is measured: what nobody should call a change on a machine that nobody knows. */
const unmeasured = { emulator: Math.log(1.1), s3: Math.log(1.2) };

/**
 * The noise band for `pairs` pairs under this key, from the sessions of the last fourteen days: at least 24 pairs of at least four sessions.
 * It belongs to this estimator at this number of pairs, so it is no multiple of a deviation of single runs; a difference of two runs
 * scatters √2 times as much as one. Pure: the same sessions give the same band. `now` is milliseconds since the epoch.
 */
export function noiseBand(sessions: readonly NoiseSession[], key: NoiseKey, pairs: number, now: number): Noise {
  const own = sessions.filter((session) => sameKey(session.key, key));
  const fresh = own.filter(({ started }) => now - Date.parse(started) < daysFresh * 86_400_000);
  const values = fresh.flatMap((session) => session.differences);
  if (values.length < fewestDifferences || fresh.length < fewestSessions) {
    const source = own.length > fresh.length ? 'stale' : 'default';
    return { band: unmeasured[key.endpoint], source, differences: [], sessions: 0 };
  }
  return { band: bandOf(values, pairs), source: 'measured', differences: values, sessions: fresh.length };
}

/** Within which 99 % of the estimates lie that pairs with no other differences than these make. */
export function bandOf(values: readonly number[], pairs: number): number {
  const chance = seededChance(`noise band of ${pairs} pairs`);
  const estimates = samples(values, pairs, chance).map((sample) => Math.abs(hodgesLehmann(sample)));
  return quantile(estimates, within);
}

/**
 * The smallest slowdown that four of five comparisons of so many pairs would find, where noise does what these differences do: one that clears
 * both `threshold` and the interval. Undefined for fewer than six pairs, which find nothing.
 */
export function detectable(values: readonly number[], pairs: number, threshold: number): number | undefined {
  const chance = seededChance(`detectable with ${pairs} pairs`);
  const needed = samples(values, pairs, chance).flatMap((sample) => {
    const interval = signedRankInterval(sample);
    return interval === undefined ? [] : [Math.max(threshold - hodgesLehmann(sample), -interval.low)];
  });
  return needed.length === 0 ? undefined : quantile(needed, 0.8);
}

/** Samples of as many differences as there are pairs. Nothing tells base from head in a pairing with itself, so each sign is as good as the other. */
function samples(values: readonly number[], pairs: number, chance: Chance): number[][] {
  const symmetric = [...values, ...values.map((value) => -value)];
  return Array.from({ length: resamples }, () => resample(symmetric, pairs, chance));
}

function sameKey(a: NoiseKey, b: NoiseKey): boolean {
  return a.scenario === b.scenario && a.machine === b.machine && a.endpoint === b.endpoint && a.harness === b.harness;
}
