import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../../scripts/build.ts';
import { parseRunRecord } from '../../src/timing/parse-record.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import { runProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import type { Bundle } from './bundle.ts';

export type Inputs = Readonly<Record<string, string>>;

/** What a user sees of a step that has ended, and what later steps can use. */
export interface StepResult {
  readonly code: number;
  /** Everything it has said, commands to the runner among it. */
  readonly log: string;
  readonly errors: readonly Annotation[];
  readonly warnings: readonly Annotation[];
  readonly outputs: ReadonlyMap<string, string>;
  /** The job summary, Markdown. */
  readonly summary: string;
  /** What the output `timings` points at; absent when the step ended before it had one. */
  readonly record?: RunRecord;
  /** Wall time of the whole process, milliseconds. */
  readonly ms: number;
}

export interface Annotation {
  readonly title: string;
  readonly message: string;
}

export interface StepOptions {
  /** Where the step runs; what globs are relative to. */
  readonly workspace: string;
  /** Variables of the environment besides those that the runner sets. */
  readonly variables?: Readonly<Record<string, string>>;
}

/**
 * Runs the bundle as one step of a job on a fresh machine, as a GitHub runner does: inputs (with action.yml's defaults) as INPUT_ variables,
 * empty command files, the workspace as working directory, no standard input. PATH names an empty folder and HOME is unset, so that no
 * program and no configuration of this machine can help.
 */
export async function runStep(bundle: Bundle, inputs: Inputs, options: StepOptions): Promise<StepResult> {
  await using machine = await temporaryFolder();
  const file = (name: string): string => join(machine.path, name);
  await Promise.all(commandFiles.map((name) => writeFile(file(name), '')));
  await Promise.all(['temp', 'bin'].map((name) => mkdir(file(name))));
  const env: Record<string, string> = {
    ...(await inputVariables(inputs)),
    ...options.variables,
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_REPOSITORY: 'example/packages',
    GITHUB_WORKSPACE: options.workspace,
    RUNNER_TEMP: file('temp'),
    PATH: file('bin'),
  };
  for (const name of commandFiles) env[`GITHUB_${name.toUpperCase()}`] = file(name);
  const began = performance.now();
  const { code, signal, stdout, stderr } = await runProcess(bundle.node, [bundle.main], {
    cwd: options.workspace,
    env,
  });
  const ms = performance.now() - began;
  if (code === undefined) throw new Error(`the step was ended by ${signal}:\n${stderr}${stdout}`);
  const log = `${stdout}${stderr}`;
  const outputs = readOutputs(await readFile(file('output'), 'utf8'));
  const timings = outputs.get('timings');
  return {
    code,
    log,
    errors: annotations(log, 'error'),
    warnings: annotations(log, 'warning'),
    outputs,
    summary: await readFile(file('step_summary'), 'utf8'),
    ...(timings === undefined ? {} : { record: parseRunRecord(await readFile(timings, 'utf8')) }),
    ms,
  };
}

/** Runs a step that has to succeed; what it said is in the error otherwise. */
export async function publishStep(
  bundle: Bundle,
  inputs: Inputs,
  options: StepOptions,
): Promise<StepResult & { readonly record: RunRecord }> {
  const result = await runStep(bundle, inputs, options);
  const { code, log, record } = result;
  if (code !== 0 || record === undefined) throw new Error(`the step ended with ${code}:\n${log}`);
  return { ...result, record };
}

const commandFiles = ['output', 'step_summary', 'env', 'path', 'state'] as const;

/** What `${{ github.token }}` stands for in these runs. */
export const jobToken = 'ghs_RigRigRigRigRigRigRigRigRigRigRigRig';

/** The runner keeps the dashes of an input's name and turns only blanks into `_`. */
async function inputVariables(given: Inputs): Promise<Record<string, string>> {
  const action: { inputs: Record<string, { default?: unknown }> } = parse(
    await readFile(join(root, 'action.yml'), 'utf8'),
  );
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(action.inputs, name));
  if (unknown.length > 0) throw new Error(`action.yml has no input ${unknown.join(', ')}`);
  return Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: standard }]) => [
      `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
      given[name] ?? String(standard ?? '').replace(/^\$\{\{ github\.token \}\}$/, jobToken),
    ]),
  );
}

/** The file GITHUB_OUTPUT: `name<<delimiter`, lines, `delimiter`. */
function readOutputs(text: string): Map<string, string> {
  const entries = text.matchAll(/^(.+?)<<(\S+)\n(?:([\s\S]*?)\n)??\2$/gm);
  return new Map(Array.from(entries, ([, name = '', , value = '']) => [name, value]));
}

/** Workflow commands `::error title=…::message`, with the runner's percent-encoding undone. */
function annotations(log: string, level: 'error' | 'warning'): Annotation[] {
  const commands = log.matchAll(new RegExp(`^::${level}(?: title=(.*?))?::(.*)$`, 'gm'));
  return Array.from(commands, ([, title = '', message = '']) => ({ title: decode(title), message: decode(message) }));
}

function decode(text: string): string {
  const characters: Readonly<Record<string, string>> = { '0A': '\n', '0D': '\r', '25': '%', '2C': ',', '3A': ':' };
  return text.replace(/%(0A|0D|25|2C|3A)/g, (whole, code: string) => characters[code] ?? whole);
}
