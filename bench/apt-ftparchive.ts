import { copyFile, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Laboratory } from './laboratory.ts';
import { inTurn, type Observed, observe } from './observed-process.ts';

/** An archive on the local disk that apt-ftparchive keeps the indexes of, with its cache. */
export interface FtpArchive {
  fill(folder: string): Promise<void>;
  /** Writes the indexes and signs them, after a .deb was put into the pool. */
  include(deb: string): Promise<Observed>;
  /** A file of the suite. */
  read(path: string): Promise<Buffer>;
}

/** Configured as apt-ftparchive(1) says for `generate`, with the same compressions as ours. */
export async function openFtpArchive(laboratory: Laboratory, name: string, contents: boolean): Promise<FtpArchive> {
  const base = join(laboratory.folder, `ftparchive-${name}`);
  const dists = join(base, 'dists', 'bench');
  for (const folder of [join(dists, 'main', 'binary-amd64'), join(base, 'pool'), join(base, 'cache')])
    await mkdir(folder, { recursive: true });
  const configuration = join(base, 'apt-ftparchive.conf');
  await writeFile(
    configuration,
    `Dir { ArchiveDir "${base}"; CacheDir "${base}/cache"; };
Default { Packages::Compress "gzip xz"; Contents::Compress "gzip xz"; };
BinDirectory "pool" {
  Packages "dists/bench/main/binary-amd64/Packages";
  ${contents ? 'Contents "dists/bench/main/Contents-amd64";' : ''}
  BinCacheDB "packages.db";
};
APT::FTPArchive::Release { Codename "bench"; Architectures "amd64"; Components "main"; };
`,
  );
  const { gnupgHome, user } = laboratory.signing;
  const env = { PATH: process.env['PATH'], HOME: base };
  const generate = async (): Promise<Observed> => {
    const indexes = await observe('apt-ftparchive', ['generate', configuration], { env, cwd: base });
    // The release must not list an older one of itself, so it is made beside the tree.
    const release = await observe('apt-ftparchive', ['-c', configuration, '-q', 'release', dists], { env, cwd: base });
    const signed = await observe(
      'gpg',
      ['--homedir', gnupgHome, '--batch', '--yes', '-u', user, '--clearsign', '-o', join(base, 'InRelease')],
      { env, input: release.said },
    );
    await copyFile(join(base, 'InRelease'), join(dists, 'InRelease'));
    return inTurn([indexes, release, signed]);
  };
  return {
    fill: async (folder) => {
      for (const file of await readdir(folder)) await link(join(folder, file), join(base, 'pool', file));
      await generate();
    },
    include: async (deb) => {
      await copyFile(deb, join(base, 'pool', basename(deb)));
      return generate();
    },
    read: (path) => readFile(join(dists, path)),
  };
}
