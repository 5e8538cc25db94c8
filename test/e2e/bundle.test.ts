import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { runProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { committedBundle } from './bundle.ts';
import { runStep } from './runner.ts';

const starts = 20;

test('the bundle runs where no node_modules is, and says what is missing', async (t) => {
  await using bundle = await committedBundle();
  await using folder = await temporaryFolder();
  for (let above = dirname(bundle.main); above !== dirname(above); above = dirname(above)) {
    assert.equal(await stat(join(above, 'node_modules')).catch(() => undefined), undefined, above);
  }
  const times: number[] = [];
  for (let start = 0; start < starts; start += 1) {
    const { code, errors, ms } = await runStep(bundle, {}, { workspace: folder.path });
    assert.equal(code, 1);
    const said = errors.map(({ message }) => message).join('\n');
    for (const input of ['bucket', 'suites', 'gpg-private-key'])
      assert.match(said, new RegExp(`\`${input}\` is missing`));
    times.push(ms);
  }
  const bare: number[] = [];
  for (let start = 0; start < starts; start += 1) {
    const began = performance.now();
    await runProcess(bundle.node, ['--eval', '0']);
    bare.push(performance.now() - began);
  }
  const { size } = await stat(bundle.main);
  t.diagnostic(`dist/index.js has ${size} bytes`);
  t.diagnostic(`start to end on missing inputs: ${median(times)} ms; node alone: ${median(bare)} ms`);
});

function median(numbers: readonly number[]): number {
  return Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0);
}
