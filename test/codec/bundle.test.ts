import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runSuccessfully } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const root = join(import.meta.dirname, '../..');

test('the codecs run from a bundle, in a folder without node_modules', async () => {
  await using folder = await temporaryFolder();
  const ncc = join(root, 'node_modules/@vercel/ncc/dist/ncc/cli.js');
  const bundle = (entry: string, out: string) =>
    runSuccessfully(
      process.execPath,
      [ncc, 'build', join(root, 'src/codec', entry), '--out', join(folder.path, out), '--no-cache', '--quiet'],
      { cwd: root },
    );
  await bundle('codecs.ts', '.');
  await bundle('worker.ts', 'worker');
  assert((await readdir(join(folder.path, 'worker'))).includes('liblzma.wasm'));
  const program = `
    import { compress, decompress } from './index.js';
    const text = Buffer.from('The quick brown fox. '.repeat(500_000));
    const packed = await compress('xz', text);
    const unpacked = await decompress('xz', packed, text.length, 'The data');
    console.log(text.length, Buffer.compare(text, unpacked));
  `;
  await writeFile(join(folder.path, 'program.js'), program);
  const said = await runSuccessfully(process.execPath, ['program.js'], { cwd: folder.path });
  assert.equal(said.toString(), '10500000 0\n');
});
