/**
 * Runs every check of the project that is no test, all of them even when one fails, and names those that failed.
 *
 *     node scripts/check.ts            all
 *     node scripts/check.ts lint docs  some
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { root } from './build.ts';

interface Check {
  readonly name: string;
  /** What a failure means, for those who meet it first here. */
  readonly proves: string;
  readonly command: readonly [program: string, ...args: string[]];
}

const bin = (name: string) => join(root, 'node_modules/.bin', name);

const checks: readonly Check[] = [
  { name: 'types', proves: 'the types fit', command: [bin('tsc'), '--noEmit', '-p', '.'] },
  {
    name: 'lint',
    proves: 'format, lint, the arrows between rooms, no circles, no clock or environment below the edge (biome.json)',
    command: [bin('biome'), 'ci', '--error-on-warnings', '.'],
  },
  { name: 'dead-code', proves: 'no unused file, export or dependency', command: [bin('knip')] },
  {
    name: 'docs',
    proves: 'the tables in README.md say what action.yml says',
    command: [process.execPath, 'scripts/docs.ts', '--check'],
  },
  {
    name: 'dist',
    proves: 'dist/ is what the sources build',
    command: [process.execPath, 'scripts/check-dist.ts'],
  },
];

function passes({ name, proves, command }: Check): boolean {
  const [program, ...args] = command;
  const from = performance.now();
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const time = `${((performance.now() - from) / 1000).toFixed(1)} s`;
  if (error === undefined && status === 0) {
    console.log(`ok      ${name} (${time})`);
    return true;
  }
  console.error(
    `FAILED  ${name} (${time}): this check proves that ${proves}${error === undefined ? '' : `; ${error.message}`}`,
  );
  return false;
}

function main(names: readonly string[]): void {
  const unknown = names.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    console.error(`No such check: ${unknown.join(', ')}. There are ${checks.map(({ name }) => name).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const failed = checks
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .filter((check) => !passes(check));
  if (failed.length === 0) return;
  console.error(`Failed: ${failed.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
}

if (import.meta.main) main(process.argv.slice(2));
