import { bandOf, type Noise } from './noise-band.ts';
import { differences, drift, looks, type Pair } from './pairs.ts';
import { hodgesLehmann, type Interval, median, signedRankInterval } from './signed-rank.ts';

/** `not comparable` is judged elsewhere, before any number is looked at. */
type Verdict = 'slower' | 'faster' | 'within noise' | 'inconclusive';

/** What the reader should know about the numbers. None of them changes the verdict. */
const judgementFlags = ['few_pairs', 'default_band', 'stale_band', 'position_effect', 'drift', 'unstable'] as const;
export type JudgementFlag = (typeof judgementFlags)[number];

/** All numbers are differences of logarithms, positive where the head is slower. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly pairs: number;
  /** Each pair's difference, with the effect of position taken out where there is one. */
  readonly values: readonly number[];
  readonly estimate: number;
  /** Absent for fewer than six pairs. */
  readonly interval?: Interval;
  /** The median of the pairs, beside the estimate: where they disagree about the sign, both are noise. */
  readonly middle: number;
  readonly noise: Noise;
  /** What an estimate has to exceed to count: the noise band, or the practical floor where that is larger. */
  readonly threshold: number;
  readonly flags: readonly JudgementFlag[];
}

/** What nobody would notice, whatever the statistics say: 2 % against an emulator, 5 % against a real endpoint. */
export const practicalFloor = { emulator: Math.log(1.02), s3: Math.log(1.05) } as const;

/**
 * The verdict on one quantity. A direction needs both: an interval that leaves out 0, so that it is not chance, and an estimate beyond what noise
 * does on such a machine, so that it is not the machine. "Within noise" is a finding, too: everything beyond twice the band is ruled out.
 * The rest is inconclusive and never called anything else. The rule wrongly names a direction in less than 3 % of comparisons of equal
 * builds (test/perf/error-rates.test.ts).
 *
 * Throws for no pairs, which is a defect.
 */
export function judge(pairs: readonly Pair[], noise: Noise, floor: number): Judgement {
  const { values, position, corrected } = differences(pairs, noise.band);
  const estimate = hodgesLehmann(values);
  const band = noise.source === 'measured' ? noise.band : Math.max(noise.band, ownBand(values, estimate));
  const threshold = Math.max(floor, band);
  const interval = signedRankInterval(values);
  const middle = median(values);
  const is: Record<JudgementFlag, boolean> = {
    few_pairs: pairs.length < looks[0],
    default_band: noise.source === 'default',
    stale_band: noise.source === 'stale',
    position_effect: corrected && Math.abs(position) > 0,
    drift: Math.abs(drift(pairs)) > noise.band,
    unstable: estimate * middle < 0,
  };
  return {
    verdict: verdictOf(estimate, interval, threshold, 2 * Math.max(floor, noise.band)),
    pairs: pairs.length,
    values,
    estimate,
    ...(interval === undefined ? {} : { interval }),
    middle,
    noise: { ...noise, band },
    threshold,
    flags: judgementFlags.filter((flag) => is[flag]),
  };
}

/** A machine whose noise nobody has measured may be noisier than any band that stands in for it: then the pairs' own scatter is the better guess. */
function ownBand(values: readonly number[], estimate: number): number {
  const unbiased = Math.sqrt(values.length / Math.max(1, values.length - 1));
  return bandOf(
    values.map((value) => unbiased * (value - estimate)),
    values.length,
  );
}

/** Whether the second look is worth its time: it is taken once, and only where the first one found nothing either way. */
export function wantsMore({ verdict, pairs }: Judgement): boolean {
  return verdict === 'inconclusive' && pairs < looks[1];
}

/**
 * The largest change either way that the pairs do not rule out, as a difference of logarithms; undefined for fewer than six pairs, behind which
 * a change of any size could hide.
 */
export function couldHide({ interval }: Judgement): number | undefined {
  return interval === undefined ? undefined : Math.max(Math.abs(interval.low), Math.abs(interval.high));
}

/** `ruledOut` does not grow with the pairs' own scatter: wild pairs rule nothing out. */
function verdictOf(estimate: number, interval: Interval | undefined, threshold: number, ruledOut: number): Verdict {
  if (interval === undefined) return 'inconclusive';
  if (interval.low > 0 && estimate > threshold) return 'slower';
  if (interval.high < 0 && estimate < -threshold) return 'faster';
  const inside = interval.low > -ruledOut && interval.high < ruledOut;
  return inside ? 'within noise' : 'inconclusive';
}
