import assert from 'node:assert/strict';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runSuccessfully } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const root = join(import.meta.dirname, '../..');

const program = `
  import { compress, decompress } from './index.js';
  const text = Buffer.from('The quick brown fox. '.repeat(250_000));
  const packed = await compress('xz', text);
  const unpacked = await decompress('xz', packed, text.length, 'The data');
  console.log(text.length, Buffer.compare(text, unpacked));
`;

/** The codecs alone, so that the bundler has to look at nothing else. */
async function copySources(folder: string): Promise<void> {
  await cp(join(root, 'src/codec'), join(folder, 'src/codec'), { recursive: true });
  for (const file of ['src/problem.ts', 'package.json', 'tsconfig.json'])
    await cp(join(root, file), join(folder, file));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
}

test('the codecs run from a bundle, in a folder without node_modules', async () => {
  await using sources = await temporaryFolder();
  await using dist = await temporaryFolder();
  await copySources(sources.path);
  await mkdir(join(dist.path, 'worker'));
  const ncc = join(root, 'node_modules/@vercel/ncc/dist/ncc/cli.js');
  const bundle = (entry: string, out: string) =>
    runSuccessfully(
      process.execPath,
      [ncc, 'build', join(sources.path, 'src/codec', entry), '--out', out, '--no-cache', '--quiet'],
      { cwd: sources.path },
    );
  await bundle('codecs.ts', dist.path);
  await bundle('worker.ts', join(dist.path, 'worker'));
  await writeFile(join(dist.path, 'program.js'), program);
  const said = await runSuccessfully(process.execPath, ['program.js'], { cwd: dist.path });
  assert.equal(said.toString(), '5250000 0\n');
});
