import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';

/** Options for a test that needs these programs: skipped, by name, where one is not installed. */
export function needs(...programs: readonly string[]): { skip: string | false } {
  const missing = programs.find((program) => !isInstalled(program));
  return { skip: missing === undefined ? false : `${missing} is not installed` };
}

/** Standard output of a program run to its end. The locale is C, so that messages and sorting are the same everywhere. */
export function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; input?: Uint8Array } = {},
): string {
  return execFileSync(program, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  });
}

/** A folder that is gone when the test ends. */
export function temporaryFolder(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'apt-publish-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
