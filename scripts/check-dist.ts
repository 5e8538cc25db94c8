/**
 * Proves that dist/ is what the sources build: rebuilds it elsewhere and compares every file, so that a stale, a missing and a left-over file
 * are all found (a diff of the tracked files would not see a new one).
 *
 *     node scripts/check-dist.ts
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, root } from './build.ts';

/** A line for each file by which two folders differ, sorted; a folder that is not there counts as empty. */
export async function differences(committed: string, rebuilt: string): Promise<string[]> {
  const [old, fresh] = await Promise.all([contents(committed), contents(rebuilt)]);
  return [...new Set([...old.keys(), ...fresh.keys()])].sort().flatMap((name) => {
    const [before, after] = [old.get(name), fresh.get(name)];
    if (before === undefined) return `missing: ${name}`;
    if (after === undefined) return `left over: ${name}`;
    return before.equals(after) ? [] : `stale: ${name}`;
  });
}

async function contents(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [relative(folder, file), await readFile(file)] as const)));
}

async function main(): Promise<void> {
  const rebuilt = await mkdtemp(join(tmpdir(), 'apt-publish-dist-'));
  try {
    await build(rebuilt);
    const found = await differences(join(root, 'dist'), rebuilt);
    if (found.length === 0) return;
    console.error(`dist/ is not what the sources build:\n${found.join('\n')}\nRun \`npm run build\` and commit dist/.`);
    process.exitCode = 1;
  } finally {
    await rm(rebuilt, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
