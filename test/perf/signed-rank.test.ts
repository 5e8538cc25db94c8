import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededChance } from '../../src/perf/chance.ts';
import {
  hodgesLehmann,
  holm,
  intervalRank,
  median,
  quantile,
  signedRankInterval,
  signedRankP,
} from '../../src/perf/signed-rank.ts';
import { normal } from './noise-models.ts';

const close = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

/** The darwin data of Wilcoxon's examples: heights of cross- and self-fertilised plants, in eighths of an inch. */
const plants = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24];

describe('the estimate', () => {
  it('is the middle of all means of two, as counted by hand', () => {
    // Means of {1, 2, 10}: 1, 1.5, 5.5, 2, 6, 10.
    close(hodgesLehmann([1, 2, 10]), 3.75);
    close(hodgesLehmann([3]), 3);
    close(hodgesLehmann([1, 4]), 2.5);
  });

  it('is moved by one stalled run among six far less than the mean is', () => {
    const quiet = [0.01, -0.01, 0.005, -0.005, 0.008];
    assert.ok(Math.abs(hodgesLehmann([...quiet, 0.47])) < 0.012);
  });

  it('turns its sign when base and head change places, and follows a shift', () => {
    const chance = seededChance('symmetry');
    for (let size = 1; size <= 12; size += 1) {
      const values = Array.from({ length: size }, () => normal(chance));
      close(hodgesLehmann(values.map((value) => -value)), -hodgesLehmann(values));
      close(hodgesLehmann(values.map((value) => value + 0.3)), hodgesLehmann(values) + 0.3);
      close(hodgesLehmann(values.toReversed()), hodgesLehmann(values));
    }
  });
});

describe('the interval', () => {
  it('has the ranks and the coverage of the published tables for 6 to 12 values', () => {
    const table = [6, 7, 8, 9, 10, 11, 12].map((n) => {
      const { k, coverage } = intervalRank(n);
      return `${n}: ${k} ${(100 * coverage).toFixed(1)}`;
    });
    assert.deepEqual(table, [
      '6: 1 96.9',
      '7: 3 95.3',
      '8: 4 96.1',
      '9: 6 96.1',
      '10: 9 95.1',
      '11: 11 95.8',
      '12: 14 95.8',
    ]);
  });

  it('runs from the smallest to the largest value for six of them', () => {
    assert.deepEqual(signedRankInterval([5, 3, 9, 1, 2, 4]), { low: 1, high: 9, coverage: 0.96875 });
  });

  it('of twelve values is what R prints: wilcox.test(x, conf.int = TRUE)', () => {
    const interval = signedRankInterval(plants);
    assert.ok(interval);
    close(interval.low, 7);
    close(interval.high, 36);
  });

  it('does not exist for five values', () => {
    assert.equal(signedRankInterval([1, 2, 3, 4, 5]), undefined);
    assert.equal(signedRankInterval([]), undefined);
  });

  it('is mirrored when base and head change places', () => {
    const chance = seededChance('mirror');
    for (let size = 6; size <= 12; size += 1) {
      const values = Array.from({ length: size }, () => normal(chance));
      const [one, other] = [signedRankInterval(values), signedRankInterval(values.map((value) => -value))];
      assert.ok(one && other);
      close(other.low, -one.high);
      close(other.high, -one.low);
    }
  });

  it('leaves out 0 exactly where the test says so, when there are no ties', () => {
    const chance = seededChance('duality');
    for (let trial = 0; trial < 200; trial += 1) {
      const values = Array.from({ length: 6 + (trial % 7) }, () => normal(chance) + 0.6);
      const interval = signedRankInterval(values);
      assert.ok(interval);
      assert.equal(interval.low > 0 || interval.high < 0, signedRankP(values) <= 1 - interval.coverage + 1e-12);
    }
  });
});

describe('the test', () => {
  it('gives the exact p of the tables', () => {
    close(signedRankP([1, 2, 3, 4, 5, 6]), 2 / 64);
    close(signedRankP([-1, 2, 3, 4, 5, 6]), 4 / 64);
    close(signedRankP([1, 2, 3, 4, 5, 6, 7, 8]), 2 / 256);
    close(signedRankP([1]), 1);
  });

  it('finds nothing in equal values, whether all are 0 or balanced', () => {
    close(signedRankP([0, 0, 0, 0, 0, 0]), 1);
    close(signedRankP([1, -1, 1, -1, 1, -1]), 1);
  });

  it('passes, of several quantities, only what passes for all of them together', () => {
    assert.deepEqual(holm([0.001, 0.04, 0.02]), [true, true, true]);
    assert.deepEqual(holm([0.04, 0.04, 0.04]), [false, false, false]);
    assert.deepEqual(holm([0.3, 0.012, 0.02, 0.9]), [false, true, false, false]);
  });
});

describe('median and quantile', () => {
  it('are values of the list, or the mean of the two in the middle', () => {
    close(median([3, 1, 2]), 2);
    close(median([4, 1, 2, 3]), 2.5);
    assert.deepEqual(
      [0, 0.5, 0.9, 1].map((part) => quantile([4, 1, 3, 2], part)),
      [1, 2, 4, 4],
    );
  });

  it('of nothing are a defect', () => {
    assert.throws(() => median([]), /nothing/);
    assert.throws(() => quantile([], 0.5), /nothing/);
  });
});
