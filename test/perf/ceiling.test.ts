import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../src/action/system-clock.ts';
import { calibrationText, efficiencyText } from '../../src/perf/calibration.ts';
import { climb, least, type Rung } from '../../src/perf/ceiling.ts';
import { drive, type LoadedStore, loads, removeLoad, roundTrip } from '../../src/perf/load.ts';
import { S3Store } from '../../src/store/s3.ts';
import { startLatencyProxy } from '../rig/latency-proxy.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';
import { sampleRecord } from '../timing/record-samples.ts';

/** A store that gives `each` to every worker and `top` to all of them, with what else is said. */
function ladder(each: number, top: number, more: (concurrency: number) => Partial<Rung> = () => ({})) {
  const climbed: number[] = [];
  const step = (concurrency: number): Promise<Rung> => {
    climbed.push(concurrency);
    const rate = Math.min(top, each * concurrency);
    const rung = { concurrency, windows: [rate, rate, rate], requests: 100, throttled: 0, failed: 0, cpu: 0.1 };
    return Promise.resolve({ ...rung, ...more(concurrency) });
  };
  return { step, climbed };
}

describe('the climb', () => {
  it('ends after two flat doublings and finds the fewest workers, looking again at half and double', async () => {
    const { step, climbed } = ladder(10, 80);
    const ceiling = await climb(step);
    assert.deepEqual(climbed, [1, 2, 4, 8, 16, 32, 4, 16]);
    assert.equal(ceiling.rate, 80);
    assert.equal(ceiling.concurrency, 8);
    assert.equal(ceiling.boundBy, 'load');
    assert.equal(ceiling.underDriven, false);
  });

  it('says that it asked for too little when more would have been given', async () => {
    const { boundBy, underDriven } = await climb(ladder(10, 10_000).step);
    assert.equal(boundBy, 'ladder');
    assert.equal(underDriven, true);
  });

  it('doubts a knee whose double gains more than 3 %', async () => {
    const { step } = ladder(10, 80);
    const doubtful = (concurrency: number) =>
      step(concurrency).then((rung) => {
        return concurrency === 16 ? { ...rung, windows: [83.5, 83.5, 83.5] } : rung;
      });
    const { underDriven, concurrency } = await climb(doubtful);
    assert.equal(concurrency, 8);
    assert.equal(underDriven, true);
  });

  for (const [word, trouble] of [
    ['throttled', { throttled: 1 }],
    ['errors', { failed: 2 }],
    ['cpu', { cpu: 0.9 }],
  ] as const) {
    it(`ends at once with "${word}"`, async () => {
      const { step, climbed } = ladder(10, 10_000, (concurrency) => (concurrency === 4 ? trouble : {}));
      assert.equal((await climb(step)).boundBy, word);
      assert.deepEqual(climbed, [1, 2, 4]);
    });
  }

  it('tells a burst that does not last', async () => {
    const spent = [100, 100, 100, 60, 60, 60];
    assert.equal((await climb(ladder(100, 100, () => ({ windows: spent })).step)).burst, true);
    assert.equal((await climb(ladder(100, 100).step)).burst, false);
  });
});

describe('the least time of a run', () => {
  const store = { bytes: 100e6, requests: 500, roundTripMs: 20 };
  const demand = { bytesUp: 1e6, requests: 20, depth: 8, processorMs: 100, tookMs: 400 };

  it('is the largest of four, and says which', () => {
    assert.deepEqual(least(demand, store), {
      binds: 'round trips',
      ms: 160,
      needs: [
        { need: 'bandwidth', ms: 10 },
        { need: 'requests', ms: 40 },
        { need: 'round trips', ms: 160 },
        { need: 'processor', ms: 100 },
      ],
      efficiency: 0.4,
    });
    assert.equal(least({ ...demand, bytesUp: 2e9, tookMs: 25_000 }, store).binds, 'bandwidth');
    assert.equal(least({ ...demand, requests: 1000, tookMs: 4000 }, store).binds, 'requests');
    assert.equal(least({ ...demand, processorMs: 200 }, store).binds, 'processor');
  });
});

describe('a calibration in words', () => {
  const flat = (rate: number) => climb(ladder(rate, rate).step);

  it('names what ended the climb and what a run could still gain', async () => {
    const calibration = { roundTripMs: 20, requests: await flat(500), bandwidth: await climb(ladder(1e6, 1e12).step) };
    const text = calibrationText(calibration);
    assert.match(text, /^Round trip: 20 ms$/m);
    assert.match(text, /^Small writes \(4 KiB\): 500 a second with 1 in flight/m);
    assert.match(text, /the store or the line gives no more/);
    assert.match(text, /under_driven/);
    const told = efficiencyText(sampleRecord, calibration);
    assert.match(told, /no client could save, bound by (bandwidth|requests|round trips)\./);
    assert.match(told, /^Efficiency \d+ %: a faster client could still gain /m);
  });
});

describe('a store under load', () => {
  it('behind a line of 40 MB a second gives that and no more, with round trips of 10 ms', async () => {
    await using server = await startS3Server({ buckets: ['apt'] });
    await using line = await startLatencyProxy({ to: server.endpoint, delayMs: 5, bytesPerSecond: 40e6 });
    const store = new S3Store({
      bucket: 'apt',
      prefix: 'scratch',
      endpoint: line.endpoint,
      forcePathStyle: true,
      credentials: rigCredentials,
      version: '0.0.0',
    });
    const cpuMs = () => process.cpuUsage().user / 1000;
    const loaded: LoadedStore = { store, clock: systemClock, cpuMs };
    const trip = await roundTrip(loaded);
    assert.ok(trip > 9 && trip < 500, `round trip ${trip}`);
    const [, large] = loads;
    const { windows, failed } = await drive(loaded, large, 4, 'series');
    const rate = windows.reduce((sum, value) => sum + value, 0) / windows.length;
    // A busy machine may be slower than the line, never faster.
    assert.ok(rate > 2e6 && rate < 48e6, `${rate} bytes a second`);
    assert.equal(failed, 0);
    await removeLoad(loaded);
    assert.equal(server.objects('apt').keys().length, 0);
  });
});
