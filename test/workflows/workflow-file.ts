import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../../scripts/build.ts';

export type Values = Readonly<Record<string, unknown>>;
export type Permissions = Readonly<Record<string, string>>;

export interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Values;
}

export interface Job {
  readonly uses?: string;
  readonly with?: Values;
  readonly secrets?: Values | 'inherit';
  readonly permissions?: Permissions;
  readonly 'timeout-minutes'?: number;
  readonly concurrency?: Values;
  readonly environment?: string;
  readonly steps?: readonly Step[];
}

export interface Workflow {
  readonly name: string;
  readonly text: string;
  readonly on: string | Values;
  readonly permissions?: Permissions;
  readonly concurrency?: Values;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** Inputs or secrets, as an action or a reusable workflow declares them. */
export type Declared = Readonly<Record<string, { readonly required?: boolean } | null>>;

export function readText(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}

export function parsedWorkflow(name: string, text: string): Workflow {
  return { ...parse(text), name, text };
}

/** Every workflow of this repository. */
export async function ownWorkflows(): Promise<Workflow[]> {
  const names = (await readdir(join(root, '.github/workflows'))).sort();
  return Promise.all(names.map(async (name) => parsedWorkflow(name, await readText(`.github/workflows/${name}`))));
}

/** What is wrong with values that are given to something that declares these. */
export function givenFaults(what: string, given: Values, declared: Declared): string[] {
  return [
    ...Object.keys(given)
      .filter((name) => !Object.hasOwn(declared, name))
      .map((name) => `${what} has no ${name}`),
    ...Object.entries(declared)
      .filter(([name, about]) => about?.required === true && !Object.hasOwn(given, name))
      .map(([name]) => `${what} wants ${name}`),
  ];
}

/** What is wrong with how a job uses the actions and reusable workflows of this repository; `isOwn` gives the path in it that `uses` names. */
export async function usageFaults(job: Job, ownPath: (uses: string) => string | undefined): Promise<string[]> {
  const faults: string[] = [];
  for (const { uses = '', with: given = {} } of job.steps ?? []) {
    const path = ownPath(uses);
    if (path === undefined) continue;
    const { inputs } = parse(await readText(join(path, 'action.yml')));
    faults.push(...givenFaults(uses, given, inputs));
  }
  const called = job.uses === undefined ? undefined : ownPath(job.uses);
  if (called === undefined) return faults;
  const { jobs, on } = parse(await readText(called));
  const { inputs = {}, secrets = {} } = on.workflow_call;
  faults.push(...givenFaults(called, job.with ?? {}, inputs));
  if (job.secrets !== 'inherit') faults.push(...givenFaults(`${called} (secrets)`, job.secrets ?? {}, secrets));
  // GitHub does not start a workflow whose caller grants less than a job inside asks for.
  for (const { permissions = {} } of Object.values<Job>(jobs)) {
    for (const [name, level] of Object.entries(permissions)) {
      if (job.permissions?.[name] !== level) faults.push(`${called} asks for ${name}: ${level}`);
    }
  }
  return faults;
}
