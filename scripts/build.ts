/**
 * Builds what the runner runs: `dist/index.js`, `dist/worker/index.js` for the codec's workers, `dist/perf/index.js` for comparisons and, beside
 * it, the S3 server that they run against; each with the licences of what it bundles. Not minified, so that a review can read it. The same
 * sources and lock file give the same bytes on every machine.
 *
 *     node scripts/build.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

interface Bundle {
  readonly entry: string;
  /** Below dist. */
  readonly folder: string;
}

const bundles: readonly Bundle[] = [
  { entry: 'src/main.ts', folder: '.' },
  { entry: 'src/codec/worker.ts', folder: 'worker' },
  { entry: 'src/perf-main.ts', folder: 'perf' },
  { entry: 'test/perf/emulator.ts', folder: 'perf/emulator' },
];

/** Builds every bundle into `target`, which must be empty or absent. Throws with what the bundler said when one fails. */
export async function build(target: string): Promise<void> {
  for (const { entry, folder } of bundles) await bundle(entry, join(target, folder));
}

/** ncc's cache is left out: it would keep what an older version of a dependency or of ncc made. */
async function bundle(entry: string, target: string): Promise<void> {
  const require = createRequire(import.meta.url);
  const ncc = join(require.resolve('@vercel/ncc/package.json'), '..', 'dist/ncc/cli.js');
  const options = ['--license', 'licenses.txt', '--no-cache', '--quiet'];
  const child = spawn(process.execPath, [ncc, 'build', join(root, entry), '--out', target, ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ncc could not bundle ${entry}:\n${said}`);
}

/** Replaces dist only after everything was built, so that a failed build leaves the old one. */
async function main(): Promise<void> {
  const staging = await mkdtemp(join(tmpdir(), 'apt-publish-build-'));
  try {
    const fresh = join(staging, 'dist');
    await build(fresh);
    await rm(join(root, 'dist'), { recursive: true, force: true });
    await cp(fresh, join(root, 'dist'), { recursive: true });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
