import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseComparison } from '../../src/perf/comparison-record.ts';
import { poolWith, readPool } from '../../src/perf/noise-pool.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { sampleComparison, sampleRun, sampleScenario } from './comparison-samples.ts';

const good = sampleComparison([1, 2, 3, 4, 5, 6]);
const refused = (value: unknown, place: RegExp) =>
  assert.throws(
    () => parseComparison(typeof value === 'string' ? value : JSON.stringify(value)),
    (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.equal((error as { code?: string }).code, 'comparison-invalid');
      assert.match(error.message, place);
      return true;
    },
  );

describe('a comparison record', () => {
  it('is read as it was written', () => {
    assert.deepEqual(parseComparison(JSON.stringify(good)), good);
  });

  it('has no field more, anywhere', () => {
    refused({ ...good, note: 'hello' }, /at "note"/);
    refused(
      { ...good, scenarios: [{ name: 'cold', runs: [{ ...sampleRun('base'), log: '' }] }] },
      /scenarios\.0\.runs\.0\.log/,
    );
  });

  it('has no field less', () => {
    const { harness: _, ...rest } = good;
    refused(rest, /at "harness"/);
  });

  it('has no number that is none, negative, endless or absurd', () => {
    for (const wallMs of [null, '1000', -1, 0, 1e9]) {
      refused({ ...good, scenarios: [{ name: 'cold', runs: [{ ...sampleRun('base'), wallMs }] }] }, /wallMs/);
    }
    refused(JSON.stringify(good).replace('1000', '1e999'), /wallMs/);
  });

  it('has no text that could mean anything where it is shown', () => {
    const evils = [
      '<img src=x>',
      '@everyone',
      '[a](https://example.org)',
      'a|b',
      '`a`',
      '::error::',
      'x'.repeat(81),
      '',
    ];
    for (const cpu of evils) refused({ ...good, machine: { ...good.machine, cpu } }, /machine\.cpu/);
    refused({ ...good, pairing: '../pr7' }, /pairing/);
    refused({ ...good, subject: { kind: 'commits', base: 'main', head: 'x' } }, /subject\.base/);
  });

  it('never repeats in its error what stands there', () => {
    assert.throws(
      () => parseComparison(JSON.stringify({ ...good, '<b>@x': 1 })),
      (error: Error) => !/[<@]/.test(error.message),
    );
  });

  it('has no more runs than were asked for, and every workload once', () => {
    const scenario = sampleScenario('cold', [1]);
    refused(
      { ...good, scenarios: [{ ...scenario, runs: Array.from({ length: 25 }, () => sampleRun('base')) }] },
      /runs/,
    );
    refused({ ...good, scenarios: [scenario, scenario] }, /twice/);
    refused({ ...good, scenarios: [] }, /scenarios/);
  });

  it('is no larger than twelve pairs of every workload need, and JSON', () => {
    refused(`${JSON.stringify(good)}${' '.repeat(300_000)}`, /larger/);
    refused('{', /not JSON/);
    const pairs = Array.from({ length: 12 }, (_, index) => index);
    const most = (['incremental', 'cold', 'large', 'no-op'] as const).map((name) => sampleScenario(name, pairs));
    parseComparison(JSON.stringify({ ...good, scenarios: most }));
  });
});

describe('the noise pool', () => {
  const key = { scenario: 'cold', machine: 'm', endpoint: 'emulator', harness: 'h' } as const;
  const night = (started: string) => ({ key, started, differences: [0.01] });

  it('is empty before the first night, and forgets those that are older than four weeks', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'noise.json');
    for (const day of ['2026-01-01', '2026-01-20', '2026-01-30'])
      await writeFile(path, poolWith(await readPool(path), night(`${day}T00:00:00Z`), 'skipped'));
    const { sessions } = await readPool(path);
    assert.deepEqual(
      sessions.map(({ started }) => started.slice(8, 10)),
      ['20', '30'],
    );
  });

  it('remembers how the last control ended until the next one', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'noise.json');
    const known: string[] = [];
    for (const control of ['skipped', 'failure', 'skipped', 'success', 'skipped'] as const) {
      await writeFile(path, poolWith(await readPool(path), night('2026-01-30T00:00:00Z'), control));
      known.push((await readPool(path)).instrument);
    }
    assert.deepEqual(known, ['untested', 'suspect', 'suspect', 'sound', 'sound']);
  });

  it('is refused when it is not what the nights write', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'noise.json');
    await writeFile(path, '{"schema":"apt-publish/noise/1","instrument":"sound","sessions":[{}]}');
    await assert.rejects(readPool(path), { code: 'noise-pool-invalid' });
  });
});
