import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { boundedWave } from '../../src/publish/wave.ts';

/** Runs a wave over these weights and tells what was in hand together at most, by number and by weight. */
async function run(weights: readonly number[], most: number, heaviest: number) {
  const peak = { number: 0, weight: 0 };
  const order: number[] = [];
  let [number, weight] = [0, 0];
  await boundedWave([...weights.entries()], { most, heaviest, weigh: ([, own]) => own }, async ([index, own]) => {
    order.push(index);
    number += 1;
    weight += own;
    peak.number = Math.max(peak.number, number);
    peak.weight = Math.max(peak.weight, weight);
    for (let turn = 0; turn <= index % 3; turn += 1) await setImmediate();
    number -= 1;
    weight -= own;
  });
  return { peak, order };
}

describe('work that holds more than a request', () => {
  test('is taken up in order, no more of it at a time than was said', async () => {
    const { peak, order } = await run(
      Array.from({ length: 100 }, () => 1),
      7,
      1000,
    );
    assert.deepEqual(peak, { number: 7, weight: 7 });
    assert.deepEqual(
      order,
      Array.from({ length: 100 }, (_, index) => index),
    );
  });

  test('weighs no more than was said, but for what is heavier by itself', async () => {
    const { peak } = await run([3, 3, 3, 3, 1, 1, 1], 100, 7);
    assert.ok(peak.weight <= 7 && peak.number > 1, JSON.stringify(peak));
    assert.deepEqual((await run([50, 1, 50], 100, 7)).peak, { number: 1, weight: 50 });
  });

  test('is not taken up any more after a failure, which is thrown when the rest has ended', async () => {
    const ended: number[] = [];
    const begun: number[] = [];
    const failing = boundedWave([0, 1, 2, 3, 4, 5], { most: 3, heaviest: 100, weigh: () => 1 }, async (item) => {
      begun.push(item);
      await setImmediate();
      if (item === 0) throw new Error('first');
      await setImmediate();
      ended.push(item);
    });
    await assert.rejects(failing, /first/);
    assert.deepEqual(
      [begun, ended],
      [
        [0, 1, 2],
        [1, 2],
      ],
    );
  });

  test('of nothing ends at once', async () => {
    await boundedWave([], { most: 1, heaviest: 1, weigh: () => 1 }, () => assert.fail('there is nothing to do'));
  });
});
