/** What one run of one side of a comparison cost. Times are milliseconds, sizes bytes. */
export interface Sample {
  /** From the start of the process to its end. */
  readonly ms: number;
  /** User and system time of the process and everything it waited for. */
  readonly cpuMs: number;
  /** The largest resident set of one process of the side. */
  readonly peakBytes: number;
  readonly requests: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Stretches of time inside the run, by what they are. */
  readonly windows?: Readonly<Record<string, number>>;
}

/** One of the things that are compared. */
export interface Side {
  /** Names the row. */
  readonly what: string;
  /** Does the work once more. Rounds are numbered from 0, so that each can publish something new. */
  run(round: number): Promise<Sample>;
}

export interface Range {
  readonly medianMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/** All runs of one side: medians, but for the largest peak of memory. */
export interface Row extends Range {
  readonly what: string;
  readonly runs: number;
  readonly requests: number;
  readonly cpuMs: number;
  readonly peakMiB: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly windows?: Readonly<Record<string, Range>>;
}

/** The middle one; of an even number the mean of the two in the middle. Throws for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error('There is no median of nothing.');
  return (low + high) / 2;
}

function rowOf(what: string, samples: readonly Sample[]): Row {
  const middle = (value: (sample: Sample) => number) => Math.round(median(samples.map(value)));
  const names = new Set(samples.flatMap(({ windows }) => Object.keys(windows ?? {})));
  const windows = [...names].map((name): [string, Range] => [
    name,
    rangeOf(samples.flatMap((sample) => sample.windows?.[name] ?? [])),
  ]);
  return {
    what,
    ...rangeOf(samples.map(({ ms }) => ms)),
    requests: middle(({ requests }) => requests),
    cpuMs: middle(({ cpuMs }) => cpuMs),
    peakMiB: tenths(Math.max(...samples.map(({ peakBytes }) => peakBytes)) / 2 ** 20),
    bytesUp: middle(({ bytesUp }) => bytesUp),
    bytesDown: middle(({ bytesDown }) => bytesDown),
    runs: samples.length,
    ...(windows.length === 0 ? {} : { windows: Object.fromEntries(windows) }),
  };
}

/** Of what the sides cost, three significant digits: more would claim more than these runs can tell. */
export function ratio(ours: number, theirs: number): number {
  return Number((ours / theirs).toPrecision(3));
}

function rangeOf(values: readonly number[]): Range {
  return { medianMs: tenths(median(values)), minMs: tenths(Math.min(...values)), maxMs: tenths(Math.max(...values)) };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Runs the sides in turn, `runs` times each after `warmUps` rounds that nobody sees again. Each round begins with another side, so that none
 * is always the one after the largest.
 */
export async function alternate(
  sides: readonly Side[],
  { runs, warmUps, log }: { readonly runs: number; readonly warmUps: number; readonly log: (line: string) => void },
): Promise<Row[]> {
  const samples = new Map<Side, Sample[]>(sides.map((side) => [side, []]));
  for (let round = 0; round < warmUps + runs; round += 1) {
    const first = round % sides.length;
    for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
      const sample = await side.run(round);
      const warming = round < warmUps;
      log(`${warming ? 'warm-up' : `run ${round - warmUps + 1}`}: ${side.what} ${Math.round(sample.ms)} ms`);
      if (!warming) samples.get(side)?.push(sample);
    }
  }
  return sides.map((side) => rowOf(side.what, samples.get(side) ?? []));
}
