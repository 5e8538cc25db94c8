import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../scripts/build.ts';
import { Results } from '../../scripts/comparisons.ts';
import { harnessHash } from '../../src/perf/machine.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { sampleComparison } from './comparison-samples.ts';

const node = join(root, 'node_modules/.bin/node');
const alike = sampleComparison([1, -1, 2, -2, 1, -1]);

describe('the results of many comparisons', () => {
  it('are in a file after each of them, with its verdict, and are gone on with', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'new', 'results.json');
    const first = await Results.open(path, 'one');
    assert.deepEqual(first.records, []);
    await first.add(alike, 'within noise');
    assert.deepEqual((await Results.open(path, 'one')).records, [alike]);
    const [{ verdict }] = JSON.parse(await readFile(path, 'utf8')).comparisons;
    assert.equal(verdict, 'within noise');
    await assert.rejects(Results.open(path, 'another'), /of another bundle: remove it/);
  });

  for (const [title, percents, code, counted] of [
    ['end well where the bundle is like itself', [1, -1, 2, -2, 1, -1], 0, '0 of 2'],
    ['fail where two of two name a direction', [14, 15, 16, 15, 14, 16], 1, '2 of 2'],
  ] as const) {
    it(`${title}, without measuring again what is there`, async () => {
      await using folder = await temporaryFolder();
      const [bundle, path] = [join(folder.path, 'index.js'), join(folder.path, 'results.json')];
      await writeFile(bundle, '');
      const comparisons = [1, 2].map((index) => ({
        record: { ...sampleComparison(percents), started: `2026-11-0${index}T00:00:00.000Z` },
      }));
      await writeFile(path, JSON.stringify({ bundle: await harnessHash([bundle]), comparisons }));
      const words = ['--pairings', '2', '--bundle', bundle, '--results', path];
      const child = spawn(node, [join(root, 'scripts/perf-aa.ts'), ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
      const said: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
      const [ended] = await once(child, 'close');
      assert.match(Buffer.concat(said).toString(), new RegExp(`^${counted} comparisons of the bundle with itself`));
      assert.equal(ended, code);
    });
  }
});
