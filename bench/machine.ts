import { arch, cpus, loadavg, release, totalmem } from 'node:os';
import { runSuccessfully } from '../test/rig/process.ts';

/** What has to be known of a machine to judge its figures; no name that would tell whose it is. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  /** Over the last minute before the bench, when it should be about 0. */
  readonly load: number;
  /** Versions of Debian's packages of the peers and of the server. */
  readonly packages: Readonly<Record<string, string>>;
}

/** What a bench needs beside Node, and the packages that have it. */
export const programs = ['aptly', 'reprepro', 'apt-ftparchive', 'gpg', 'gpgconf', 'time'];
const packages = ['aptly', 'reprepro', 'apt-utils', 'radosgw'];

export async function describeMachine(): Promise<Machine> {
  const said = await runSuccessfully('dpkg-query', ['--show', ...packages]);
  const versions = said.toString().trim().split('\n');
  return {
    cpu: `${cpus()[0]?.model ?? 'unknown'}, ${arch()}`,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load: loadavg()[0] ?? 0,
    packages: Object.fromEntries(versions.map((line) => line.split('\t', 2))),
  };
}
