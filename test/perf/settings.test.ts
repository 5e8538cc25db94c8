import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../../scripts/build.ts';
import { systemClock } from '../../src/action/system-clock.ts';
import { parseComparison } from '../../src/perf/comparison-record.ts';
import { measureStage, type Surroundings, settingsStage } from '../../src/perf/measure-stage.ts';
import { StageInputs } from '../../src/perf/stage-inputs.ts';
import { type Workload, workloads } from '../../src/perf/workloads.ts';
import { type FakeRunner, fakeRunner } from '../action/fake-runner.ts';
import { problemCode } from '../publish/problem-code.ts';
import { type TemporaryFolder, temporaryFolder } from '../rig/temporary.ts';
import { base, head, pairing, sampleComparison } from './comparison-samples.ts';

const small = (name: string) => ({ name, version: '1', size: 1000 });
const incremental: Workload = {
  name: 'incremental',
  published: [small('old-one'), small('old-two')],
  incoming: [small('new-one')],
};

let folder: TemporaryFolder;
const outside = process.env['GITHUB_STEP_SUMMARY'];
before(async () => {
  folder = await temporaryFolder();
  process.env['GITHUB_STEP_SUMMARY'] = join(folder.path, 'summary.md');
});
after(async () => {
  if (outside === undefined) delete process.env['GITHUB_STEP_SUMMARY'];
  else process.env['GITHUB_STEP_SUMMARY'] = outside;
  await folder[Symbol.asyncDispose]();
});

function surroundings(runner: FakeRunner): Surroundings {
  return {
    clock: { ...systemClock, sleep: () => Promise.resolve() },
    runner,
    harness: { main: join(root, 'src/perf-main.ts'), emulator: join(root, 'test/perf/emulator.ts') },
    ownBundle: join(root, 'dist/index.js'),
    node: join(root, 'node_modules/.bin/node'),
    workloads: (mebibytes) => ({ ...workloads(mebibytes), incremental }),
    workspace: folder.path,
    temporaryFolder: folder.path,
  };
}

async function settings(inputs: Readonly<Record<string, string>>): Promise<{ summary: string; runner: FakeRunner }> {
  await writeFile(join(folder.path, 'summary.md'), '');
  const runner = fakeRunner({ do: 'settings', ...inputs }, {});
  await settingsStage(new StageInputs(runner), surroundings(runner));
  const summary = await readFile(join(folder.path, 'summary.md'), 'utf8');
  return {
    runner,
    summary: summary.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).replaceAll('\u200B', ''),
  };
}

describe('two settings of one build', () => {
  it('are compared by the verdict of their pairs, and the phase that differs is named', {
    timeout: 120_000,
  }, async () => {
    const { summary, runner } = await settings({
      'variant-a': 'rename-concurrency=16',
      'variant-b': 'rename-concurrency=1 upload-concurrency=16',
    });
    assert.match(summary, /^## apt-perf: (slower|inconclusive|within noise): incremental /m);
    assert.match(summary, /head rename-concurrency=1 upload-concurrency=16 against base rename-concurrency=16/);
    assert.match(summary, /\| incremental: requests \| (\d+) \| \1 \| same \|/);
    // One rename after the other over 20 ms: whatever the machine does besides, that is a tenth of a second.
    const [, rename = ''] = /rename \+(\d+) ms/.exec(summary) ?? [];
    assert.ok(Number(rename) > 50, summary);
    assert.doesNotMatch(summary, /of the ceiling/);
    assert.match(runner.outputs.get('verdict') ?? '', /^(slower|inconclusive|within noise)$/);
  });

  it('are refused when they are none, before anything is measured', async () => {
    for (const [variant, code] of [
      ['rename-concurrency=1; id', 'variant-invalid'],
      [`x=${'1'.repeat(21)}`, 'variant-invalid'],
    ] as const)
      await assert.rejects(settings({ 'variant-a': variant, 'variant-b': 'rename-concurrency=1' }), problemCode(code));
  });
});

describe('a block of a comparison of two builds', () => {
  it('goes on with the record of the block before, and never hands the keys of a bucket to another user', async () => {
    const path = join(folder.path, 'comparison.json');
    const bundle = join(folder.path, 'bundle');
    const script = `await import(${JSON.stringify(join(root, 'dist/index.js'))});\n`;
    await mkdir(bundle);
    await writeFile(join(bundle, 'package.json'), '{"type":"module"}');
    await writeFile(join(bundle, 'index.js'), script);
    const inputs = { do: 'measure', 'base-bundle': 'bundle', 'head-bundle': bundle, base, head, pairing, record: path };
    const begun = sampleComparison([5, 5]);
    await writeFile(path, JSON.stringify(begun));
    const stage = fakeRunner(inputs, {});
    await measureStage(new StageInputs(stage), surroundings(stage));
    const record = parseComparison(await readFile(path, 'utf8'));
    const runs = record.scenarios[0]?.runs ?? [];
    assert.deepEqual(runs.slice(0, 4), begun.scenarios[0]?.runs);
    assert.equal(runs.length, 8, stage.told.join('\n'));
    assert.ok(runs.slice(4).every(({ depth = 0, outcome }) => outcome === 'ok' && depth > 3));
    assert.equal(stage.outputs.get('more'), 'true');
    const runner = fakeRunner({ ...inputs, user: '59877', bucket: 's3://my-packages/scratch' }, {});
    await assert.rejects(measureStage(new StageInputs(runner), surroundings(runner)), problemCode('user-with-bucket'));
  });
});
