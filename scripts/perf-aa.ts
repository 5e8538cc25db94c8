/**
 * Trusts nobody, least of all the instrument: compares the bundle with itself many times over, which must name no direction in more than two of fifty
 * comparisons. Takes about a minute a comparison. What was measured is in a file after each of them; started again with it, it goes on.
 *
 *     npm run perf:aa                                      50 comparisons of dist/ with itself
 *     npm run perf:aa -- --pairings 2 --results /tmp/a.json   a short version
 *     npm run perf:aa -- --bundle other/dist/index.js
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assess, noiseSession } from '../src/perf/assess.ts';
import type { ComparisonRecord } from '../src/perf/comparison-record.ts';
import type { NoiseSession } from '../src/perf/noise-band.ts';
import type { PerfResult } from '../src/report/perf-comment.ts';
import { duration } from '../src/report/units.ts';
import { root } from './build.ts';
import { carryOut, copiedBundle, Results, type Trial, usual, verdictLine } from './comparisons.ts';

/** Two directions in fifty. */
const mostDirections = 0.04;

const { values } = parseArgs({
  options: {
    pairings: { type: 'string', default: '50' },
    bundle: { type: 'string', default: join(root, 'dist/index.js') },
    results: { type: 'string', default: join(root, 'tmp/perf-aa.json') },
  },
});
const pairings = Number(values.pairings);
await using bundle = await copiedBundle(values.bundle);
const results = await Results.open(values.results, bundle.hash);
/** Each comparison is judged by the noise of those before it, as on a machine that measures every night. */
const sessions: NoiseSession[] = [];
const verdicts: PerfResult['verdict'][] = [];
for (const record of results.records) judged(record);
for (let index = results.records.length + 1; index <= pairings; index += 1) {
  const name = `incremental-${index}`;
  const trial: Trial = { name, scenario: 'incremental', distance: usual, head: (base) => base };
  const record = await carryOut(bundle, trial, sessions);
  const result = judged(record);
  await results.add(record, result.verdict);
  console.log(`[${index}/${pairings}] ${verdictLine(name, result)}; ${directions()} so far, ${toGo(index)} to go`);
}
console.log(
  `${directions()} of ${verdicts.length} comparisons of the bundle with itself named a direction or failed; they are in ${values.results}.`,
);
if (directions() > Math.max(1, mostDirections * pairings)) process.exitCode = 1;

function judged(record: ComparisonRecord): PerfResult {
  const result = assess(record, sessions);
  verdicts.push(result.verdict);
  const session = noiseSession(record);
  if (session !== undefined) sessions.push(session);
  return result;
}

function directions(): number {
  return verdicts.filter((verdict) => verdict !== 'within noise' && verdict !== 'inconclusive').length;
}

function toGo(done: number): string {
  const spent = results.records.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return duration((spent / results.records.length) * (pairings - done));
}
