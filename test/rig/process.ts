import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface ProcessOptions {
  readonly cwd?: string;
  /** The whole environment; the test's own when left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to its standard input, which is closed afterwards. */
  readonly input?: Uint8Array | string;
}

export interface Finished {
  /** Absent when a signal ended it. */
  readonly code?: number;
  readonly signal?: NodeJS.Signals;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A process that runs beside the test. Disposing of it ends it by its pid and waits until it is gone. */
export interface RunningProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it has said so far. */
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves when it has ended by itself or by a signal. */
  readonly finished: Promise<Finished>;
  /** Sends a signal if it still runs. */
  signal(signal: NodeJS.Signals): void;
}

/** Starts a process without a shell. Throws when there is no such program. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<RunningProcess> {
  const child = spawn(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  const finished = ending(child).then(
    (ended): Finished => ({ ...ended, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
  );
  await once(child, 'spawn');
  // A program may end without reading its input.
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.input);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} has no pid`);
  const signal = (name: NodeJS.Signals): void => {
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
  };
  return {
    pid,
    output: () => ({ stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    finished,
    signal,
    [Symbol.asyncDispose]: async () => {
      signal('SIGTERM');
      const hard = setTimeout(() => signal('SIGKILL'), 5000);
      await finished;
      clearTimeout(hard);
    },
  };
}

/** Runs a program to its end, whatever its exit code. */
export async function runProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Finished> {
  const running = await startProcess(command, args, options);
  return running.finished;
}

/** Runs a program that has to succeed and gives its standard output; the error it throws otherwise carries what it said. */
export async function runSuccessfully(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Buffer> {
  const { code, signal, stdout, stderr } = await runProcess(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}:\n${stderr}${stdout}`);
  return stdout;
}

/** False, or the reason why a test that needs these programs is skipped: to be given as its `skip`. */
export function skipWithout(...programs: readonly string[]): string | false {
  const missing = programs.filter((program) => !installed(program));
  return missing.length === 0 ? false : `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed`;
}

function installed(program: string): boolean {
  const { PATH = '' } = process.env;
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function ending(child: ChildProcess): Promise<Pick<Finished, 'code' | 'signal'>> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) =>
      resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
    );
  });
}
