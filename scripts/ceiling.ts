/**
 * Measures what a store gives at most to this client on this machine, and how near a run came to it: a ladder of concurrency for small and for large
 * writes, through the very client that publishes. Takes about half a minute, at most 5000 requests and 2 GB below a prefix for scratch,
 * which is emptied afterwards. The keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
 *
 *     npm run ceiling -- --endpoint https://s3.example.org --bucket my-packages --prefix scratch
 *     npm run ceiling -- … --record run.json     what a run (its output `timings`) could still gain
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/action/system-clock.ts';
import { version } from '../src/action/version.ts';
import { type Ceiling, climb, type Demand, least } from '../src/perf/ceiling.ts';
import { drive, type LoadedStore, loads, removeLoad, roundTrip } from '../src/perf/load.ts';
import { bytes, duration, number, percent } from '../src/report/units.ts';
import { S3Store } from '../src/store/s3.ts';
import { analyse } from '../src/timing/analysis.ts';
import { parseRunRecord } from '../src/timing/parse-record.ts';

const { values } = parseArgs({
  options: {
    endpoint: { type: 'string' },
    region: { type: 'string' },
    bucket: { type: 'string' },
    prefix: { type: 'string', default: 'apt-publish-ceiling' },
    record: { type: 'string' },
  },
});

function storeOf(bucket: string): S3Store {
  const { endpoint, region, prefix } = values;
  return new S3Store({
    bucket,
    prefix,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    forcePathStyle: endpoint !== undefined,
    credentials: {
      accessKeyId: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
    version,
  });
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const words: Record<Ceiling['boundBy'], string> = {
  load: 'the store or the line gives no more',
  throttled: 'the store asks to slow down',
  errors: 'the store fails too many requests',
  cpu: 'this process has no processor time left',
  ladder: 'the ladder ended before the store did',
};

function show(name: string, ceiling: Ceiling, unit: (rate: number) => string): void {
  console.log(
    `\n${name}: ${unit(ceiling.rate)} with ${ceiling.concurrency} in flight (slowest windows ${unit(ceiling.low)})`,
  );
  for (const { concurrency, windows, cpu } of ceiling.rungs) {
    const [middle = 0] = windows.toSorted((a, b) => a - b).slice(windows.length >> 1);
    console.log(
      `  ${String(concurrency).padStart(4)} in flight  ${unit(middle).padStart(14)}  ${percent(cpu)} of a core`,
    );
  }
  console.log(`  The climb ended because ${words[ceiling.boundBy]}.`);
  if (ceiling.underDriven) console.log('  under_driven: the true ceiling is higher.');
  if (ceiling.burst) console.log('  burst: the beginning was faster than the end, so this may not last.');
}

async function demandOf(path: string): Promise<Demand> {
  const record = parseRunRecord(await readFile(path, 'utf8'));
  const { phases } = analyse(record);
  const requests = phases.flatMap((phase) => [...phase.requests.values()]).reduce((sum, count) => sum + count, 0);
  return {
    bytesUp: phases.reduce((sum, phase) => sum + phase.bytesUp, 0),
    requests,
    // Waves of a phase that are only there because of its limit are not of the chain, but this client needed them.
    depth: phases.reduce((sum, phase) => sum + phase.waves, 0),
    tookMs: record.durationMs,
  };
}

async function main(): Promise<void> {
  if (values.bucket === undefined)
    throw new Error('usage: npm run ceiling -- --bucket NAME [--endpoint URL] [--record FILE]');
  const loaded: LoadedStore = { store: storeOf(values.bucket), clock: systemClock, cpuMs };
  const series = systemClock.now().toString(36);
  try {
    const roundTripMs = await roundTrip(loaded);
    console.log(`Round trip: ${duration(roundTripMs)}`);
    const [small, large] = loads;
    const requests = await climb((concurrency) => drive(loaded, small, concurrency, series));
    show('Small writes (4 KiB)', requests, (rate) => `${number(rate)} a second`);
    const bandwidth = await climb((concurrency) => drive(loaded, large, concurrency, series));
    show('Large writes (8 MiB)', bandwidth, (rate) => `${bytes(rate)} a second`);
    if (values.record === undefined) return;
    const demand = await demandOf(values.record);
    const { ms, binds, efficiency } = least(demand, {
      bytesPerSecond: bandwidth.rate,
      requestsPerSecond: requests.rate,
      roundTripMs,
    });
    console.log(
      `\nThe run took ${duration(demand.tookMs)}; at least ${duration(ms)} of it no client could save, bound by ${binds}.`,
    );
    console.log(`Efficiency ${percent(efficiency)}: a faster client could still gain ${duration(demand.tookMs - ms)}.`);
  } finally {
    await removeLoad(loaded);
  }
}

if (import.meta.main) await main();
