import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Laboratory } from './laboratory.ts';
import { type Observed, observe } from './observed-process.ts';

/** A reprepro with its database and its archive on the local disk. */
export interface Reprepro {
  /** Takes in a whole folder of .deb files and publishes them. */
  fill(folder: string): Promise<void>;
  /** Takes in one .deb and publishes it. */
  include(deb: string): Promise<Observed>;
  /** A file of the suite. */
  read(path: string): Promise<Buffer>;
}

const suite = 'bench';
/** Paths on one command line: the kernel takes 2 MiB. */
const batch = 5000;

/** Told to write the same compressions as ours, and to sign with the same key. */
export async function openReprepro(laboratory: Laboratory, name: string, contents: boolean): Promise<Reprepro> {
  const base = join(laboratory.folder, `reprepro-${name}`);
  await mkdir(join(base, 'conf'), { recursive: true });
  const distribution = [
    `Codename: ${suite}`,
    'Architectures: amd64',
    'Components: main',
    'DebIndices: Packages Release .gz .xz',
    ...(contents ? ['Contents: .gz .xz'] : []),
    `SignWith: ${laboratory.signing.user}`,
  ];
  await writeFile(join(base, 'conf', 'distributions'), `${distribution.join('\n')}\n`);
  const reprepro = (...args: string[]): Promise<Observed> =>
    observe('reprepro', ['--basedir', base, '--silent', ...args], {
      env: { PATH: process.env['PATH'], HOME: base, GNUPGHOME: laboratory.signing.gnupgHome },
    });
  return {
    fill: async (folder) => {
      const debs = (await readdir(folder)).sort().map((file) => join(folder, file));
      for (let from = 0; from < debs.length; from += batch)
        await reprepro('--export=never', 'includedeb', suite, ...debs.slice(from, from + batch));
      await reprepro('export', suite);
    },
    include: (deb) => reprepro('includedeb', suite, deb),
    read: (path) => readFile(join(base, 'dists', suite, path)),
  };
}
