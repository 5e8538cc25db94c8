import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternate, median, type Sample, type Side } from '../../bench/measurement.ts';

const sample = (ms: number): Sample => ({ ms, cpuMs: 10, peakBytes: 2 ** 20, requests: 1, bytesUp: 0, bytesDown: 0 });

test('the median of an even number of values lies between the two in the middle', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([9, 1, 5, 7]), 6);
  assert.throws(() => median([]));
});

test('sides run in turn, each round beginning with another, and warm-ups do not count', async () => {
  const order: string[] = [];
  const side = (what: string): Side => ({
    what,
    run: (round) => {
      order.push(`${what}${round}`);
      return Promise.resolve(sample(round));
    },
  });
  const rows = await alternate([side('a'), side('b')], { runs: 3, warmUps: 1, log: () => {} });
  assert.deepEqual(order, ['a0', 'b0', 'b1', 'a1', 'a2', 'b2', 'b3', 'a3']);
  assert.deepEqual(
    rows.map(({ what, runs, medianMs, minMs, maxMs }) => ({ what, runs, medianMs, minMs, maxMs })),
    ['a', 'b'].map((what) => ({ what, runs: 3, medianMs: 2, minMs: 1, maxMs: 3 })),
  );
});

test('a row has the medians of its runs, the largest peak, and the range of each window', async () => {
  const samples = [
    { ...sample(3), peakBytes: 5 * 2 ** 20, requests: 4, windows: { mixture: 7 } },
    { ...sample(1), requests: 6, windows: { mixture: 9 } },
    { ...sample(2), requests: 5 },
  ];
  const side = { what: 'a', run: (round: number) => Promise.resolve(samples[round] ?? sample(0)) };
  const [row] = await alternate([side], { runs: 3, warmUps: 0, log: () => {} });
  assert.deepEqual(row, {
    what: 'a',
    medianMs: 2,
    minMs: 1,
    maxMs: 3,
    requests: 5,
    cpuMs: 10,
    peakMiB: 5,
    bytesUp: 0,
    bytesDown: 0,
    runs: 3,
    windows: { mixture: { medianMs: 8, minMs: 7, maxMs: 9 } },
  });
});
