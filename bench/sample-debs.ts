import { createHash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleFile } from '../src/perf/sample-package.ts';
import { buildDeb } from '../test/debs.ts';

/** Packages with nothing in them but what makes them large, or many. All give the path of what they wrote. */

/** One with a single file of `bytes` incompressible bytes. */
export async function writeSmallDeb(folder: string, name: string, bytes = 20_000): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}_1.0_amd64.deb`);
  const files = { [`usr/share/${name}/data`]: noise(name, bytes) };
  await writeFile(path, buildDeb({ fields: { Package: name }, files, dataPacking: 'none' }));
  return path;
}

export async function writeSmallDebs(folder: string, name: string, count: number, bytes?: number): Promise<string[]> {
  const paths: string[] = [];
  for (let number = 0; number < count; number += 1)
    paths.push(await writeSmallDeb(folder, `${name}-${String(number).padStart(4, '0')}`, bytes));
  return paths;
}

/** One with `files` empty files in folders of a hundred: what dominates a Contents index. */
export async function writeManyFilesDeb(folder: string, name: string, files: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}_1.0_amd64.deb`);
  const paths = Array.from({ length: files }, (_, number) => {
    const module = Math.floor(number / 100);
    return `usr/share/${name}/lib/module-${module}/dist/esm/component-${number % 100}.js`;
  });
  const empty = Object.fromEntries(paths.map((each) => [each, '']));
  await writeFile(path, buildDeb({ fields: { Package: name }, files: empty }));
  return path;
}

/** One with a single file of `bytes` zeros, which take no room on the disk. */
export async function writeLargeDeb(folder: string, name: string, bytes: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { fileName, head, zeros, tail } = sampleFile({ name, version: '1.0', size: bytes });
  const path = join(folder, fileName);
  await using file = await open(path, 'wx');
  await file.write(head, 0, head.length, 0);
  await file.write(tail, 0, tail.length, head.length + zeros);
  return path;
}

/** The same for the same seed on every machine. */
function noise(seed: string, bytes: number): Buffer {
  return createHash('shake256', { outputLength: bytes }).update(seed).digest();
}
