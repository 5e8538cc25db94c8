/**
 * Robust statistics of a few paired differences, after Hodges and Lehmann (1963) and Wilcoxon (1945). They take no normal distribution for
 * granted, and one stalled run among six pairs moves them by hardly more than a quiet one would. All exact: no random numbers, no
 * approximation for large samples, since there never is a large sample here.
 */

/** The middle value; of an even number of values, the mean of the two middle ones. Throws for none, which is a defect. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new Error('The median of nothing.');
  return (lower + upper) / 2;
}

/** The Hodges-Lehmann estimate of the centre: the median of the means of all pairs of values, each value with itself included. */
export function hodgesLehmann(values: readonly number[]): number {
  return median(walshAverages(values));
}

/** Two-sided confidence interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The probability, at least 0.95, with which such an interval covers the true centre of a symmetric distribution. */
  readonly coverage: number;
}

/**
 * The exact interval of the signed-rank test: from the k-th smallest to the k-th largest Walsh average, with the largest k whose coverage is
 * still 95 %. Undefined for fewer than six values, of which no such interval exists: all five can be on one side by chance in one case of
 * sixteen.
 */
export function signedRankInterval(values: readonly number[]): Interval | undefined {
  const { k, coverage } = intervalRank(values.length);
  const averages = ascending(walshAverages(values));
  const low = averages[k - 1];
  const high = averages[averages.length - k];
  return k === 0 || low === undefined || high === undefined ? undefined : { low, high, coverage };
}

/** Which Walsh average from either end bounds the 95 % interval of `n` values, and what it covers; 0 where there is none. */
export function intervalRank(n: number): { readonly k: number; readonly coverage: number } {
  const ways = rankSums(Array.from({ length: n }, (_, index) => index + 1));
  const all = 2 ** n;
  let below = 0;
  let k = 0;
  for (const count of ways) {
    if (1 - (2 * (below + count)) / all < 0.95) break;
    below += count;
    k += 1;
  }
  return { k, coverage: 1 - (2 * below) / all };
}

/**
 * Two-sided p of the signed-rank test against a centre of 0, exact also for ties, which share the mean of their ranks. Values that are 0 keep
 * their rank and count half on either side (Pratt 1959, with halves), so that identical runs read as no difference.
 */
export function signedRankP(values: readonly number[]): number {
  const sizes = ascending(values.map(Math.abs));
  // Doubled, so that the mean rank of ties is a whole number.
  const ranks = values.map((value) => sizes.indexOf(Math.abs(value)) + sizes.lastIndexOf(Math.abs(value)) + 2);
  const positive = ranks.reduce((sum, rank, index) => {
    const value = values[index] ?? 0;
    return sum + (value > 0 ? rank : value === 0 ? rank / 2 : 0);
  }, 0);
  const ways = rankSums(ranks);
  const smaller = Math.min(positive, ways.length - 1 - positive);
  const tail = ways.slice(0, Math.floor(smaller) + 1).reduce((sum, count) => sum + count, 0);
  return Math.min(1, (2 * tail) / 2 ** values.length);
}

/** Whether each of several tests is still significant at 5 % when all are looked at (Holm 1979), in the order given. */
export function holm(ps: readonly number[]): boolean[] {
  const order = ps.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const passed = new Set<number>();
  for (const [rank, { p, index }] of order.entries()) {
    if (p > 0.05 / (ps.length - rank)) break;
    passed.add(index);
  }
  return ps.map((_, index) => passed.has(index));
}

/** The value below which this part, 0 to 1, of the values lies: the smallest one with at least that part at or below it. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = ascending(values);
  const found = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
  if (found === undefined) throw new Error('A quantile of nothing.');
  return found;
}

function walshAverages(values: readonly number[]): number[] {
  return values.flatMap((value, index) => values.slice(index).map((other) => (value + other) / 2));
}

/** At index s, how many subsets of these ranks have the sum s. */
function rankSums(ranks: readonly number[]): number[] {
  return ranks.reduce<number[]>(
    (ways, rank) =>
      Array.from(
        { length: ways.length + rank },
        (_, sum) => (ways[sum] ?? 0) + (sum >= rank ? (ways[sum - rank] ?? 0) : 0),
      ),
    [1],
  );
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}
