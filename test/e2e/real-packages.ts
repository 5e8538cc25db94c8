import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runSuccessfully } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import type { MachineApt, OfferedPackage } from './machine-apt.ts';

/** A .deb as the machine's mirrors have it. */
export interface RealDeb {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly path: string;
}

/** How members of a .deb may be packed, in the words of dpkg-deb(1). */
const packings = ['gzip', 'xz', 'zstd', 'none'] as const;

const kernelSize = 50_000_000;

/**
 * Picks by what makes a package hard, not by name, so that any release of Debian or Ubuntu has them: epochs, `+` and `~` in
 * versions, `+` in names, `all` and the machine's own architecture, packages with many files, one as large as a kernel. The smallest of each kind.
 */
export function pickPackages(offered: readonly OfferedPackage[]): string[] {
  const bySize = offered
    .filter(({ size, name }) => size > 0 && !name.includes('dbg'))
    .sort((a, b) => a.size - b.size || (a.name < b.name ? -1 : 1));
  const picked = new Set<string>();
  const pick = (count: number, wanted: (offer: OfferedPackage) => boolean): void => {
    const fitting = bySize.filter((offer) => !picked.has(offer.name) && wanted(offer)).slice(0, count);
    if (fitting.length < count) throw new Error(`only ${fitting.length} packages fit ${wanted}`);
    for (const { name } of fitting) picked.add(name);
  };
  pick(1, ({ name, size }) => size > kernelSize && /^linux-(?:image|modules|firmware)|^firmware-/.test(name));
  pick(4, ({ version }) => version.includes(':'));
  pick(4, ({ version }) => version.includes('+'));
  pick(4, ({ version }) => version.includes('~'));
  pick(3, ({ name }) => name.includes('+'));
  pick(6, ({ architecture }) => architecture === 'all');
  pick(6, ({ architecture }) => architecture !== 'all');
  pick(8, ({ architecture, installedSize }) => architecture !== 'all' && installedSize > 500_000);
  return [...picked];
}

/** The .debs of a folder, sorted by path. apt names a file after its package and writes the colon of an epoch as `%3a`. */
export async function debsIn(folder: string): Promise<RealDeb[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.deb')).sort();
  return files.map((file) => {
    const [name = '', version = '', architecture = ''] = decodeURIComponent(file).slice(0, -'.deb'.length).split('_');
    return { name, version, architecture, path: join(folder, file) };
  });
}

/**
 * Fetches the packages. The last four are packed anew, each in another way, since a release packs all of its packages in the same.
 */
export async function fetchPackages(apt: MachineApt, names: readonly string[], folder: string): Promise<RealDeb[]> {
  await mkdir(folder, { recursive: true });
  await apt.download(names, folder);
  const debs = await debsIn(folder);
  for (const [index, packing] of packings.entries()) {
    const deb = debs.find(({ name }) => name === names.at(index - packings.length));
    if (deb === undefined) throw new Error(`nothing was fetched to be packed with ${packing}`);
    await packAnew(deb, packing);
  }
  return debs;
}

async function packAnew({ path }: RealDeb, packing: (typeof packings)[number]): Promise<void> {
  await using scratch = await temporaryFolder();
  const tree = join(scratch.path, 'tree');
  const made = join(scratch.path, 'made.deb');
  await runSuccessfully('dpkg-deb', ['--raw-extract', path, tree]);
  await runSuccessfully('dpkg-deb', [`-Z${packing}`, '--root-owner-group', '--build', tree, made]);
  await rm(path);
  await rename(made, path);
}
