import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, count, difference, duration, durations, enumeration, number, percent } from '../../src/report/units.ts';

function table<T>(render: (value: T) => string, cases: readonly (readonly [T, string])[]): void {
  for (const [value, expected] of cases) assert.equal(render(value), expected, `of ${String(value)}`);
}

test('durations have the digits that a reader compares', () =>
  table(duration, [
    [0, '0 ms'],
    [0.04, '0 ms'],
    [1.25, '1.3 ms'],
    [9.94, '9.9 ms'],
    [9.95, '10 ms'],
    [999.4, '999 ms'],
    [999.5, '1.0 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [3_599_400, '59 min 59 s'],
    [3_599_500, '1 h 0 min'],
    [90_000_000, '25 h 0 min'],
  ]));

test('bytes are in decimal units, and never 1000 of one', () =>
  table(bytes, [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [1234, '1.2 kB'],
    [99_400, '99 kB'],
    [999_499, '999 kB'],
    [999_500, '1 MB'],
    [1_500_000_000, '1.5 GB'],
    [2e15, '2000 TB'],
  ]));

test('large numbers are grouped', () =>
  table(number, [
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [1234567, '1,234,567'],
  ]));

test('one thing has no plural', () => {
  assert.equal(count(1, 'package'), '1 package');
  assert.equal(count(0, 'package'), '0 packages');
  assert.equal(count(1200, 'package'), '1,200 packages');
});

test('a share that is not nothing is not shown as nothing', () =>
  table(percent, [
    [0, '0 %'],
    [0.001, '<1 %'],
    [0.005, '1 %'],
    [0.5, '50 %'],
    [1.2, '120 %'],
  ]));

test('a difference of sizes has its sign', () => {
  table(difference, [
    [1234, '+1.2 kB'],
    [-900, '−900 B'],
    [0, '±0 B'],
    [Number.NaN, '–'],
  ]);
});

test('durations that share a unit name it once', () => {
  assert.equal(durations([103, 108, 240]), '103, 108, 240 ms');
  assert.equal(durations([999, 1200]), '999 ms, 1.2 s');
  assert.equal(durations([61_000, 61_000]), '1 min 1 s, 1 min 1 s');
  assert.equal(durations([7]), '7 ms');
  assert.equal(durations([]), '');
});

test('what is no number is an en dash', () => {
  for (const render of [duration, bytes, number, percent]) {
    table(render, [
      [Number.NaN, '–'],
      [-1, '–'],
      [Number.POSITIVE_INFINITY, '–'],
    ]);
  }
});

test('lists are read aloud', () => {
  assert.equal(enumeration([], 3), '');
  assert.equal(enumeration(['a'], 3), 'a');
  assert.equal(enumeration(['a', 'b'], 3), 'a and b');
  assert.equal(enumeration(['a', 'b', 'c'], 3), 'a, b and c');
  assert.equal(enumeration(['a', 'b', 'c', 'd'], 2), 'a, b and 2 more');
});
