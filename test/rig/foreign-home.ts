import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runSuccessfully } from './process.ts';
import { temporaryFolder } from './temporary.ts';

/** A home directory for programs that keep databases and keyrings in one, with a signing key in it. */
export interface ForeignHome extends AsyncDisposable {
  readonly path: string;
  /** Armored. */
  readonly publicKey: string;
  /** Runs a program that has to succeed; its standard output. */
  run(program: string, ...args: readonly string[]): Promise<Buffer>;
}

/** Disposing of it ends gpg's agent and removes everything. */
export async function foreignHome(): Promise<ForeignHome> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const gnupg = join(path, '.gnupg');
  await mkdir(gnupg, { mode: 0o700 });
  const env = { PATH: process.env['PATH'], HOME: path, GNUPGHOME: gnupg, LC_ALL: 'C' };
  const run = (program: string, ...args: readonly string[]): Promise<Buffer> => runSuccessfully(program, args, { env });
  stack.defer(async () => void (await run('gpgconf', '--kill', 'all')));
  const unattended = ['--batch', '--quiet', '--passphrase', ''];
  await run('gpg', ...unattended, '--quick-gen-key', 'Old <old@example.org>', 'ed25519', 'sign', 'never');
  const publicKey = (await run('gpg', '--armor', '--export')).toString();
  const kept = stack.move();
  return { path, publicKey, run, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
