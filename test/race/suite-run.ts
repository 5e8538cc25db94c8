import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ClosingCounts } from './closing-counts.ts';
import { requireFits, type SeededFault, type SuiteName, seededFaults } from './seeded-faults.ts';

/** Tests of the proofs themselves: that they see faults, by runs like these, and that their store is one. */
const ofThemselves: readonly string[] = ['controls.test.ts', 'object-model.test.ts'];

/**
 * Runs one of the two suites of proofs and tells what it has counted. With `--break NAME` the sources have that fault, and the run ends with
 * the first test that sees it. Resolves to the exit status: 0 when every test has passed, 1 when one has failed, 2 for a wrong call.
 */
export async function runSuite(suite: SuiteName, args: readonly string[]): Promise<number> {
  const faults = seededFaults.filter(({ seenBy }) => seenBy.includes(suite));
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
  const folder = fileURLToPath(new URL(`../${suite}/`, import.meta.url));
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  const files = names
    .filter((name) => fault === undefined || !ofThemselves.includes(name))
    .map((name) => join(folder, name));
  const seed = new URL(`./seed-fault.ts?${fault?.name}`, import.meta.url).href;
  // Processes that are ended in the middle leave their files behind: in here.
  const temporary = mkdtempSync(join(tmpdir(), `apt-publish-${suite}-`));
  const outer = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  const stop = new AbortController();
  const counts = new ClosingCounts();
  const failed: string[] = [];
  try {
    const events = run({
      files: files.sort(),
      concurrency: 2,
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
    if (outer === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = outer;
    rmSync(temporary, { recursive: true, force: true });
  }
  return { counts, failed };
}
