/**
 * Measures this project against its peers, or against itself in other settings: both sides in one run, in turn, with medians, ranges and ratios.
 *
 *     npm run bench -- SCENARIO [--json FILE] [--runs N] [--only PART]… [--quick] [--dist FOLDER] [--profile FOLDER]
 *
 * FILE gets `{scenario, machine, rows, ratios}`. `--only` picks parts of a scenario that has some. `--quick` is small and proves nothing but that the bench works.
 * `--dist` measures that build instead of one of the present sources.
 * `--profile` leaves V8's CPU profiles of our processes in FOLDER, and times that are no good for claims. Nothing else should go on on the machine.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cephMissing } from '../test/rig/ceph.ts';
import { skipWithout } from '../test/rig/process.ts';
import { openLaboratory } from './laboratory.ts';
import { describeMachine, programs } from './machine.ts';
import { alternate } from './measurement.ts';
import type { Bench, Findings, Scenario } from './scenario.ts';
import { addOne } from './scenarios/add-one.ts';
import { crowd } from './scenarios/crowd.ts';
import { initial } from './scenarios/initial.ts';
import { large } from './scenarios/large.ts';
import { rename } from './scenarios/rename.ts';
import { noop, republish } from './scenarios/standing.ts';
import { suites } from './scenarios/suites.ts';
import { tail } from './scenarios/tail.ts';
import { table } from './table.ts';

const scenarios: ReadonlyMap<string, Scenario> = new Map([
  ['rename', rename],
  ['suites', suites],
  ['noop', noop],
  ['republish', republish],
  ['initial', initial],
  ['add-one', addOne],
  ['large', large],
  ['tail', tail],
  ['crowd', crowd],
]);

/** Enough for a median that one disturbed run does not move. */
const standardRuns = 7;
const slowRuns = 3;

interface Wishes {
  readonly runs: number | undefined;
  readonly only: readonly string[];
  readonly quick: boolean;
  readonly dist: string | undefined;
  readonly profiles: string | undefined;
}

async function measure(scenario: Scenario, { runs, only, quick, dist, profiles }: Wishes): Promise<Findings> {
  const log = (line: string) => console.error(`  ${line}`);
  await using laboratory = await openLaboratory({ dist, profiles, log });
  const bench: Bench = {
    laboratory,
    size: (full, small) => (quick ? small : full),
    wants: (part) => only.length === 0 || only.includes(part),
    compare: (sides, patience) =>
      alternate(sides, {
        runs: runs ?? (patience === 'slow' ? slowRuns : standardRuns),
        warmUps: patience === 'slow' || quick ? 0 : 1,
        log,
      }),
  };
  return await scenario.measure(bench);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      runs: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      dist: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const [name = ''] = positionals;
  const scenario = scenarios.get(name);
  const runs = values.runs === undefined ? undefined : Number(values.runs);
  if (
    scenario === undefined ||
    positionals.length > 1 ||
    (runs !== undefined && !(Number.isInteger(runs) && runs > 0))
  ) {
    console.error(
      'usage: npm run bench -- SCENARIO [--json FILE] [--runs N] [--only PART]… [--quick] [--dist FOLDER] [--profile FOLDER]',
    );
    console.error(`SCENARIO is one of ${[...scenarios.keys()].join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const missing = skipWithout(...programs) || cephMissing();
  if (missing !== false) throw new Error(`The bench cannot run here: ${missing}.`);
  const given = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  const profiles = given(values.profile);
  if (profiles !== undefined) await mkdir(profiles, { recursive: true });

  const machine = await describeMachine();
  console.error(`${name}: ${scenario.about}`);
  const { rows, ratios } = await measure(scenario, {
    runs,
    only: values.only,
    quick: values.quick,
    dist: given(values.dist),
    profiles,
  });
  console.log(table(rows, ratios));
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify({ scenario: name, machine, rows, ratios }, undefined, 2)}\n`);
}

await main();
