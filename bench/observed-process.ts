import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProcessOptions, runProcess } from '../test/rig/process.ts';
import { temporaryFolder } from '../test/rig/temporary.ts';
import type { Sample } from './measurement.ts';

/** What a process cost, as the kernel accounts for it, and what it said. */
export interface Observed extends Pick<Sample, 'ms' | 'cpuMs' | 'peakBytes'> {
  readonly said: string;
}

/**
 * Runs a program that has to succeed under time(1), which adds two milliseconds to every side alike. Its CPU time is that of the program and of the children
 * it waited for, to 10 ms; its peak is the largest of any one of them. A daemon that answers it (gpg-agent) is not in it.
 */
export async function observe(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<Observed> {
  await using folder = await temporaryFolder();
  const account = join(folder.path, 'account');
  const from = performance.now();
  const { code, signal, stdout, stderr } = await runProcess(
    '/usr/bin/time',
    ['-o', account, '-f', '%U %S %M', '--', command, ...args],
    options,
  );
  const ms = performance.now() - from;
  const said = `${stdout}${stderr}`;
  if (code !== 0) throw new Error(`${command} ${args.join(' ').slice(0, 400)} ended with ${code ?? signal}:\n${said}`);
  const [user = 0, system = 0, peakKiB = 0] = (await readFile(account, 'utf8')).trim().split(' ').map(Number);
  return { ms, cpuMs: Math.round((user + system) * 1000), peakBytes: peakKiB * 1024, said };
}

/** Several programs one after the other, as one piece of work. */
export function inTurn(parts: readonly Observed[]): Observed {
  const sum = (value: (part: Observed) => number) => parts.reduce((total, part) => total + value(part), 0);
  return {
    ms: sum(({ ms }) => ms),
    cpuMs: sum(({ cpuMs }) => cpuMs),
    peakBytes: Math.max(...parts.map(({ peakBytes }) => peakBytes)),
    said: parts.map(({ said }) => said).join(''),
  };
}
