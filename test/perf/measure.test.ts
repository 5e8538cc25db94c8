import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../scripts/build.ts';
import { systemClock } from '../../src/action/system-clock.ts';
import { emulator } from '../../src/perf/ground.ts';
import { type Bench, measure } from '../../src/perf/measure.ts';
import { runBuild, type Side } from '../../src/perf/run-build.ts';
import { type Workload, workloads } from '../../src/perf/workloads.ts';
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
  await using ground = await emulator(join(root, 'test/perf/emulator.ts'), { roundTripMs: 2 }, node, '0.0.0');
  const said: string[] = [];
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const sides = { base: side, head: side };
  const common = { pairing: 'test', node, folder: folder.path, clock, log: (line: string) => said.push(line) };
  await use({ sides, ground, workloads: workloads(1), ...common }, said);
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

  it('tells both sides what the workload says, and to keep a fixed number of requests in flight', async () => {
    await using folder = await temporaryFolder();
    const script = 'console.log(JSON.stringify(process.env)); process.exit(3);';
    await bench(await scriptSide(folder.path, script), async (made, said) => {
      await measure(made, { ...workload, published: [], inputs: { 'keep-versions': '2' } }, 1, []);
      assert.match(said.join('\n'), /"INPUT_KEEP-VERSIONS":"2"/);
      assert.match(said.join('\n'), /"INPUT_UPLOAD-CONCURRENCY":"16","INPUT_RENAME-CONCURRENCY":"16"/);
    });
  });

  it('of a file of 2 GiB takes no disk for it', { skip: process.platform !== 'linux' }, async () => {
    await using folder = await temporaryFolder();
    const { large } = workloads(2048);
    const script = `
      import { stat } from 'node:fs/promises';
      const file = await stat(process.env.INPUT_PACKAGES.replace('*', 'large-0000_1.0-1_amd64'));
      console.log(JSON.stringify({ size: file.size, disk: 512 * file.blocks }));
      process.exit(3);`;
    await bench(await scriptSide(folder.path, script), async (made, said) => {
      await measure(made, large, 1, []);
      const { size, disk } = JSON.parse(/\{.*\}$/m.exec(said.join('\n'))?.[0] ?? '');
      assert.ok(size > 2 * 1024 ** 3);
      assert.ok(disk < 100_000, `${disk} bytes on disk`);
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
  it('cannot speak to the runner through our log', async () => {
    await using folder = await temporaryFolder();
    const side = await scriptSide(
      folder.path,
      "console.log('one\\n ::set-output name=more::true\\r::stop-commands::x ##[group]');",
    );
    const run = await runBuild(side, {}, join(folder.path, 'run'), { clock: systemClock, node });
    assert.equal(run.said, '| one\n|  ::set-output name=more::true\n| ::stop-commands::x ## [group]');
  });

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
    const { names, child } = JSON.parse(run.said.slice(2));
    assert.deepEqual(names, ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'HOME', 'INPUT_SUITES', 'RUNNER_TEMP']);
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
