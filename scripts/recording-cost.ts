/**
 * What it costs a run to record where its time goes: the time of one span, and what the spans of a rename come to beside the rename
 * itself, against an S3 server on this machine (the worst case: no distance) and with a distance in between.
 *
 *     node scripts/recording-cost.ts
 */
import { progressLog } from '../src/action/log.ts';
import { limited, limiter } from '../src/store/limited.ts';
import type { ObjectStore } from '../src/store/object-store.ts';
import { S3Store } from '../src/store/s3.ts';
import { traced } from '../src/store/traced.ts';
import { type PhaseScope, Recorder } from '../src/timing/recorder.ts';
import { startLatencyProxy } from '../test/rig/latency-proxy.ts';
import { rigCredentials, startS3Server } from '../test/rig/s3-server.ts';
import { realClock } from '../test/store/clocks.ts';

const attributes = { contentType: 'application/gzip', cacheControl: 'no-cache' };
const source = 'dists/bookworm/main/by-hash/SHA256/0';
/** A rename of aptly's nine index files, Release.gpg and the second look at the pool. */
const requests = 11;
const inFlight = 16;

function inPhase<T>(work: (scope: PhaseScope) => Promise<T>): Promise<T> {
  return new Recorder(
    realClock,
    progressLog(realClock, () => {}),
  ).phase('rename', 'bookworm', work);
}

/** Microseconds that recording adds to one request, over many requests to a store that answers at once. */
async function costOfSpan(): Promise<number> {
  const answer = { written: true, etag: 'e' } as const;
  const instant = { copy: async () => answer } as unknown as ObjectStore;
  const calls = 100_000;
  const timed = (store: ObjectStore) =>
    elapsed(async () => {
      for (let call = 0; call < calls; call += 1) await store.copy(source, 'b', attributes);
    });
  const costs: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const recorded = await inPhase((scope) => timed(traced(instant, scope)));
    costs.push(((recorded - (await timed(instant))) / calls) * 1000);
  }
  return median(costs);
}

/** Milliseconds of one rename, recorded like every run's. */
async function timeOfRename(endpoint: string): Promise<number> {
  const credentials = rigCredentials;
  const client = new S3Store({ bucket: 'apt', prefix: '', endpoint, forcePathStyle: true, credentials, version: '0' });
  await client.put(source, new Uint8Array(100_000), attributes);
  const times: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    const rename = (scope: PhaseScope) => {
      const store = limited(traced(client, scope), limiter(inFlight));
      const names = Array.from({ length: requests }, (_, index) => `dists/bookworm/main/index-${index}.gz`);
      return Promise.all(names.map((name) => store.copy(source, name, attributes)));
    };
    times.push(await elapsed(() => inPhase(rename)));
  }
  client.close();
  return median(times);
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const from = realClock.monotonic();
  await work();
  return realClock.monotonic() - from;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const span = await costOfSpan();
console.log(`one span: ${span.toFixed(2)} µs`);
await using server = await startS3Server();
for (const roundTrip of [0, 20, 100]) {
  await using proxy = await startLatencyProxy({ to: server.endpoint, delayMs: roundTrip / 2 });
  const rename = await timeOfRename(roundTrip === 0 ? server.endpoint : proxy.endpoint);
  const share = (span * requests) / 1000 / rename;
  console.log(`rename, ${roundTrip} ms away: ${rename.toFixed(1)} ms, recording ${(share * 100).toFixed(3)} %`);
}
