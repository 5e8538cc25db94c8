import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { readSettings } from '../../src/action/inputs.ts';
import { outputNames } from '../../src/action/outputs.ts';
import { fakeRunner } from './fake-runner.ts';

interface Described {
  readonly description: string;
  readonly required?: boolean;
  readonly default?: string;
}

const action: {
  readonly inputs: Record<string, Described>;
  readonly outputs: Record<string, Described>;
  readonly runs: { readonly using: string; readonly main: string };
} = parse(await readFile(join(import.meta.dirname, '../../action.yml'), 'utf8'));

/** The messages of the faults that these inputs have. */
async function faultsOf(inputs: Record<string, string>): Promise<string> {
  const runner = fakeRunner(inputs);
  const surroundings = { source: runner, secrets: runner.secrets, folder: '.', temporaryFolder: '/tmp' };
  return readSettings(surroundings).then(
    (settings) => JSON.stringify(settings),
    (error: Error) => error.message,
  );
}

describe('action.yml', () => {
  it('has exactly the inputs that are read', async () => {
    const asked = new Set<string>();
    // A folder and a bucket, with and without keys: together they read everything.
    for (const bucket of ['./site', 'packages']) {
      const runner = fakeRunner({ bucket, suites: 'bookworm', unsigned: 'true' });
      await readSettings({ source: runner, secrets: runner.secrets, folder: '.', temporaryFolder: '/tmp' }).catch(() => {});
      for (const name of runner.asked) asked.add(name);
    }
    assert.deepEqual(Object.keys(action.inputs).sort(), [...asked].sort());
  });

  it('has exactly the outputs that are set, in their order', () => {
    assert.deepEqual(Object.keys(action.outputs), [...outputNames]);
  });

  it('has an example of every input and output', () => {
    for (const [name, { description }] of [...Object.entries(action.inputs), ...Object.entries(action.outputs)]) {
      assert.match(description, /Example: `/, name);
    }
  });

  it('has the defaults that the code has', async () => {
    const given = { bucket: './site', suites: 'bookworm: package.json', unsigned: 'true' };
    const presets = Object.entries(action.inputs).flatMap(([name, { default: preset }]) =>
      preset === undefined || name in given ? [] : [[name, preset] as const],
    );
    assert.ok(presets.length > 5);
    assert.equal(await faultsOf({ ...Object.fromEntries(presets), ...given }), await faultsOf(given));
  });

  it('requires what the code cannot do without', async () => {
    const required = Object.entries(action.inputs).flatMap(([name, input]) => (input.required === true ? [name] : []));
    assert.deepEqual(required.sort(), ['bucket', 'suites']);
    const faults = await faultsOf({ unsigned: 'true' });
    for (const name of required) assert.ok(faults.includes(`\`${name}\` is missing`), name);
  });

  it('is run by Node 24 from dist', () => {
    assert.deepEqual(action.runs, { using: 'node24', main: 'dist/index.js' });
  });
});
