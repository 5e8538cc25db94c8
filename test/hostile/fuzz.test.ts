import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './fuzz.ts';
import { targets } from './targets.ts';

/** How many times as long as in the ordinary tests: `npm run test:hostile` takes its time. */
const factor = Number(process.env['FUZZ_FACTOR'] ?? '1');
/** Milliseconds for each target, by what its cases are known to cost; the number of cases depends on no clock. */
const budget = 60 * factor;
const seed = 1;

for (const target of targets) {
  const cases = Math.round(budget / target.cost);
  test(`${target.name}: whatever comes is refused with a problem, or keeps every promise`, async (t) => {
    const { accepted, findings, peakMemory } = await fuzz(target, seed, cases);
    t.diagnostic(`${accepted} accepted, ${Math.round(peakMemory / 2 ** 20)} MiB at most`);
    t.diagnostic(`${cases} inputs tried, ${findings.length} promises broken`);
    const told = findings.map(
      ({ index, what, input }) => `case ${index} of seed ${seed} (${input.length} bytes): ${what}`,
    );
    assert.deepEqual(told, []);
    assert.ok(accepted > 0, 'some input is near enough to the valid ones to be accepted');
  });
}
