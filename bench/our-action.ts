import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRunRecord } from '../src/timing/parse-record.ts';
import type { RunRecord } from '../src/timing/record.ts';
import { temporaryFolder } from '../test/rig/temporary.ts';
import type { Laboratory } from './laboratory.ts';
import { type Observed, observe } from './observed-process.ts';

export type Inputs = Readonly<Record<string, string>>;

export interface ActionRun extends Observed {
  readonly record: RunRecord;
}

/**
 * Runs the bundle once as a runner does: a fresh process, inputs as INPUT_ variables, and nothing else in its environment that could help or
 * hinder. With profiling, V8's own profiles of all its threads are left in the laboratory's folder for them.
 */
export async function runAction({ bundle, signing, profiles }: Laboratory, inputs: Inputs): Promise<ActionRun> {
  await using machine = await temporaryFolder();
  const file = (name: string) => join(machine.path, name);
  await Promise.all([writeFile(file('output'), ''), writeFile(file('summary'), '')]);
  const all = { 'gpg-private-key': signing.secretKey, comment: 'never', ...inputs };
  const variables = Object.entries(all).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const observed = await observe(
    bundle.node,
    [...(profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]), bundle.main],
    {
      cwd: machine.path,
      env: {
        ...Object.fromEntries(variables),
        RUNNER_TEMP: machine.path,
        GITHUB_OUTPUT: file('output'),
        GITHUB_STEP_SUMMARY: file('summary'),
      },
    },
  );
  const path = /^timings<<(\S+)\n(.*)\n\1$/m.exec(await readFile(file('output'), 'utf8'))?.[2];
  if (path === undefined) throw new Error(`the action has left no run record:\n${observed.said}`);
  return { ...observed, record: parseRunRecord(await readFile(path, 'utf8')) };
}
