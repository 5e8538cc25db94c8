import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { Problem } from '../problem.ts';

/**
 * A user of this machine as whom code runs that nobody here vouches for: it can neither look into the memory and environment of this process, where a
 * runner has its tokens, nor touch what this process has written, nor outlive its run. A number that no account needs to have. Becoming it takes
 * root, or sudo without a password, as on GitHub's runners.
 */
export interface OtherUser {
  readonly id: number;
}

/** A program with its arguments and its whole environment. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The same program as that user. Its environment becomes part of a command line, which everybody on the machine can read: for keys that are worth
 * nothing elsewhere.
 */
export function asUser(user: OtherUser, { command, args, env }: Program): Program {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return elevated([...become(user), 'env', '-i', ...variables, command, ...args]);
}

/** Lets every user of the machine write into folders and files of ours. */
export async function openTo(paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => chmod(path, 0o777)));
}

/** Ends every process of that user, also those that have left their group, and makes what it has left in a folder ours. */
export async function endWork(user: OtherUser, folder: string): Promise<void> {
  // kill(2): −1 is every process that the sender may signal, but for itself; that there is none is no error.
  await run(elevated([...become(user), 'sh', '-c', 'kill -KILL -1']));
  const us = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const code = await run(elevated(['chown', '--recursive', '--no-dereference', us, folder]));
  if (code !== 0) throw notAllowed();
}

/** setpriv(1): no group, and no way to gain more by a program that would give it. */
function become({ id }: OtherUser): string[] {
  return ['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--no-new-privs', '--'];
}

function elevated(words: readonly string[]): Program {
  const [command = '', ...args] = process.getuid?.() === 0 ? words : ['sudo', '-n', ...words];
  return { command, args, env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } };
}

async function run({ command, args, env }: Program): Promise<unknown> {
  try {
    const [code]: unknown[] = await once(spawn(command, args, { env, stdio: 'ignore' }), 'exit');
    return code;
  } catch (cause) {
    throw notAllowed(cause);
  }
}

function notAllowed(cause?: unknown): Problem {
  return new Problem({
    code: 'other-user-refused',
    title: 'Builds cannot run as another user',
    what: 'The input `user` names another user, and this process may not act as one.',
    advice: 'Run on Linux as root or with sudo without a password, or leave `user` out for builds that you trust.',
    cause,
  });
}
