/**
 * Trusts nobody, least of all the instrument: compares the bundle with itself many times over, which must find no difference, and with builds that
 * are known to be slower, which must be found slower, three times of three.
 *
 *     npm run perf:aa                        50 comparisons of dist/ with itself
 *     npm run perf:aa -- --pairings 2        a short version
 *     npm run perf:aa -- --pairings 4 --controls 3   then the three slower builds, three times each
 *     npm run perf:aa -- --bundle other/dist/index.js
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/action/system-clock.ts';
import { version } from '../src/action/version.ts';
import { noiseSession } from '../src/perf/assess.ts';
import { compare } from '../src/perf/comparison.ts';
import type { ScenarioName } from '../src/perf/comparison-record.ts';
import { emulator, type Ground } from '../src/perf/ground.ts';
import { harnessHash, thisMachine } from '../src/perf/machine.ts';
import type { NoiseSession } from '../src/perf/noise-band.ts';
import type { Side } from '../src/perf/run-build.ts';
import { change, type PerfResult } from '../src/report/perf-comment.ts';
import { startLatencyProxy } from '../test/rig/latency-proxy.ts';
import { root } from './build.ts';

const roundTripMs = 20;
/** What two directions too many in fifty would take: 4 % of equal builds. */
const mostDirections = 0.04;
/** Comparisons of a workload with itself after which its noise counts as measured. */
const fewestNights = 4;

interface Comparison {
  readonly name: string;
  readonly head: Side;
  readonly scenario: ScenarioName;
}

const { values } = parseArgs({
  options: {
    pairings: { type: 'string', default: '50' },
    controls: { type: 'string', default: '0' },
    bundle: { type: 'string', default: join(root, 'dist/index.js') },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'apt-publish-perf-'));
const script = join(root, 'test/perf/emulator.ts');
const node = join(root, 'node_modules/.bin/node');
try {
  // The side under test is a copy, so that a build of it in the meantime changes nothing.
  await cp(dirname(values.bundle), join(folder, 'bundle'), { recursive: true });
  const base: Side = { main: join(folder, 'bundle', 'index.js'), inputs: {} };
  const sessions = await alike(base, Number(values.pairings), 'incremental');
  if (Number(values.controls) > 0) {
    sessions.push(...(await alike(base, fewestNights, 'cold')));
    await slower(base, Number(values.controls), sessions);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The bundle against itself; each comparison is judged by the noise of those before it, as on a machine that measures every night. */
async function alike(base: Side, pairings: number, scenario: ScenarioName): Promise<NoiseSession[]> {
  const sessions: NoiseSession[] = [];
  let directions = 0;
  for (let index = 1; index <= pairings; index += 1) {
    const { record, result } = await run(base, { name: `${scenario}-${index}`, head: base, scenario }, sessions);
    const session = noiseSession(record);
    if (session !== undefined) sessions.push(session);
    if (result.verdict !== 'within noise' && result.verdict !== 'inconclusive') directions += 1;
  }
  console.log(
    `${scenario}: ${directions} of ${pairings} comparisons of the bundle with itself named a direction or failed.`,
  );
  if (directions > Math.max(1, mostDirections * pairings)) process.exitCode = 1;
  return sessions;
}

async function slower(base: Side, times: number, sessions: readonly NoiseSession[]): Promise<void> {
  for (let time = 1; time <= times; time += 1) {
    const tenth: Side = { main: await slowedByATenth(base.main), inputs: {} };
    const half: Side = { ...base, inputs: { 'upload-concurrency': '8', 'rename-concurrency': '8' } };
    const controls: Comparison[] = [
      { name: `tenth-${time}`, head: tenth, scenario: 'incremental' },
      { name: `half-${time}`, head: half, scenario: 'cold' },
      { name: `distance-${time}`, head: base, scenario: 'incremental' },
    ];
    for (const control of controls) {
      const { result } = await run(base, control, sessions);
      if (result.verdict !== 'slower') process.exitCode = 1;
    }
  }
}

/** A build that runs the bundle and then takes a tenth of that time for nothing. */
async function slowedByATenth(main: string): Promise<string> {
  const slow = join(folder, 'slow');
  await mkdir(slow, { recursive: true });
  await writeFile(join(slow, 'package.json'), '{"type":"module"}');
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, performance.now() / 10)';
  await writeFile(
    join(slow, 'index.js'),
    `process.on('exit', () => ${wait});\nawait import(${JSON.stringify(main)});\n`,
  );
  return join(slow, 'index.js');
}

async function run(base: Side, { name, head, scenario }: Comparison, sessions: readonly NoiseSession[]) {
  await using ground = await emulator(script, roundTripMs, node, version);
  await using farther = await startLatencyProxy({ to: String(ground.inputs['endpoint']), delayMs: 10 });
  const far: Side = name.startsWith('distance') ? { ...head, inputs: { endpoint: farther.endpoint } } : head;
  const compared = await compare(
    bench(ground, name, { base, head: far }),
    {
      subject: { kind: 'settings', base: 'itself', head: name },
      machine: thisMachine(process.env['ImageOS']),
      harness: await harnessHash([script]),
    },
    scenario,
    sessions,
  );
  console.log(line(name, compared.result));
  return compared;
}

function bench(ground: Ground, pairing: string, sides: { readonly base: Side; readonly head: Side }) {
  return { sides, ground, pairing, node, folder: join(folder, 'work'), clock: systemClock, log: () => {} };
}

function line(name: string, { verdict, walls, pairs, durationMs, remarks }: PerfResult): string {
  const [wall] = walls;
  if (wall === undefined) return `${name}: ${verdict}: ${remarks.join(' ')}`;
  const { interval, band = 0 } = wall;
  const range = interval === undefined ? 'no interval' : `${change(interval.low)} … ${change(interval.high)}`;
  const took = `${Math.round(durationMs / 1000)} s`;
  return `${name}: ${verdict}, ${change(wall.change)} (${range}), band ${change(band)}, ${Math.round(wall.base)} ms, ${pairs} pairs, ${took}`;
}
