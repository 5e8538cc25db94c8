/**
 * Compares the bundle with builds and settings that are known to be slower. Each must be found slower every time, or the instrument is not to be
 * believed. Each control is measured where it costs time: half the requests in flight cost nothing where a run never has that many, or where two
 * busy cores are what it waits for, so that control has many files to send over a long way.
 *
 *     npm run perf:controls                                   every control three times
 *     npm run perf:controls -- --times 1 --only half
 *     npm run perf:controls -- --noise tmp/perf-aa.json       judged by the noise that `perf:aa` has measured
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assess, noiseSession } from '../src/perf/assess.ts';
import type { Side } from '../src/perf/run-build.ts';
import type { PerfResult } from '../src/report/perf-comment.ts';
import { root } from './build.ts';
import { carryOut, copiedBundle, Results, type Trial, usual, verdictLine } from './comparisons.ts';

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '3' },
    only: { type: 'string', multiple: true },
    bundle: { type: 'string', default: join(root, 'dist/index.js') },
    noise: { type: 'string' },
    results: { type: 'string', default: join(root, 'tmp/perf-controls.json') },
  },
});
await using bundle = await copiedBundle(values.bundle);

const controls: readonly Trial[] = [
  { name: 'tenth', scenario: 'incremental', distance: usual, head: slowedByATenth },
  {
    name: 'half',
    scenario: 'cold',
    distance: { roundTripMs: 100 },
    head: (base) => ({ ...base, inputs: { 'upload-concurrency': '8', 'rename-concurrency': '8' } }),
  },
  {
    name: 'distance',
    scenario: 'incremental',
    distance: { ...usual, fartherMs: usual.roundTripMs + 20 },
    head: (base, endpoint) => ({ ...base, inputs: { endpoint } }),
  },
];

const noise = values.noise === undefined ? [] : (await Results.open(values.noise, bundle.hash)).records;
const sessions = noise.flatMap((record) => noiseSession(record) ?? []);
const results = await Results.open(values.results, bundle.hash);
const verdicts = new Map<string, PerfResult['verdict']>();
const wanted = controls.filter(({ name }) => values.only?.includes(name) ?? true);
for (let time = 1; time <= Number(values.times); time += 1) {
  for (const control of wanted) {
    const name = `${control.name}-${time}`;
    const before = results.records.find(({ pairing }) => pairing === name);
    const record = before ?? (await carryOut(bundle, { ...control, name }, sessions));
    const result = assess(record, sessions);
    verdicts.set(name, result.verdict);
    if (before === undefined) await results.add(record, result.verdict);
    console.log(verdictLine(name, result));
  }
}
for (const { name } of wanted) {
  const own = [...verdicts].filter(([trial]) => trial.startsWith(`${name}-`)).map(([, verdict]) => verdict);
  const found = own.filter((verdict) => verdict === 'slower').length;
  console.log(`${name}: slower ${found} times of ${own.length}`);
  if (found < own.length) process.exitCode = 1;
}

/** A build that runs the bundle and then takes a tenth of that time for nothing. */
async function slowedByATenth({ main }: Side): Promise<Side> {
  const slow = join(bundle.folder, 'slow');
  await mkdir(slow, { recursive: true });
  await writeFile(join(slow, 'package.json'), '{"type":"module"}');
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, performance.now() / 10)';
  const text = `process.on('exit', () => ${wait});\nawait import(${JSON.stringify(main)});\n`;
  await writeFile(join(slow, 'index.js'), text);
  return { main: join(slow, 'index.js'), inputs: {} };
}
