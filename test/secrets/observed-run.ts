import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../scripts/build.ts';
import { buildDeb } from '../debs.ts';
import { startProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** Everything that a run leaves for others to see, by where it was seen. */
export interface Observed {
  readonly code: number | undefined;
  readonly seen: ReadonlyMap<string, string>;
  /** The log as the runner gets it, commands and all. */
  readonly stdout: string;
}

/** A seeded fault is one of the action's own process as well. */
export const imports = process.execArgv.filter(
  (arg, index, all) => arg === '--import' || all[index - 1] === '--import',
);
const commandFiles = ['output', 'step_summary', 'env', 'path', 'state'] as const;

/**
 * Runs the action as a step with debug logging on, on a package of its own, and gathers what it says, writes and shows of itself: log,
 * command files, every file that it leaves, and the command lines of it and its children as any process of the machine can read them.
 */
export async function observe(
  inputs: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Promise<Observed> {
  await using machine = await temporaryFolder();
  const file = (name: string): string => join(machine.path, name);
  await Promise.all(['temp', 'work'].map((name) => mkdir(file(name))));
  await Promise.all(commandFiles.map((name) => writeFile(file(name), '')));
  await writeFile(join(file('work'), 'hello.deb'), buildDeb());
  const env: Record<string, string> = {
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: file('work'),
    RUNNER_DEBUG: '1',
    RUNNER_TEMP: file('temp'),
    PATH: '',
    ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
    ...variables,
  };
  for (const name of commandFiles) env[`GITHUB_${name.toUpperCase()}`] = file(name);
  const node = join(root, 'node_modules/.bin/node');
  await using running = await startProcess(node, [...imports, join(root, 'src/main.ts')], { cwd: file('work'), env });
  const commandLines = new Set<string>();
  const look = () => collectCommandLines(running.pid, commandLines);
  look();
  const watch = setInterval(look, 10);
  const { code, stdout, stderr } = await running.finished;
  clearInterval(watch);
  const seen = new Map([
    // Whoever reads these is the runner, which hides them from then on.
    ['stdout', stdout.toString().replaceAll(/^::add-mask::.*$/gm, '')],
    ['stderr', stderr],
    ['command lines', [...commandLines].join('\n')],
  ]);
  for (const entry of await readdir(machine.path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    seen.set(path.slice(machine.path.length + 1), await readFile(path, 'latin1'));
  }
  return { code, seen, stdout: stdout.toString() };
}

/** Adds the command line of a process and of its children; those that have ended meanwhile are passed over. */
function collectCommandLines(pid: number, into: Set<string>): void {
  try {
    into.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean);
      for (const child of children) collectCommandLines(Number(child), into);
    }
  } catch {
    // It has ended.
  }
}
