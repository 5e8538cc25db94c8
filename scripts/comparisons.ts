/** Comparisons of a bundle with itself and with slower ones, on the emulator, outside of GitHub: what `perf-aa.ts` and `perf-controls.ts` share. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../src/action/system-clock.ts';
import { version } from '../src/action/version.ts';
import { compare } from '../src/perf/comparison.ts';
import { type ComparisonRecord, parseComparison, type ScenarioName } from '../src/perf/comparison-record.ts';
import { type Distance, emulator } from '../src/perf/ground.ts';
import { harnessHash, thisMachine } from '../src/perf/machine.ts';
import type { NoiseSession } from '../src/perf/noise-band.ts';
import type { Side } from '../src/perf/run-build.ts';
import { usualMebibytes, workloads } from '../src/perf/workloads.ts';
import { change, type PerfResult } from '../src/report/perf-comment.ts';
import { root } from './build.ts';

/** As far as from a runner to a store in the same region. */
export const usual: Distance = { roundTripMs: 20 };

/** One comparison: the bundle as it is, and what stands beside it. */
export interface Trial {
  readonly name: string;
  readonly scenario: ScenarioName;
  readonly distance: Distance;
  /** `fartherEndpoint` is the store by its second door. */
  readonly head: (base: Side, fartherEndpoint: string) => Side | Promise<Side>;
}

/** A copy of a bundle, so that a build of it in the meantime changes nothing; goes with the block it is used in. */
export interface CopiedBundle extends AsyncDisposable {
  readonly base: Side;
  readonly folder: string;
  /** SHA-256 of its main file. */
  readonly hash: string;
}

export async function copiedBundle(main: string): Promise<CopiedBundle> {
  const folder = await mkdtemp(join(tmpdir(), 'apt-publish-perf-'));
  const copy = join(folder, 'bundle');
  await cp(dirname(main), copy, { recursive: true });
  const base: Side = { main: join(copy, 'index.js'), inputs: {} };
  return {
    base,
    folder,
    hash: await harnessHash([base.main]),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Both looks of a comparison, on an emulator of its own. */
export async function carryOut(
  { base, folder }: CopiedBundle,
  { name, scenario, distance, head }: Trial,
  sessions: readonly NoiseSession[],
): Promise<ComparisonRecord> {
  const script = join(root, 'test/perf/emulator.ts');
  const node = join(root, 'node_modules/.bin/node');
  const harness = ['src/perf/measure.ts', 'src/perf/run-build.ts', 'src/perf/workloads.ts'];
  await using ground = await emulator(script, distance, node, version);
  const sides = { base, head: await head(base, ground.fartherEndpoint ?? '') };
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  return await compare(
    {
      sides,
      ground,
      workloads: workloads(usualMebibytes),
      pairing: name,
      node,
      folder: work,
      clock: systemClock,
      log: (line) => {
        if (/failed/.test(line)) console.error(line);
      },
    },
    {
      subject: { kind: 'settings', base: 'itself', head: name },
      machine: thisMachine(process.env['ImageOS']),
      harness: await harnessHash([script, ...harness.map((file) => join(root, file))]),
    },
    scenario,
    sessions,
  );
}

/** What one comparison found, on a line. */
export function verdictLine(name: string, { verdict, walls, pairs, durationMs, remarks }: PerfResult): string {
  const [wall] = walls;
  if (wall === undefined) return `${name}: ${verdict}: ${remarks.join(' ')}`;
  const { interval, band = 0 } = wall;
  const range = interval === undefined ? 'no interval' : `${change(interval.low)} … ${change(interval.high)}`;
  const took = `${Math.round(durationMs / 1000)} s`;
  return `${name}: ${verdict}, ${change(wall.change)} (${range}), band ${change(band)}, ${Math.round(wall.base)} ms, ${pairs} pairs, ${took}`;
}

interface Judged {
  /** By the noise that was known when it was made. */
  readonly verdict: PerfResult['verdict'];
  readonly record: ComparisonRecord;
}

/** A file of comparisons that grows as they are made, so that what is ended early can be gone on with. */
export class Results {
  readonly #path: string;
  readonly #bundle: string;
  readonly #comparisons: Judged[];

  private constructor(path: string, bundle: string, comparisons: readonly Judged[]) {
    this.#path = path;
    this.#bundle = bundle;
    this.#comparisons = [...comparisons];
  }

  /** Those in the file, if it is there. Throws when they are of another bundle. */
  static async open(path: string, bundle: string): Promise<Results> {
    const written = await readFile(path, 'utf8').catch(() => undefined);
    if (written === undefined) return new Results(path, bundle, []);
    const file: { readonly bundle: string; readonly comparisons: readonly Judged[] } = JSON.parse(written);
    if (file.bundle !== bundle)
      throw new Error(`${path} has comparisons of another bundle: remove it, or name another file with --results.`);
    const checked = file.comparisons.map(({ verdict, record }) => {
      return { verdict, record: parseComparison(JSON.stringify(record)) };
    });
    return new Results(path, bundle, checked);
  }

  /** In the order in which they were made. */
  get records(): readonly ComparisonRecord[] {
    return this.#comparisons.map(({ record }) => record);
  }

  async add(record: ComparisonRecord, verdict: PerfResult['verdict']): Promise<void> {
    this.#comparisons.push({ verdict, record });
    const text = JSON.stringify({ bundle: this.#bundle, comparisons: this.#comparisons }, undefined, 1);
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, `${text}\n`);
  }
}
