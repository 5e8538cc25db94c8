import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inFlight, waves } from '../../src/timing/stretches.ts';

const stretch = (start: number, end: number) => ({ start, end });

suite('waves', () => {
  test('hold what began before anything of them had ended', () => {
    const first = [stretch(0, 10), stretch(1, 12), stretch(2, 30)];
    const second = [stretch(10, 20), stretch(12, 25)];
    assert.deepEqual(waves([...second, ...first]), [first, second]);
  });

  test('of one after another are as many as there are', () => {
    const all = [stretch(0, 10), stretch(10, 20), stretch(25, 30)];
    assert.deepEqual(
      waves(all),
      all.map((one) => [one]),
    );
  });

  test('lose nothing, also of what lasts no time, and none is empty', () => {
    const all = [stretch(0, 0), stretch(0, 0), stretch(5, 5), stretch(5, 9), stretch(9, 9)];
    const found = waves(all);
    assert.equal(found.flat().length, all.length);
    assert.ok(found.every((wave) => wave.length > 0));
    assert.deepEqual(waves([]), []);
  });
});

test('the number in flight is told at every moment at which it changes', () => {
  const told = inFlight([stretch(0, 10), stretch(5, 10), stretch(10, 20)]).map(({ at, count }) => `${at}:${count}`);
  assert.deepEqual(told, ['0:1', '5:2', '10:1', '10:0', '10:1', '20:0']);
});
