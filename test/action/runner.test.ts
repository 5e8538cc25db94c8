import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Finished, runProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const runnerModule = join(import.meta.dirname, '../../src/action/runner.ts');
const summaryModule = join(import.meta.dirname, '../../src/action/summary-file.ts');

/** Runs a script with a real runner of @actions/core, as the runner would start it. */
async function run(script: string, env: Record<string, string> = {}): Promise<Finished> {
  const text = `
    const { githubRunner } = await import(${JSON.stringify(runnerModule)});
    const { appendSummary } = await import(${JSON.stringify(summaryModule)});
    const runner = githubRunner();
    ${script}`;
  return runProcess(process.execPath, ['--input-type=module', '--eval', text], {
    env: { PATH: process.env['PATH'], ...env },
  });
}

describe('the runner', () => {
  it('gets titled annotations as its commands, and the exit code when the process ends by itself', async () => {
    const { code, stdout } = await run(`
      runner.exitCode(1);
      runner.error('what happened\\nwhat to do', 'A title');
      runner.warning('careful', 'Beware');`);
    assert.equal(code, 1);
    assert.match(String(stdout), /^::error title=A title::what happened%0Awhat to do$/m);
    assert.match(String(stdout), /^::warning title=Beware::careful$/m);
  });

  it('hears of secrets first, and none is left in what people read', async () => {
    const { stdout } = await run(`
      runner.secrets.add('hunter22');
      for (const say of [runner.info, runner.debug]) say('the password is hunter22');
      for (const say of [runner.warning, runner.error]) say('the password is hunter22', 'A title');`);
    const [first, ...rest] = String(stdout).trim().split('\n');
    assert.equal(first, '::add-mask::hunter22');
    assert.equal(rest.length, 4);
    for (const line of rest) assert.match(line, /the password is \*\*\*$/);
  });

  it('gives inputs and variables', async () => {
    const script = `runner.info(JSON.stringify([runner.input('on-conflict'), runner.variable('X'), runner.variable('Y') ?? null]));`;
    const { stdout } = await run(script, { 'INPUT_ON-CONFLICT': ' skip ', X: 'x' });
    assert.deepEqual(JSON.parse(String(stdout)), ['skip', 'x', null]);
  });

  it('gets outputs unchanged, even when a passphrase is an ordinary word', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'output');
    await writeFile(file, '');
    await run(`runner.secrets.add('stable'); runner.output('sources-entry', 'Suites: stable\\n');`, {
      GITHUB_OUTPUT: file,
    });
    assert.match(await readFile(file, 'utf8'), /^sources-entry<<.*\nSuites: stable\n/);
  });
});

describe('the job summary', () => {
  it('is appended to, without secrets', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'summary.md');
    await writeFile(file, 'before\n');
    const script = `runner.secrets.add('hunter22'); await appendSummary('# hunter22', runner); await appendSummary('more', runner);`;
    const { code } = await run(script, { GITHUB_STEP_SUMMARY: file });
    assert.equal(code, 0);
    assert.equal(await readFile(file, 'utf8'), 'before\n# ***\nmore\n');
  });

  for (const [without, env] of [
    ['a runner', {}],
    ['the file', { GITHUB_STEP_SUMMARY: '/nonexistent/summary.md' }],
  ] as const) {
    it(`does not fail a run without ${without}`, async () => {
      const { code, stdout, stderr } = await run(`await appendSummary('x', runner);`, env);
      assert.equal(code, 0, stderr);
      assert.match(String(stdout), /::debug::the job summary was not written/);
    });
  }
});
