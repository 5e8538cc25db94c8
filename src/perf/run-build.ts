import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../problem.ts';
import type { Clock } from '../timing/clock.ts';
import { parseRunRecord } from '../timing/parse-record.ts';
import type { RunRecord } from '../timing/record.ts';
import { asUser, endWork, type OtherUser, openTo, type Program } from './other-user.ts';

/** One side of a comparison: a build, and what it is told beyond what both are told. */
export interface Side {
  /** The bundle's `index.js`, absolute. */
  readonly main: string;
  readonly inputs: Readonly<Record<string, string>>;
}

export interface BuildRun {
  readonly ended: 'ok' | 'failed';
  /** From the start of the process to its end, milliseconds. */
  readonly wallMs: number;
  /** Processor time of all its processes that were waited for, milliseconds, in steps of ten; absent where the system keeps no such account. */
  readonly cpuMs?: number;
  /** Absent when the run left none that this version can read. */
  readonly record?: RunRecord;
  /** The last lines of what it printed, for the log: as a quotation, in which a runner finds no commands to itself. */
  readonly said: string;
}

/** A run that takes longer hangs. */
const longestRun = 600_000;

/** With what and as whom builds run. */
export interface Host {
  readonly clock: Clock;
  /** The program that runs them. */
  readonly node: string;
  /** Absent: as this process's own user. */
  readonly user?: OtherUser;
}

/**
 * Runs a build once as a runner would, in a fresh process: inputs as INPUT_ variables, files for its outputs in `folder`, and an environment that
 * holds nothing else, so that it can neither find a token nor a configuration that the other side would not find. Timed from outside: a
 * build cannot tell its own time. Whatever it started ends with it, so that it cannot slow down the run after it.
 */
export async function runBuild(
  side: Side,
  inputs: Readonly<Record<string, string>>,
  folder: string,
  { clock, node, user }: Host,
): Promise<BuildRun> {
  await mkdir(folder, { recursive: true });
  const [output, summary] = [join(folder, 'output'), join(folder, 'summary')];
  await Promise.all([writeFile(output, ''), writeFile(summary, '')]);
  if (user !== undefined) await openTo([folder, output, summary]);
  const variables = Object.entries({ ...inputs, ...side.inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ]);
  const program: Program = {
    command: node,
    args: [side.main],
    env: {
      ...Object.fromEntries(variables),
      // Without it a home is looked up by the user's number: another one's configuration, or none and an error.
      HOME: folder,
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
    },
  };
  const { command, args, env } = user === undefined ? program : asUser(user, program);
  const cpuBefore = await childrenCpuMs();
  const began = clock.monotonic();
  const child = spawn(command, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, which can be ended as a whole.
    detached: true,
  });
  const end = () => (user === undefined ? endGroup(child.pid) : endWork(user, folder));
  const limit = setTimeout(() => void end(), longestRun);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said = `${said}${String(chunk)}`.slice(-4000);
    });
  const ended = await new Promise<{ readonly code: number | null; readonly at: number }>((resolve, reject) => {
    child.once('error', (cause) => reject(notStarted(side.main, cause)));
    child.once('exit', (code) => resolve({ code, at: clock.monotonic() }));
  }).finally(() => clearTimeout(limit));
  const cpuAfter = await childrenCpuMs();
  await end();
  const record = await recordOf(output);
  return {
    ended: ended.code === 0 ? 'ok' : 'failed',
    wallMs: ended.at - began,
    ...(cpuBefore === undefined || cpuAfter === undefined ? {} : { cpuMs: cpuAfter - cpuBefore }),
    ...(record === undefined ? {} : { record }),
    said: quotation(said),
  };
}

/**
 * A runner takes a line of its log that begins with `::` after any blanks for a command, and one that has `##[` anywhere (actions/runner,
 * ActionCommand.cs).
 */
function quotation(text: string): string {
  const lines = text.trimEnd().split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  return lines.map((line) => `| ${line.replaceAll('##[', '## [')}`).join('\n');
}

/** proc_pid_stat(5): fields 16 and 17 are the processor time of children that were waited for, theirs included, in ticks of 10 ms. */
async function childrenCpuMs(): Promise<number | undefined> {
  const stat = await readFile('/proc/self/stat', 'latin1').catch(() => undefined);
  // The second field is a name in brackets, which may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields?.[13]) + Number(fields?.[14]);
  return Number.isFinite(ticks) ? 10 * ticks : undefined;
}

/** The group outlives its leader while a process of it does; that there is none left is no error. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {}
}

/** What the output `timings` names. A build of another time may write another schema, or write rubbish. */
async function recordOf(output: string): Promise<RunRecord | undefined> {
  const written = await readFile(output, 'utf8');
  const path = /^timings<<(\S+)\n(.*)\n\1$/m.exec(written)?.[2];
  if (path === undefined) return undefined;
  try {
    return parseRunRecord(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function notStarted(main: string, cause: unknown): Problem {
  return new Problem({
    code: 'build-not-started',
    title: 'A build cannot be started',
    what: `${main} could not be run.`,
    advice: 'See that the step before built it, and that its folder is the one that is named.',
    cause,
  });
}
