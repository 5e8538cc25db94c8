import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { debS3Repository } from './deb-s3-repository.ts';
import type { ForeignHome } from './foreign-home.ts';

/** A program that keeps repositories. */
export interface Maker {
  readonly name: string;
  /** What has to be installed. */
  readonly programs: readonly string[];
  /** Makes a signed repository of these .debs in an empty folder, with a suite `stable` of amd64 and arm64; where in the folder it is. */
  make(folder: string, debs: readonly string[], home: ForeignHome): Promise<string>;
}

export const makers: readonly Maker[] = [
  { name: 'reprepro', programs: ['reprepro'], make: withReprepro },
  { name: 'aptly', programs: ['aptly'], make: withAptly },
  { name: 'apt-ftparchive', programs: ['apt-ftparchive', 'gzip'], make: withAptFtparchive },
  { name: 'deb-s3', programs: ['dpkg-deb'], make: withDebS3 },
];

async function withReprepro(folder: string, debs: readonly string[], { run }: ForeignHome): Promise<string> {
  await mkdir(join(folder, 'conf'));
  const distribution = 'Codename: stable\nArchitectures: amd64 arm64\nComponents: main\nSignWith: yes\n';
  await writeFile(join(folder, 'conf', 'distributions'), distribution);
  await run('reprepro', '--silent', '--basedir', folder, 'includedeb', 'stable', ...debs);
  return '.';
}

async function withAptly(folder: string, debs: readonly string[], { run }: ForeignHome): Promise<string> {
  const configuration = join(folder, 'aptly.conf');
  await writeFile(configuration, JSON.stringify({ rootDir: folder, gpgProvider: 'gpg' }));
  const aptly = (...args: readonly string[]): Promise<Buffer> => run('aptly', `-config=${configuration}`, ...args);
  await aptly('repo', 'create', '-distribution=stable', 'packages');
  await aptly('repo', 'add', 'packages', ...debs);
  await aptly('publish', 'repo', '-batch', 'packages');
  return 'public';
}

/** What a shell script makes of it: one list for all packages, names that are not signed, `./` before the names of files. */
async function withAptFtparchive(folder: string, debs: readonly string[], { run }: ForeignHome): Promise<string> {
  await mkdir(join(folder, 'pool'));
  for (const path of debs) await writeFile(join(folder, 'pool', basename(path)), await readFile(path));
  for (const architecture of ['amd64', 'arm64']) {
    const list = join(folder, `dists/stable/main/binary-${architecture}`);
    await mkdir(list, { recursive: true });
    const text = await run('apt-ftparchive', '-a', architecture, 'packages', `${folder}/./pool`);
    await writeFile(join(list, 'Packages'), text.toString().replaceAll(`Filename: ${folder}/`, 'Filename: '));
    await run('gzip', '--keep', join(list, 'Packages'));
  }
  const about = { Codename: 'stable', Suite: 'stable', Architectures: 'amd64 arm64', Components: 'main' };
  const options = Object.entries(about).flatMap(([name, value]) => [
    '-o',
    `APT::FTPArchive::Release::${name}=${value}`,
  ]);
  const suite = join(folder, 'dists/stable');
  await writeFile(join(suite, 'Release'), await run('apt-ftparchive', ...options, 'release', suite));
  await writeFile(join(suite, 'InRelease'), await clearSigned(join(suite, 'Release')));
  return '.';

  function clearSigned(release: string): Promise<Buffer> {
    return run('gpg', '--batch', '--clearsign', '--output', '-', release);
  }
}

async function withDebS3(folder: string, debs: readonly string[], { run }: ForeignHome): Promise<string> {
  const described = await Promise.all(
    debs.map(async (path) => ({
      name: basename(path),
      body: await readFile(path),
      control: (await run('dpkg-deb', '--field', path)).toString(),
    })),
  );
  const suite = join(folder, 'dists/stable');
  for (const [path, content] of debS3Repository('stable', described)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const sign = (how: readonly string[], name: string): Promise<Buffer> =>
    run('gpg', '--batch', '-a', '--digest-algo', 'SHA256', '-o', join(suite, name), ...how, join(suite, 'Release'));
  await sign(['-s', '--clearsign'], 'InRelease');
  await sign(['-b'], 'Release.gpg');
  return '.';
}
