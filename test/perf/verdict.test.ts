import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededChance } from '../../src/perf/chance.ts';
import { detectable, type Noise, type NoiseSession, noiseBand } from '../../src/perf/noise-band.ts';
import { differences, drift, orderOfRuns, type Pair } from '../../src/perf/pairs.ts';
import { couldHide, judge, practicalFloor, wantsMore } from '../../src/perf/verdict.ts';
import { normal } from './noise-models.ts';

const quiet: Noise = { band: Math.log(1.03), source: 'measured', differences: [0.01, -0.012, 0.02], sessions: 6 };
const floor = practicalFloor.emulator;

/** Pairs whose heads take so many per cent longer, base first and head first in turns. */
function pairsOf(...percents: readonly number[]): Pair[] {
  return percents.map((percent, index) => ({
    base: 1000,
    head: 1000 * (1 + percent / 100),
    first: index % 2 === 0 ? 'base' : 'head',
  }));
}

const verdictOf = (...percents: readonly number[]) => judge(pairsOf(...percents), quiet, floor).verdict;

describe('the verdict', () => {
  it('is slower or faster when the interval leaves out 0 and the estimate exceeds the band', () => {
    assert.equal(verdictOf(7, 8, 9, 8, 7.5, 8.5), 'slower');
    assert.equal(verdictOf(-7, -8, -9, -8, -7.5, -8.5), 'faster');
  });

  it('is within noise when a change twice the band is ruled out, however certain a smaller one is', () => {
    assert.equal(verdictOf(1, -1, 0.5, -0.5, 1.5, -1.5), 'within noise');
    assert.equal(verdictOf(2, 2.1, 2.2, 2.1, 2, 2.2), 'within noise');
  });

  it('is inconclusive when neither holds', () => {
    assert.equal(verdictOf(-4, 12, 9, 8, 10, 7), 'inconclusive');
    assert.equal(verdictOf(-9, 9, 8, -8, 3, -3), 'inconclusive');
  });

  it('is inconclusive for five pairs, whatever they say, and flags why', () => {
    const judgement = judge(pairsOf(20, 20, 20, 20, 20), quiet, floor);
    assert.equal(judgement.verdict, 'inconclusive');
    assert.deepEqual(judgement.flags, ['few_pairs']);
    assert.equal(couldHide(judgement), undefined);
  });

  it('does not call a change smaller than the practical floor one, however quiet the machine', () => {
    const silent = { ...quiet, band: 0.0001 };
    const sure = pairsOf(1.5, 1.6, 1.5, 1.6, 1.5, 1.6);
    assert.equal(judge(sure, silent, floor).verdict, 'within noise');
    assert.equal(judge(pairsOf(2.5, 2.6, 2.5, 2.6, 2.5, 2.6), silent, floor).verdict, 'slower');
  });

  it('goes by the scatter of its own pairs where the noise of the machine was not measured and they are wilder than the default band', () => {
    const wild = pairsOf(-53, -9, -30, -20, -26, -45);
    const unmeasured: Noise = { band: Math.log(1.1), source: 'default', differences: [], sessions: 0 };
    const { noise, threshold } = judge(wild, unmeasured, floor);
    assert.ok(noise.band > 0.2 && threshold === noise.band, String(noise.band));
    const calm = judge(pairsOf(14, 15, 16, 15, 14, 16), unmeasured, floor);
    assert.equal(calm.noise.band, Math.log(1.1));
    assert.equal(calm.verdict, 'slower');
  });

  it('is mirrored when base and head change places, and the same whatever the unit', () => {
    const chance = seededChance('properties');
    const mirrored = {
      slower: 'faster',
      faster: 'slower',
      'within noise': 'within noise',
      inconclusive: 'inconclusive',
    };
    for (let trial = 0; trial < 300; trial += 1) {
      const effect = 0.08 * normal(chance);
      const pairs = pairsOf(...Array.from({ length: 6 }, () => 100 * Math.expm1(effect + 0.03 * normal(chance))));
      const swapped = pairs.map(({ base, head, first }): Pair => {
        return { base: head, head: base, first: first === 'base' ? 'head' : 'base' };
      });
      const scaled = pairs.map((pair) => ({ ...pair, base: pair.base / 1000, head: pair.head / 1000 }));
      const { verdict, estimate } = judge(pairs, quiet, floor);
      assert.equal(judge(swapped, quiet, floor).verdict, mirrored[verdict]);
      assert.ok(Math.abs(judge(swapped, quiet, floor).estimate + estimate) < 1e-12);
      assert.equal(judge(scaled, quiet, floor).verdict, verdict);
    }
  });

  it('asks for a second look once, and only when it is inconclusive', () => {
    const [open, clear] = [pairsOf(-9, 9, 8, -8, 3, -3), pairsOf(8, 8, 8, 8, 8, 8)];
    assert.equal(wantsMore(judge(open, quiet, floor)), true);
    assert.equal(wantsMore(judge(clear, quiet, floor)), false);
    assert.equal(wantsMore(judge([...open, ...open], quiet, floor)), false);
  });

  it('says what size of change could hide behind it', () => {
    const judgement = judge(pairsOf(-4, 12, 9, 8, 10, 7), quiet, floor);
    assert.ok(Math.abs(Math.expm1(couldHide(judgement) ?? 0) - 0.12) < 1e-9);
  });
});

describe('the pairs', () => {
  it('are run in blocks that give each side every place once, by a coin that can be thrown again', () => {
    const order = orderOfRuns(6, seededChance('pr148-4f2c'));
    assert.deepEqual(orderOfRuns(6, seededChance('pr148-4f2c')), order);
    assert.equal(order.length, 12);
    const blocks = [0, 4, 8].map((at) => order.slice(at, at + 4).join(' '));
    for (const block of blocks) assert.match(block, /^(base head head base|head base base head)$/);
    const coins = Array.from({ length: 200 }, (_, seed) => orderOfRuns(2, seededChance(String(seed)))[0]);
    const heads = coins.filter((first) => first === 'head').length;
    assert.ok(heads > 70 && heads < 130, String(heads));
  });

  it('of a machine whose second run is faster are put right, and flagged', () => {
    // Equal builds; whoever runs second takes 5 % less.
    const warm = [0, 1, 2, 3, 4, 5].map((index): Pair => {
      return index % 2 === 0 ? { base: 1, head: 0.95, first: 'base' } : { base: 0.95, head: 1, first: 'head' };
    });
    const { values, position, corrected } = differences(warm, 0.03);
    assert.equal(corrected, true);
    assert.ok(Math.abs(position - Math.log(0.95)) < 1e-12);
    for (const value of values) assert.ok(Math.abs(value) < 1e-12);
    assert.deepEqual(judge(warm, quiet, floor).flags, ['position_effect']);
    assert.equal(differences(warm, 0.2).corrected, false);
  });

  it('of a machine that gets slower all the time are flagged', () => {
    const tired = [0, 1, 2, 3, 4, 5].map((index): Pair => {
      return { base: 1.02 ** index, head: 1.02 ** index, first: 'base' };
    });
    assert.ok(Math.abs(drift(tired) - 5 * Math.log(1.02)) < 1e-9);
    assert.deepEqual(judge(tired, quiet, floor).flags, ['drift']);
  });

  it('are flagged when estimate and median disagree about the sign', () => {
    assert.deepEqual(judge(pairsOf(-1, -1, -1, -1, 30, 30, 30), { ...quiet, band: 1 }, floor).flags, ['unstable']);
  });
});

describe('the noise band', () => {
  const key = { scenario: 'incremental', machine: 'ubuntu-24.04 EPYC 4', endpoint: 'emulator', harness: 'a1' } as const;
  const session = (day: number, differences: readonly number[]): NoiseSession => {
    return { key, started: new Date(Date.UTC(2026, 0, day)).toISOString(), differences };
  };
  const chance = seededChance('pool');
  const nights = [1, 2, 3, 4].map((day) =>
    session(
      day,
      Array.from({ length: 6 }, () => 0.03 * normal(chance)),
    ),
  );
  const soon = Date.UTC(2026, 0, 5);

  it('is measured from 24 pairs of four nights, and narrower for more pairs', () => {
    const [six, twelve] = [noiseBand(nights, key, 6, soon), noiseBand(nights, key, 12, soon)];
    assert.equal(six.source, 'measured');
    assert.equal(six.sessions, 4);
    assert.ok(six.band > 0.015 && six.band < 0.05, String(six.band));
    assert.ok(twelve.band < 0.85 * six.band);
    assert.deepEqual(noiseBand(nights, key, 6, soon), six);
  });

  it('is the default one with less than that, wider against a real store', () => {
    const few = noiseBand(nights.slice(1), key, 6, soon);
    assert.deepEqual(few, { band: Math.log(1.1), source: 'default', differences: [], sessions: 0 });
    assert.equal(noiseBand([], { ...key, endpoint: 's3' }, 6, soon).band, Math.log(1.2));
    const thin = nights.map((night) => ({ ...night, differences: night.differences.slice(1) }));
    assert.equal(noiseBand(thin, key, 6, soon).source, 'default');
  });

  it('expires after fourteen days', () => {
    assert.equal(noiseBand(nights, key, 6, Date.UTC(2026, 0, 15) - 1).source, 'measured');
    assert.equal(noiseBand(nights, key, 6, Date.UTC(2026, 0, 15)).source, 'stale');
  });

  for (const other of [{ scenario: 'cold' }, { machine: 'other' }, { endpoint: 's3' }, { harness: 'b2' }] as const) {
    it(`counts nothing of another ${Object.keys(other).join()}`, () => {
      assert.equal(noiseBand(nights, { ...key, ...other }, 6, soon).source, 'default');
    });
  }

  it('tells the slowdown that most comparisons would find, smaller for more pairs', () => {
    const values = nights.flatMap((night) => night.differences);
    const found = [6, 12].map((pairs) => detectable(values, pairs, 0.02) ?? 0);
    const [six = 0, twelve = 0] = found;
    assert.ok(six > twelve && twelve > 0.02 && six < 0.12, found.join());
    assert.equal(detectable(values, 5, 0.02), undefined);
  });
});
