import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../scripts/build.ts';
import { systemClock } from '../../src/action/system-clock.ts';
import { emulator } from '../../src/perf/ground.ts';
import { type Bench, measure } from '../../src/perf/measure.ts';
import { runBuild, type Side } from '../../src/perf/run-build.ts';
import type { Workload } from '../../src/perf/workloads.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const node = join(root, 'node_modules/.bin/node');
const ours: Side = { main: join(root, 'src/main.ts'), inputs: {} };
const small = (name: string) => ({ name, version: '1', size: 1000 });
const workload: Workload = {
  name: 'incremental',
  published: [small('old-one'), small('old-two')],
  incoming: [small('new-one')],
};

/** A bench on which a build is compared with itself. */
async function bench(side: Side, use: (bench: Bench, said: string[]) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  await using ground = await emulator(join(root, 'test/perf/emulator.ts'), 2, node, '0.0.0');
  const said: string[] = [];
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const sides = { base: side, head: side };
  await use({ sides, ground, pairing: 'test', node, folder: folder.path, clock, log: (line) => said.push(line) }, said);
  assert.deepEqual((await ground.store(ground.prefix).listPage('')).objects, [], 'something is left in the store');
  assert.deepEqual(
    (await readdir(folder.path)).filter((name) => name === 'incremental'),
    [],
  );
}

/** A build that is a script. */
async function scriptSide(folder: string, script: string): Promise<Side> {
  const main = join(folder, 'index.mjs');
  await writeFile(main, script);
  return { main, inputs: {} };
}

describe('a measured pair', () => {
  it('is two fresh runs that published the same, with the requests that the store has counted', async () => {
    await bench(ours, async (made, said) => {
      const { runs } = await measure(made, workload, 1, []);
      assert.deepEqual(runs.map(({ role }) => role).sort(), ['base', 'head'], said.join('\n'));
      const [one, two] = runs;
      assert.ok(one?.repository !== undefined && two !== undefined);
      assert.equal(one.repository, two.repository);
      assert.deepEqual(one.requests, two.requests);
      assert.ok(one.requests.some(({ verb, count }) => verb === 'PUT' && count > 3));
      assert.ok(one.bytesUp > 1000);
      assert.ok(one.wallMs > 50);
      assert.deepEqual(
        one.phases.map(({ name }) => name).filter((name) => name === 'probe'),
        [],
      );
      assert.ok(one.phases.some(({ name }) => name === 'commit'));
    });
  });

  it('is the last one when a run fails, or ends well and has published nothing', async () => {
    await using folder = await temporaryFolder();
    for (const script of ['process.exit(3)', '']) {
      await bench(await scriptSide(folder.path, script), async (made) => {
        const { runs } = await measure(made, { ...workload, published: [] }, 6, []);
        assert.deepEqual(
          runs.map(({ outcome, repository }) => [outcome, repository]),
          [['failed', undefined]],
        );
      });
    }
  });
});

describe('a build that runs', () => {
  it('finds nothing of the environment around it, and leaves no process behind', async () => {
    await using folder = await temporaryFolder();
    process.env['APT_PERF_SECRET'] = 'hidden';
    const script = `
      import { spawn } from 'node:child_process';
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      console.log(JSON.stringify({ names: Object.keys(process.env).sort(), child: child.pid }));
      process.exit(0);`;
    const side = await scriptSide(folder.path, script);
    const run = await runBuild(side, { suites: 'stable' }, join(folder.path, 'run'), { clock: systemClock, node });
    delete process.env['APT_PERF_SECRET'];
    const { names, child } = JSON.parse(run.said);
    assert.deepEqual(names, ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'INPUT_SUITES', 'RUNNER_TEMP']);
    assert.equal(run.ended, 'ok');
    for (let wait = 0; wait < 100 && alive(child); wait += 1) await systemClock.sleep(20);
    assert.equal(alive(child), false);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
