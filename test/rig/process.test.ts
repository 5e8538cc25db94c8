import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { runProcess, runSuccessfully, skipWithout, startProcess } from './process.ts';
import { temporaryFolder } from './temporary.ts';

const node = process.execPath;

test('a process gets its input, environment and folder and is heard in full', async () => {
  await using folder = await temporaryFolder();
  const script = 'process.stdin.on("data", (d) => process.stdout.write(d + process.env.WORD + process.cwd()))';
  const options = { input: 'in ', env: { WORD: 'word ' }, cwd: folder.path };
  assert.equal((await runSuccessfully(node, ['-e', script], options)).toString(), `in word ${folder.path}`);
});

test('a process that fails says with what', async () => {
  const args = ['-e', 'console.error("because"); process.exit(3)'];
  assert.equal((await runProcess(node, args)).code, 3);
  await assert.rejects(runSuccessfully(node, args), /ended with 3:\nbecause/);
  await assert.rejects(startProcess('/no/such/program', []), { code: 'ENOENT' });
});

test('a running process ends when it is disposed of', async () => {
  const running = await startProcess(node, ['-e', 'setInterval(() => {}, 1000)']);
  assert.doesNotThrow(() => process.kill(running.pid, 0));
  await running[Symbol.asyncDispose]();
  assert.equal((await running.finished).signal, 'SIGTERM');
  assert.throws(() => process.kill(running.pid, 0), { code: 'ESRCH' });
});

test('a program that is missing is named as the reason to skip', () => {
  assert.equal(skipWithout('sh'), false);
  assert.equal(skipWithout('sh', 'no-such-program'), 'no-such-program is not installed');
  assert.equal(skipWithout('nor-this', 'no-such-program'), 'nor-this and no-such-program are not installed');
});

test('a temporary folder is gone afterwards', async () => {
  let path = '';
  {
    await using folder = await temporaryFolder();
    path = folder.path;
    assert.ok(existsSync(path));
  }
  assert.equal(existsSync(path), false);
});
