import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { readSettings } from '../../src/action/inputs.ts';
import { outputNames } from '../../src/action/outputs.ts';
import type { Settings } from '../../src/action/settings.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fakeRunner } from './fake-runner.ts';

interface Described {
  readonly description: string;
  readonly required?: boolean;
  readonly default?: string;
}

const text = await readFile(join(import.meta.dirname, '../../action.yml'), 'utf8');
const action: {
  readonly inputs: Record<string, Described>;
  readonly outputs: Record<string, Described>;
  readonly runs: { readonly using: string; readonly main: string };
} = parse(text);

async function read(inputs: Record<string, string>, folder = '.'): Promise<Settings> {
  const runner = fakeRunner(inputs);
  return readSettings({ source: runner, secrets: runner.secrets, folder, temporaryFolder: '/tmp' });
}

/** Whether the runner puts something else in its place. */
function isExpression(preset: string): boolean {
  return preset.startsWith('${{');
}

describe('action.yml', () => {
  it('has exactly the inputs that are read', async () => {
    const asked = new Set<string>();
    // A folder and a bucket, with and without keys: together they read everything.
    for (const bucket of ['./site', 'packages']) {
      const runner = fakeRunner({ bucket, suites: 'bookworm', unsigned: 'true' });
      await readSettings({ source: runner, secrets: runner.secrets, folder: '.', temporaryFolder: '/tmp' }).catch(
        () => {},
      );
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
    await using workspace = await temporaryFolder();
    await writeFile(join(workspace.path, 'a.deb'), '');
    const given = { bucket: './site', suites: 'bookworm: a.deb', unsigned: 'true' };
    const presets = Object.entries(action.inputs).flatMap(([name, { default: preset }]) =>
      preset === undefined || name in given || isExpression(preset) ? [] : [[name, preset] as const],
    );
    assert.ok(presets.length > 5);
    const withPresets = await read({ ...Object.fromEntries(presets), ...given }, workspace.path);
    assert.deepEqual(withPresets, await read(given, workspace.path));
  });

  it('requires what the code cannot do without', async () => {
    const required = Object.entries(action.inputs).flatMap(([name, input]) => (input.required === true ? [name] : []));
    assert.deepEqual(required.sort(), ['bucket', 'suites']);
    for (const name of required) await assert.rejects(read({ unsigned: 'true' }), new RegExp(`\`${name}\` is missing`));
  });

  it('has no expression but the default of the token, since the runner refuses one in a description', () => {
    const token = '$' + '{{ github.token }}';
    assert.equal(action.inputs['github-token']?.default, token);
    assert.doesNotMatch(text.replace(`default: ${token}`, ''), /\$\{\{/);
  });

  it('is run by Node 24 from dist', () => {
    assert.deepEqual(action.runs, { using: 'node24', main: 'dist/index.js' });
  });
});
