import { median } from './signed-rank.ts';

/** One rung of the ladder: so many workers, each with one request after the other. */
export interface Rung {
  readonly concurrency: number;
  /** Of the windows in which every worker was busy: bytes or requests a second. */
  readonly windows: readonly number[];
  readonly requests: number;
  /** How many of them the store turned away for their number (503, 429), and how many failed in any way. */
  readonly throttled: number;
  readonly failed: number;
  /** Of one core, 0 to 1 and beyond: what this process took. */
  readonly cpu: number;
}

/** What the store gives at most to this client on this machine. */
export interface Ceiling {
  /** The median of the best rung's windows, a second. */
  readonly rate: number;
  /** The slowest window of twenty. */
  readonly low: number;
  /** The fewest workers that reach it. */
  readonly concurrency: number;
  readonly rungs: readonly Rung[];
  /** What ended the climb; `load` when the store simply gave no more, however many asked. */
  readonly boundBy: 'load' | 'throttled' | 'errors' | 'cpu' | 'ladder';
  /** Twice as many workers still got more, or would have beyond the end of the ladder: the true ceiling is higher. */
  readonly underDriven: boolean;
  /** The first third of the best rung was faster than the last by more than a tenth: what was measured may not last. */
  readonly burst: boolean;
}

const most = 128;
/** A doubling that gains less than this is flat; two of them are the top. */
const flat = 0.05;
/** What the double of the knee may gain over it before the knee is in doubt. */
const more = 0.03;
const mostErrors = 0.005;
const mostCpu = 0.85;

/**
 * Climbs from one worker by doubling until two doublings gain less than 5 %, the store complains, or this machine is at its end. Of the rungs within 5 %
 * of the best the lowest is the knee; it is climbed again with half and double the workers, since a single rung may have met a bad moment. Where the
 * double still gains more than 3 % the client had asked for too little.
 */
export async function climb(step: (concurrency: number) => Promise<Rung>): Promise<Ceiling> {
  const rungs: Rung[] = [];
  let boundBy: Ceiling['boundBy'] = 'ladder';
  let level = 0;
  for (let concurrency = 1; concurrency <= most && boundBy === 'ladder'; concurrency *= 2) {
    const before = Math.max(0, ...rungs.map(rateOf));
    const rung = await step(concurrency);
    rungs.push(rung);
    level = rateOf(rung) < before * (1 + flat) ? level + 1 : 0;
    boundBy = complaint(rung) ?? (level >= 2 ? 'load' : 'ladder');
  }
  let knee = kneeOf(rungs);
  if (boundBy === 'load') {
    for (const concurrency of [knee.concurrency / 2, knee.concurrency * 2])
      if (concurrency >= 1 && concurrency <= most) rungs.push(await step(concurrency));
    knee = kneeOf(rungs);
  }
  const doubled = rungs.filter(({ concurrency }) => concurrency === 2 * knee.concurrency).map(rateOf);
  return {
    rate: rateOf(knee),
    low: lowOf(knee.windows),
    concurrency: knee.concurrency,
    rungs,
    boundBy,
    underDriven: boundBy === 'ladder' || Math.max(0, ...doubled) > rateOf(knee) * (1 + more),
    burst: isBurst(knee.windows),
  };
}

/** What can bind a run: bytes, the number of requests, the chain of those that wait for each other, or the work of the client itself. */
type Need = 'bandwidth' | 'requests' | 'round trips' | 'processor';

/** What a run needs at least, and which of its needs is the largest. */
export interface Least {
  readonly ms: number;
  readonly binds: Need;
  /** How long each of its needs takes alone, milliseconds. */
  readonly needs: readonly { readonly need: Need; readonly ms: number }[];
  /** `ms` as a part of what the run took: how near it came to what no client could beat. */
  readonly efficiency: number;
}

/** What a run asks of a store. `depth` is its longest chain of requests that waited for each other. */
export interface Demand {
  readonly bytesUp: number;
  readonly requests: number;
  readonly depth: number;
  /** What its work would take with every core of the machine at it; 0 where that is not known. */
  readonly processorMs: number;
  readonly tookMs: number;
}

/** What a store gives at most: milliseconds, and rates a second. */
export interface StoreLimits {
  readonly roundTripMs: number;
  readonly requests: number;
  readonly bytes: number;
}

/**
 * The largest of four times that no client can beat which sends the same and works as much: all bytes at full bandwidth, all requests at full rate,
 * every round trip of the chain, or all work on all cores.
 */
export function least({ bytesUp, requests, depth, processorMs, tookMs }: Demand, store: StoreLimits): Least {
  const needs = [
    { need: 'bandwidth', ms: (1000 * bytesUp) / store.bytes },
    { need: 'requests', ms: (1000 * requests) / store.requests },
    { need: 'round trips', ms: depth * store.roundTripMs },
    { need: 'processor', ms: processorMs },
  ] as const;
  const { need, ms } = needs.reduce((top, each) => (each.ms > top.ms ? each : top));
  return { binds: need, ms, needs, efficiency: tookMs > 0 ? Math.min(1, ms / tookMs) : 0 };
}

function complaint({ requests, throttled, failed, cpu }: Rung): 'throttled' | 'errors' | 'cpu' | undefined {
  if (throttled > 0) return 'throttled';
  if (failed > requests * mostErrors) return 'errors';
  return cpu > mostCpu ? 'cpu' : undefined;
}

/** Of rungs that were climbed twice the better attempt counts: nothing makes a store faster than it is. */
function kneeOf(rungs: readonly Rung[]): Rung {
  const best = Math.max(...rungs.map(rateOf));
  const near = rungs.filter((rung) => rateOf(rung) >= best * (1 - flat));
  const [first] = near.toSorted((a, b) => a.concurrency - b.concurrency || rateOf(b) - rateOf(a));
  if (first === undefined) throw new Error('A ladder without rungs.');
  return first;
}

function rateOf({ windows }: Rung): number {
  return windows.length === 0 ? 0 : median(windows);
}

function lowOf(windows: readonly number[]): number {
  return windows.toSorted((a, b) => a - b)[Math.floor(windows.length / 20)] ?? 0;
}

function isBurst(windows: readonly number[]): boolean {
  const third = Math.floor(windows.length / 3);
  return third > 0 && median(windows.slice(0, third)) > 1.1 * median(windows.slice(-third));
}
