import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeTraces } from '../../src/action/trace-files.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { sampleRecord } from '../timing/record-samples.ts';

/** Writes below a new folder; gives back the warnings and the files. */
async function written(name: string, prepare: (folder: string) => Promise<void> = async () => {}) {
  await using folder = await temporaryFolder();
  await prepare(folder.path);
  const warnings: string[] = [];
  await writeTraces(sampleRecord, join(folder.path, name), { warning: (sentence) => warnings.push(sentence) });
  const files = await readdir(folder.path, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((entry) => entry.isFile())
    .map(async (entry) => [entry.name, await readFile(join(entry.parentPath, entry.name), 'utf8')] as const);
  return { warnings, files: new Map(await Promise.all(texts)) };
}

describe('the input trace', () => {
  it('makes two files side by side, and the folder for them', async () => {
    const { warnings, files } = await written('out/deep/trace.json');
    assert.deepEqual(warnings, []);
    assert.deepEqual([...files.keys()].sort(), ['trace.json', 'trace.otlp.jsonl']);
    assert.ok('traceEvents' in JSON.parse(files.get('trace.json') ?? ''));
    assert.ok('resourceSpans' in JSON.parse(files.get('trace.otlp.jsonl')?.split('\n')[0] ?? ''));
  });

  it('takes a name without the ending as it is', async () => {
    const { files } = await written('trace');
    assert.deepEqual([...files.keys()].sort(), ['trace', 'trace.otlp.jsonl']);
  });

  it('that cannot be written is a warning', async () => {
    const { warnings, files } = await written('file/trace.json', (folder) => writeFile(join(folder, 'file'), ''));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^The trace was not written to `trace`: /);
    assert.deepEqual([...files.keys()], ['file']);
  });
});
