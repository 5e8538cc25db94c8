import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { outputNames, outputsOf, setOutputs, writeRunRecord } from '../../src/action/outputs.ts';
import type { PackageChange, RunRecord } from '../../src/timing/record.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fakeRunner } from './fake-runner.ts';

function change(kind: PackageChange['change']): PackageChange {
  return { change: kind, package: 'hello', version: '1', architecture: 'all', component: 'main', size: 1 };
}

const record: RunRecord = {
  schema: 'apt-publish/run/1',
  started: '2026-01-02T03:04:05.000Z',
  durationMs: 1,
  outcome: 'published',
  store: { kind: 'memory', conditions: 'enforced' },
  suites: [
    { suite: 'bookworm', changed: true, generation: 12, packages: [change('added'), change('replaced')], indexes: [] },
    { suite: 'trixie/updates', changed: false, generation: 3, packages: [change('removed')], indexes: [] },
  ],
  phases: [],
  spans: [],
  warnings: [],
};

describe('the outputs', () => {
  it('say what the run has changed, suite by suite where suites differ', () => {
    const outputs = outputsOf(record, {
      sourcesEntry: 'Types: deb\n',
      publicKey: 'armor',
      inReleaseSha256: new Map([['bookworm', 'ab12']]),
      history: new Map([['bookworm', [{ number: 12, state: 'live', headSha256: 'ab12' }]]]),
      timings: '/tmp/run.json',
    });
    assert.deepEqual(outputs, {
      changed: 'true',
      added: '2',
      removed: '1',
      generation: '{"bookworm":12,"trixie/updates":3}',
      'sources-entry': 'Types: deb\n',
      'public-key': 'armor',
      'inrelease-sha256': '{"bookworm":"ab12"}',
      history: '{"bookworm":[{"number":12,"state":"live","headSha256":"ab12"}]}',
      findings: '',
      timings: '/tmp/run.json',
    });
  });

  it('tell what verifying has found, and no more than the runner takes', () => {
    const finding = { kind: 'pool', suite: 'sid', key: 'pool/a.deb', what: 'It is missing, and is listed.' } as const;
    const parts = { inReleaseSha256: new Map(), history: new Map(), timings: 'run.json' };
    const of = (findings: readonly (typeof finding)[]) =>
      JSON.parse(outputsOf(record, { ...parts, findings }).findings);
    assert.deepEqual(of([]), []);
    assert.deepEqual(of([finding]), [finding]);
    assert.equal(of(Array.from({ length: 1001 }, () => finding)).length, 1000);
  });

  it('are all set, also when a run has changed nothing', () => {
    const runner = fakeRunner();
    const unchanged = { ...record, suites: record.suites.filter(({ changed }) => !changed) };
    const parts = { inReleaseSha256: new Map(), history: new Map(), timings: 'run.json' };
    setOutputs(outputsOf(unchanged, parts), runner);
    assert.deepEqual([...runner.outputs.keys()], [...outputNames]);
    assert.equal(runner.outputs.get('changed'), 'false');
    assert.equal(runner.outputs.get('sources-entry'), '');
    assert.equal(runner.outputs.get('history'), '');
  });
});

describe('the run record', () => {
  it('is written to a file of its own for each use of the action in a job', async () => {
    await using folder = await temporaryFolder();
    const [one, two] = [await writeRunRecord(record, folder.path), await writeRunRecord(record, folder.path)];
    assert.notEqual(one, two);
    assert.deepEqual(JSON.parse(await readFile(one, 'utf8')), record);
  });
});
