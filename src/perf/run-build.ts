import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../problem.ts';
import type { Clock } from '../timing/clock.ts';
import { parseRunRecord } from '../timing/parse-record.ts';
import type { RunRecord } from '../timing/record.ts';

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
  /** Absent when the run left none that this version can read. */
  readonly record?: RunRecord;
  /** The last lines of what it printed, for the log. */
  readonly said: string;
}

/** A run that takes longer hangs. */
const longestRun = 600_000;

/**
 * Runs a build once as a runner would, in a fresh process: inputs as INPUT_ variables, files for its outputs in `folder`, and an environment that
 * holds nothing else, so that it can neither find a token nor a configuration that the other side would not find. Timed from outside: a
 * build cannot tell its own time. Whatever it started ends with it, so that it cannot slow down the run after it.
 */
export async function runBuild(
  side: Side,
  inputs: Readonly<Record<string, string>>,
  folder: string,
  { clock, node }: { readonly clock: Clock; readonly node: string },
): Promise<BuildRun> {
  await mkdir(folder, { recursive: true });
  const [output, summary] = [join(folder, 'output'), join(folder, 'summary')];
  await Promise.all([writeFile(output, ''), writeFile(summary, '')]);
  const variables = Object.entries({ ...inputs, ...side.inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ]);
  const began = clock.monotonic();
  const child = spawn(node, [side.main], {
    cwd: folder,
    env: { ...Object.fromEntries(variables), RUNNER_TEMP: folder, GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, which can be ended as a whole.
    detached: true,
  });
  const limit = setTimeout(() => endGroup(child.pid), longestRun);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said = `${said}${String(chunk)}`.slice(-4000);
    });
  const ended = await new Promise<{ readonly code: number | null; readonly at: number }>((resolve, reject) => {
    child.once('error', (cause) => reject(notStarted(side.main, cause)));
    child.once('exit', (code) => resolve({ code, at: clock.monotonic() }));
  }).finally(() => clearTimeout(limit));
  endGroup(child.pid);
  const record = await recordOf(output);
  return {
    ended: ended.code === 0 ? 'ok' : 'failed',
    wallMs: ended.at - began,
    ...(record === undefined ? {} : { record }),
    said,
  };
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
