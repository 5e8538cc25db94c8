import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Chance, seededChance } from '../../src/perf/chance.ts';
import { type NoiseSession, noiseBand } from '../../src/perf/noise-band.ts';
import { differences, looks } from '../../src/perf/pairs.ts';
import { signedRankInterval } from '../../src/perf/signed-rank.ts';
import { type Judgement, judge, practicalFloor, wantsMore } from '../../src/perf/verdict.ts';
import { type NoiseModel, noiseModels, normal, simulatedPairs } from './noise-models.ts';

const key = { scenario: 'incremental', machine: 'simulated', endpoint: 'emulator', harness: 'simulated' } as const;
const today = Date.UTC(2026, 0, 2);

/** Machines of this kind whose noise was measured on eight nights, six pairs each. */
function measuredBands(model: NoiseModel, chance: Chance) {
  const sessions = Array.from({ length: 8 }, (): NoiseSession => {
    const { values } = differences(simulatedPairs(6, model, 1, chance), Number.POSITIVE_INFINITY);
    return { key, started: '2026-01-01T00:00:00Z', differences: values };
  });
  return looks.map((pairs) => noiseBand(sessions, key, pairs, today));
}

/** Comparisons of a head that takes `effect` times as long as its base, with the second look where the first one asks for it. */
function verdicts(model: NoiseModel, effect: number, machines: number, each: number, seed: string): Judgement[] {
  const chance = seededChance(seed);
  return Array.from({ length: machines }, () => {
    const [early, late] = measuredBands(model, chance);
    assert.ok(early && late);
    return Array.from({ length: each }, () => {
      const pairs = simulatedPairs(looks[1], model, effect, chance);
      const first = judge(pairs.slice(0, looks[0]), early, practicalFloor.emulator);
      return wantsMore(first) ? judge(pairs, late, practicalFloor.emulator) : first;
    });
  }).flat();
}

const part = (judgements: readonly Judgement[], ...verdicts: readonly Judgement['verdict'][]) =>
  judgements.filter(({ verdict }) => verdicts.includes(verdict)).length / judgements.length;

describe('the verdict on equal builds names a direction in at most 3 of 100 comparisons', () => {
  for (const [name, model] of Object.entries(noiseModels)) {
    it(`on a machine with noise that is ${name}`, () => {
      const found = verdicts(model, 1, 8, 125, name);
      const [slower, faster] = [part(found, 'slower'), part(found, 'faster')];
      assert.ok(slower + faster <= 0.03, `slower ${slower}, faster ${faster}`);
    });
  }
});

describe('the verdict on a head that takes 10 % longer', () => {
  it('is "slower" in at least 9 of 10 comparisons of twelve pairs whose runs scatter by 3 %', () => {
    const found = verdicts(noiseModels['independent'] ?? assert.fail(), 1.1, 6, 40, 'power');
    assert.ok(part(found, 'slower') >= 0.9, String(part(found, 'slower')));
    assert.equal(part(found, 'faster'), 0);
  });
});

describe('the interval', () => {
  for (const pairs of looks) {
    it(`of ${pairs} pairs covers the truth as often as it claims`, () => {
      const chance = seededChance(`coverage ${pairs}`);
      const trials = 4000;
      let covered = 0;
      let claimed = 0;
      for (let trial = 0; trial < trials; trial += 1) {
        const interval = signedRankInterval(Array.from({ length: pairs }, () => 0.07 + normal(chance)));
        assert.ok(interval);
        claimed = interval.coverage;
        if (interval.low < 0.07 && interval.high > 0.07) covered += 1;
      }
      // Three standard errors of a proportion of 4000.
      assert.ok(Math.abs(covered / trials - claimed) < 0.01, `${covered / trials} of ${claimed}`);
    });
  }
});
