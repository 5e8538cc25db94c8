import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProcess, runSuccessfully } from '../rig/process.ts';

/** The armored public key as the binary keyring that gpgv, debootstrap and mmdebstrap take. */
export async function binaryKeyring(publicKey: string, folder: string): Promise<string> {
  const path = join(folder, 'keyring.gpg');
  await writeFile(
    path,
    await runSuccessfully('gpg', ['--homedir', folder, '--batch', '--dearmor'], { input: publicKey }),
  );
  return path;
}

/**
 * The two parts of a clear-signed text as sqv before 1.3, which knows only detached signatures, takes them: RFC 9580 §7.1 hashes the lines
 * unescaped, joined by CR LF, without the last line end.
 */
export function splitClearSigned(text: string): { readonly signed: string; readonly signature: string } {
  const [, body = '', signature = ''] =
    /^-----BEGIN PGP SIGNED MESSAGE-----\n(?:Hash: .*\n)*\n([\s\S]*)\n(-----BEGIN PGP SIGNATURE-----\n[\s\S]*)$/.exec(
      text,
    ) ?? [];
  return { signed: body.replace(/^- /gm, '').replaceAll('\n', '\r\n'), signature };
}

/** What a program that checks signatures said, and whether it was content. */
export async function verdict(program: string, args: readonly string[]): Promise<{ good: boolean; said: string }> {
  const { code, stdout, stderr } = await runProcess(program, args);
  return { good: code === 0, said: `${stdout}${stderr}` };
}
