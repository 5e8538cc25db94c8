import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assess, noiseKey, noiseSession } from '../../src/perf/assess.ts';
import { pairsWanted } from '../../src/perf/comparison.ts';
import type { ComparisonRecord } from '../../src/perf/comparison-record.ts';
import type { NoiseSession } from '../../src/perf/noise-band.ts';
import { judge } from '../../src/perf/verdict.ts';
import { sampleComparison, sampleScenario } from './comparison-samples.ts';

const slow = [14, 15, 16, 15, 14, 16];
const noisy = [-20, 30, 10, -15, 25, -5];

/** Eight quiet nights on the machine of a record. */
function nights(record: ComparisonRecord): NoiseSession[] {
  return Array.from({ length: 8 }, () => {
    return {
      key: noiseKey(record),
      started: '2026-11-29T02:00:00Z',
      differences: [0.01, -0.015, 0.02, 0.005, -0.01, 0.015],
    };
  });
}

describe('what a comparison says', () => {
  it('is its verdict, with what it rests on', () => {
    const record = sampleComparison(slow);
    const result = assess(record, nights(record));
    assert.equal(result.verdict, 'slower');
    assert.equal(result.pairs, 6);
    assert.match(result.order, /^(ABBA|BAAB) (ABBA|BAAB) (ABBA|BAAB)$/);
    assert.match(result.noise, /from 48 pairs of 8 nights/);
    assert.ok((result.detectable ?? 1) < 0.05);
    assert.deepEqual(
      result.phases.map(({ name, differenceMs }) => [name, differenceMs]),
      [
        ['read', 0],
        ['upload', 80],
      ],
    );
    assert.deepEqual(result.remarks, ['Measured against an emulator: real stores are slower and less even.']);
  });

  it('goes by a wide band, and says so, until the noise was measured', () => {
    const { verdict, remarks } = assess(sampleComparison([5, 6, 5, 6, 5, 6]), []);
    assert.equal(verdict, 'within noise');
    assert.match(remarks.join(), /has not been measured yet/);
    const stale = nights(sampleComparison(slow)).map((night) => ({ ...night, started: '2026-10-01T02:00:00Z' }));
    assert.match(assess(sampleComparison(slow), stale).remarks.join(), /more than two weeks ago/);
  });

  it('marks other workloads only where they stay significant among all of them', () => {
    const many = [9, 10, 11, 10, 9, 11];
    const both = (count: number) => {
      const long = Array.from({ length: 2 * count }, (_, index) => many[index % 6] ?? 0);
      return sampleComparison(slow, {
        scenarios: [sampleScenario('incremental', slow), sampleScenario('cold', long), sampleScenario('no-op', noisy)],
      });
    };
    const verdicts = (record: ComparisonRecord) => assess(record, []).walls.map(({ verdict }) => verdict);
    assert.deepEqual(verdicts(both(3)), ['slower', 'no difference shown', 'no difference shown']);
    assert.deepEqual(verdicts(both(6)), ['slower', 'longer', 'no difference shown']);
  });

  it('counts requests without statistics', () => {
    const scenario = sampleScenario('incremental', slow, { requests: [{ verb: 'PUT', count: 30 }] });
    const { counts, remarks } = assess(sampleComparison(slow, { scenarios: [scenario] }), []);
    assert.deepEqual(counts[0], { workload: 'incremental', unit: 'requests', base: 18, head: 30 });
    assert.match(remarks.join(), /send different requests/);
  });
});

describe('nothing is compared', () => {
  const reason = (record: ComparisonRecord) => {
    const { verdict, remarks, walls } = assess(record, []);
    assert.equal(verdict, 'not comparable');
    assert.equal(walls.length, 0);
    assert.equal(noiseSession(record), undefined);
    return remarks.join();
  };
  const withHead = (more: Parameters<typeof sampleScenario>[2]) =>
    sampleComparison(slow, { scenarios: [sampleScenario('incremental', slow, more)] });

  it('when a run failed', () => {
    assert.match(reason(withHead({ outcome: 'failed' })), /run of the head did not end well/);
  });

  it('when the sides published different repositories', () => {
    assert.match(reason(withHead({ repository: 'c'.repeat(64) })), /did not publish the same repository/);
  });

  it('when the store failed many requests', () => {
    assert.match(reason(withHead({ retries: 1 })), /failed too many requests/);
  });

  it('when the runs are in another order than the name of the pairing stands for', () => {
    const [scenario] = sampleComparison(slow).scenarios;
    const runs = scenario?.runs.map((run) => ({
      ...run,
      role: run.role === 'base' ? ('head' as const) : ('base' as const),
    }));
    assert.match(reason(sampleComparison(slow, { scenarios: [{ name: 'incremental', runs: runs ?? [] }] })), /order/);
  });

  it('when there are no measurements', () => {
    assert.match(reason(sampleComparison([])), /no measurements/);
  });
});

describe('the looks', () => {
  it('are at six pairs and, where they said nothing, at twelve; nobody looks in between', () => {
    assert.equal(pairsWanted(sampleComparison([]), []), 6);
    assert.equal(pairsWanted(sampleComparison(slow), nights(sampleComparison(slow))), undefined);
    assert.equal(pairsWanted(sampleComparison(noisy), []), 12);
    assert.equal(pairsWanted(sampleComparison([...slow, 15, 15]), []), 12);
    assert.equal(pairsWanted(sampleComparison([...noisy, ...noisy]), []), undefined);
  });
});

describe('two comparisons of another project that judged one pair each', () => {
  // Gigabytes a second, base and head, three days apart, same commit; its band for the median was ±3.5 %.
  const published = [
    { base: 1.94, head: 1.79, said: 'slower' },
    { base: 2.92, head: 2.97, said: 'within noise' },
  ];
  const band = { band: Math.log(1.035), source: 'measured', differences: [], sessions: 5 } as const;

  for (const { base, head, said } of published) {
    it(`say under this rule that nothing is known, where they said "${said}"`, () => {
      // The more a second the less time.
      const judgement = judge([{ base: 1 / base, head: 1 / head, first: 'base' }], band, Math.log(1.05));
      assert.equal(judgement.verdict, 'inconclusive');
      assert.deepEqual(judgement.flags, ['few_pairs']);
      const percent = 100 * (base / head - 1);
      const result = assess(sampleComparison([percent]), []);
      assert.equal(result.verdict, 'inconclusive');
      assert.equal(result.couldHide, undefined);
    });
  }

  it('say together no more than that', () => {
    const pairs = published.map(({ base, head }) => ({ base: 1 / base, head: 1 / head, first: 'base' }) as const);
    assert.equal(judge(pairs, band, Math.log(1.05)).verdict, 'inconclusive');
  });
});
