import { bytes, duration, number, percent } from '../report/units.ts';
import { analyse } from '../timing/analysis.ts';
import type { RunRecord } from '../timing/record.ts';
import { type Ceiling, climb, type Demand, least, type StoreLimits } from './ceiling.ts';
import { drive, type LoadedStore, loads, removeLoad, roundTrip } from './load.ts';
import { median } from './signed-rank.ts';

/** What a store gives at most to this client on this machine. */
export interface Calibration {
  readonly roundTripMs: number;
  /** Small writes, requests a second. */
  readonly requests: Ceiling;
  /** Large writes, bytes a second. */
  readonly bandwidth: Ceiling;
}

/**
 * Climbs both ladders on a prefix for scratch, which is empty afterwards: about 40 seconds, at most 5000 requests and 2 GB. `series` tells the
 * names of this calibration from those of any other.
 */
export async function calibrate(loaded: LoadedStore, series: string): Promise<Calibration> {
  const [small, large] = loads;
  try {
    const roundTripMs = await roundTrip(loaded);
    const requests = await climb((concurrency) => drive(loaded, small, concurrency, series));
    const bandwidth = await climb((concurrency) => drive(loaded, large, concurrency, series));
    return { roundTripMs, requests, bandwidth };
  } finally {
    await removeLoad(loaded);
  }
}

/** The calibration as text, in lines. */
export function calibrationText({ roundTripMs, requests, bandwidth }: Calibration): string {
  return [
    `Round trip: ${duration(roundTripMs)}`,
    ...ladderLines('Small writes (4 KiB)', requests, (rate) => `${number(rate)} a second`),
    ...ladderLines('Large writes (8 MiB)', bandwidth, (rate) => `${bytes(rate)} a second`),
  ].join('\n');
}

/** The rates of both ladders at their knees. */
export function limitsOf({ roundTripMs, requests, bandwidth }: Calibration): StoreLimits {
  return { roundTripMs, requests: requests.rate, bytes: bandwidth.rate };
}

/** How near a run came to what no client could beat, and what binds it, as text. */
export function efficiencyText(record: RunRecord, calibration: Calibration): string {
  const demand = demandOf(record);
  const { ms, binds, efficiency } = least(demand, limitsOf(calibration));
  return `The run took ${duration(demand.tookMs)}; ${duration(ms)} of it no client could save, bound by ${binds}.
Efficiency ${percent(efficiency)}: a faster client could still gain ${duration(demand.tookMs - ms)}.`;
}

/** Waves that are only there because of this client's own limit count: its requests did wait for each other. */
function demandOf(record: RunRecord): Demand {
  const { phases } = analyse(record);
  const sum = (of: (phase: (typeof phases)[number]) => number) => phases.reduce((total, phase) => total + of(phase), 0);
  return {
    bytesUp: sum(({ bytesUp }) => bytesUp),
    requests: sum(({ requests }) => [...requests.values()].reduce((total, count) => total + count, 0)),
    depth: sum(({ waves }) => waves),
    processorMs: 0,
    tookMs: record.durationMs,
  };
}

const ends: Record<Ceiling['boundBy'], string> = {
  load: 'the store or the line gives no more',
  throttled: 'the store asks to slow down',
  errors: 'the store fails too many requests',
  cpu: 'this process has no processor time left',
  ladder: 'the ladder ended before the store did',
};

function ladderLines(name: string, ceiling: Ceiling, unit: (rate: number) => string): string[] {
  const { rate, low, concurrency, rungs, boundBy, underDriven, burst } = ceiling;
  return [
    '',
    `${name}: ${unit(rate)} with ${concurrency} in flight (slowest windows ${unit(low)})`,
    ...rungs.map((rung) => {
      const middle = rung.windows.length === 0 ? '–' : unit(median(rung.windows));
      return `  ${String(rung.concurrency).padStart(4)} in flight  ${middle.padStart(14)}  ${percent(rung.cpu)} of a core`;
    }),
    `  The climb ended because ${ends[boundBy]}.`,
    ...(underDriven ? ['  under_driven: the true ceiling is higher.'] : []),
    ...(burst ? ['  burst: the beginning was faster than the end, so this may not last.'] : []),
  ];
}
