import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSigningKeys, type SigningKeyInput, type SigningKeys } from '../../src/signing/keys.ts';

/** The fixture keys were made on 2024-01-01 (see fixtures/make.sh); the tests sign on this day, past on every machine. */
export const signingDate = new Date('2025-06-01T12:00:00Z');

export function keyText(name: string): string {
  return readFileSync(new URL(`fixtures/${name}.asc`, import.meta.url), 'utf8');
}

/** The key of a fixture, read as the action does. */
export function fixture(name: string, more: Partial<SigningKeyInput> = {}): Promise<SigningKeys> {
  return readSigningKeys({ keys: keyText(name), at: signingDate, ...more });
}

/** The binary packets inside an armoured fixture. */
export function binaryOf(name: string): Buffer {
  const lines = keyText(name).split('\n');
  const body = lines.slice(
    lines.indexOf('') + 1,
    lines.findIndex((line) => line.startsWith('-----END')),
  );
  return Buffer.from(body.filter((line) => !line.startsWith('=')).join(''), 'base64');
}

/** For `{ skip }` of a test: false when the program can be started, else why not. */
export function unlessInstalled(program: string): string | false {
  return spawnSync(program, ['--version']).error === undefined ? false : `${program} is not installed`;
}

/** Runs a program to its end in `cwd` and gives back what it printed; throws with its messages when it fails. */
export function run(program: string, args: readonly string[], cwd: string, env: Record<string, string> = {}): string {
  const result = spawnSync(program, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${result.stderr}${result.stdout}`);
  return result.stdout;
}

/** A folder that is gone after `use`. */
export async function withFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'apt-publish-signing-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
