import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ClosingCounts } from './closing-counts.ts';
import { requireFits, type SeededFault, type SuiteName, sightIn } from './seeded-fault.ts';
import { seededFaults } from './seeded-faults.ts';

/** Tests of the proofs themselves: that they see faults, by runs like these, and that their store is one. */
const ofThemselves: readonly string[] = ['controls.test.ts', 'object-model.test.ts'];

interface Suite {
  /** Below `test/`; its own when absent. */
  readonly folders?: readonly string[];
  /** Files of tests that run side by side; 2 when absent. */
  readonly concurrency?: number;
  /** What is set in the environment of a run without a fault, where nobody has set it. */
  readonly environment?: Readonly<Record<string, string>>;
}

const suites: Readonly<Record<SuiteName, Suite>> = {
  crash: {},
  race: {},
  vendors: {},
  hostile: { folders: ['hostile', 'secrets'], environment: { FUZZ_FACTOR: '25' } },
  // apt is to meet as many moments of a publish as it can, and its laps are timed.
  clients: { concurrency: 1 },
};

/**
 * Runs a suite of proofs and tells what it has counted. With `--break NAME` the sources have that fault, and the run ends with
 * the first test that sees it. Resolves to the exit status: 0 when every test has passed, 1 when one has failed, 2 for a wrong call.
 */
export async function runSuite(suite: SuiteName, args: readonly string[]): Promise<number> {
  const faults = seededFaults.filter((each) => sightIn(suite, each) !== undefined);
  const name = brokenName(args);
  const fault = faults.find((each) => each.name === name);
  if (name === undefined || (name !== '' && fault === undefined)) {
    console.error(
      `${name === undefined ? 'That is not understood.' : `There is no fault ${name}.`}\n\n${usage(suite, faults)}`,
    );
    return 2;
  }
  if (fault !== undefined) requireFits(fault);
  const from = performance.now();
  const { counts, failed } = await runTests(suite, fault);
  const time = `${Math.round((performance.now() - from) / 1000)} s`;
  console.log(`\n${suite}, ${time}: ${counts}`);
  if (fault !== undefined) {
    console.log(
      failed.length > 0
        ? `The fault ${fault.name} (${fault.breaks}) is seen: ${failed[0]}`
        : `NOTHING SEES the fault ${fault.name} (${fault.breaks}).`,
    );
  }
  return failed.length > 0 ? 1 : 0;
}

/** Empty for a run without a fault; undefined for arguments that mean nothing. */
function brokenName(args: readonly string[]): string | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { break: { type: 'string' } } });
    return values.break === '' ? undefined : (values.break ?? '');
  } catch {
    return undefined;
  }
}

function usage(suite: SuiteName, faults: readonly SeededFault[]): string {
  const lines = faults.map(({ name, breaks }) => `  ${name.padEnd(22)} ${breaks}`);
  return `usage: npm run test:${suite} [-- --break NAME]\n\nWith a name, the suite must fail:\n${lines.join('\n')}`;
}

async function runTests(suite: SuiteName, fault: SeededFault | undefined) {
  const { concurrency = 2, environment = {} } = suites[suite];
  const seed = new URL(`./seed-fault.ts?${fault?.name}`, import.meta.url).href;
  // Processes that are ended in the middle leave their files behind: in here.
  const temporary = mkdtempSync(join(tmpdir(), `apt-publish-${suite}-`));
  const env = { ...(fault === undefined ? environment : {}), ...process.env, TMPDIR: temporary };
  const stop = new AbortController();
  const counts = new ClosingCounts();
  const failed: string[] = [];
  try {
    const events = run({
      files: filesOf(suite, fault),
      concurrency,
      env,
      signal: stop.signal,
      ...(fault === undefined ? {} : { execArgv: ['--import', seed] }),
    });
    events.on('test:diagnostic', ({ message }) => counts.addLine(message));
    // Told when a test ends, while `test:fail` waits for the files before.
    events.on('test:complete', ({ name, details }) => {
      if (details.passed || stop.signal.aborted) return;
      failed.push(`${name}\n${details.error?.cause ?? details.error}`);
      if (fault !== undefined) stop.abort();
    });
    // What is cut short has nothing to report but that.
    if (fault === undefined) for await (const line of events.compose(new spec())) process.stdout.write(line);
    else for await (const _ of events);
  } finally {
    // What was cut short may still be writing: its processes end a little later than its test.
    await rm(temporary, { recursive: true, force: true, maxRetries: 10 });
  }
  return { counts, failed };
}

/** Paths of the files of tests to run. */
function filesOf(suite: SuiteName, fault: SeededFault | undefined): string[] {
  const { folders = [suite] } = suites[suite];
  const wanted = fault === undefined ? undefined : sightIn(suite, fault)?.files;
  return folders
    .map((name) => fileURLToPath(new URL(`../${name}/`, import.meta.url)))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => fault === undefined || !ofThemselves.includes(basename(path)))
    .filter((path) => wanted?.includes(basename(path)) ?? true)
    .sort();
}
