import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../scripts/build.ts';
import { systemClock } from '../../src/action/system-clock.ts';
import { withUser } from '../../src/perf/lodging.ts';
import { runBuild, type Side } from '../../src/perf/run-build.ts';
import { machineHas } from '../debs.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const node = join(root, 'node_modules/.bin/node');
const unable =
  process.getuid?.() !== 0 ? 'this process is not root' : machineHas('setpriv') ? false : 'setpriv is not installed';
/** A number that no account of a Debian system has. */
const user = { id: 59_877 };

/** What a build can get at: it tells by JSON, and leaves a file, a folder that is closed to others, and a process. */
const nosy = `
  import { spawn } from 'node:child_process';
  import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
  const attempt = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
  const own = readFileSync('/proc/self/status', 'latin1');
  const child = spawn('setsid', ['sleep', '600'], { stdio: 'ignore', detached: true });
  mkdirSync('closed', { mode: 0o700 });
  writeFileSync('closed/file', 'left');
  console.log(JSON.stringify({
    uid: process.getuid(),
    groups: process.getgroups(),
    gains: /^NoNewPrivs:\\t1$/m.test(own) ? 'nothing' : 'something',
    environment: attempt(() => readFileSync('/proc/' + process.env.INPUT_HARNESS + '/environ')),
    bundle: attempt(() => writeFileSync(process.argv[1], 'other')),
    end: attempt(() => process.kill(Number(process.env.INPUT_HARNESS), 0)),
    names: Object.keys(process.env).sort(),
    child: child.pid,
  }));
  child.unref();`;

describe('a build that runs as another user', { skip: unable }, () => {
  it('gets at neither environment nor files of the harness, and leaves nothing that runs or that cannot be removed', async () => {
    await using folder = await temporaryFolder();
    const main = join(folder.path, 'index.mjs');
    await writeFile(main, nosy);
    const side: Side = { main, inputs: {} };
    await using lodging = await withUser(user, { node }, { base: side, head: side });
    const place = join(lodging.folder, 'run');
    const host = { ...lodging, clock: systemClock };
    const run = await runBuild(lodging.sides.head, { harness: String(process.pid) }, place, host);
    assert.equal(run.ended, 'ok', run.said);
    const { child, names, ...told } = JSON.parse(run.said.slice(2));
    assert.deepEqual(told, {
      uid: user.id,
      groups: [user.id],
      gains: 'nothing',
      environment: 'EACCES',
      bundle: 'EACCES',
      end: 'EPERM',
    });
    assert.deepEqual(names, ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'HOME', 'INPUT_HARNESS', 'RUNNER_TEMP']);
    await assert.rejects(readFile(`/proc/${child}/stat`).then(requireAlive), 'its process is still there');
    assert.equal((await stat(join(place, 'closed/file'))).uid, process.getuid?.());
    assert.notEqual(await readFile(lodging.sides.base.main, 'utf8'), 'other');
  });

  it('takes processor time that is counted', async () => {
    await using folder = await temporaryFolder();
    const main = join(folder.path, 'index.mjs');
    const used = 'process.cpuUsage().user + process.cpuUsage().system';
    await writeFile(main, `while (${used} < 400_000) for (let turn = 0; turn < 1e6; turn += 1);`);
    const side: Side = { main, inputs: {} };
    await using lodging = await withUser(user, { node }, { base: side, head: side });
    const run = await runBuild(side, {}, join(lodging.folder, 'run'), { clock: systemClock, node });
    assert.ok((run.cpuMs ?? 0) >= 380, `${run.cpuMs} ms`);
    assert.ok((run.cpuMs ?? 0) < 2000, `${run.cpuMs} ms`);
  });
});

/** A process that has ended stays a zombie until its parent, which is gone too, is replaced by one that waits for it. */
function requireAlive(status: Buffer): void {
  if (/\) [ZX] /.test(status.toString('latin1'))) throw new Error('ended');
}
