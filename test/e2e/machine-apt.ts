import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProcess, runSuccessfully } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** A package that the machine's mirrors offer. */
export interface OfferedPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** Bytes of the .deb. */
  readonly size: number;
  /** Bytes of what it installs, as it says; 0 when it does not. */
  readonly installedSize: number;
}

/** The mirrors that the machine's own apt is set to, source packages included. */
export interface MachineApt extends AsyncDisposable {
  /** Sorted by name. */
  offered(): Promise<OfferedPackage[]>;
  /** Fetches .debs into a folder. */
  download(names: readonly string[], folder: string): Promise<void>;
  /** Fetches what a machine with nothing on it would need to install these (apt-patterns(7) and names). */
  downloadClosure(wanted: readonly string[], folder: string): Promise<void>;
  /** Fetches the files of a source package. */
  downloadSource(name: string, folder: string): Promise<void>;
}

/** A copy of the machine's apt configuration with lists and state of its own, so that it needs no root and changes nothing. */
export async function machineApt(): Promise<MachineApt> {
  await using stack = new AsyncDisposableStack();
  const { path: root } = stack.use(await temporaryFolder());
  for (const name of ['sources', 'lists/partial', 'archives/partial'])
    await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, 'status'), '');
  await copySources(join(root, 'sources'));
  // Options on the command line come last: apt reads the machine's apt.conf.d after the file that APT_CONFIG names.
  const options = [
    `Dir::State::lists=${root}/lists`,
    `Dir::State::status=${root}/status`,
    `Dir::State::extended_states=${root}/extended_states`,
    `Dir::Cache=${root}`,
    'Dir::Etc::sourcelist=/dev/null',
    `Dir::Etc::sourceparts=${root}/sources`,
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
  ].flatMap((option) => ['-o', option]);
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  const get = (args: readonly string[], cwd: string): Promise<Buffer> =>
    runSuccessfully('apt-get', [...options, ...args], { cwd, env });
  // Some mirrors of other vendors have no sources: what is missing shows when it is asked for.
  const update = await runProcess('apt-get', [...options, 'update'], { cwd: root, env });
  const kept = stack.move();
  return {
    offered: async () => {
      const text = (await runSuccessfully('apt-cache', [...options, 'dumpavail'], { cwd: root, env })).toString();
      const offered = text.split('\n\n').flatMap(offeredPackage);
      if (offered.length === 0) throw new Error(`the mirrors offer nothing:\n${update.stderr}${update.stdout}`);
      return offered.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    download: async (names, target) => void (await get(['download', ...names], target)),
    downloadClosure: async (wanted, target) => {
      await mkdir(join(target, 'partial'));
      const install = ['--download-only', '--yes', '--no-install-recommends', 'install', ...wanted];
      await get(['-o', `Dir::Cache::archives=${target}`, ...install], root);
    },
    downloadSource: async (name, target) => void (await get(['source', '--download-only', name], target)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The machine's lists of sources, each line and stanza for source packages too. */
async function copySources(target: string): Promise<void> {
  const parts = await readdir('/etc/apt/sources.list.d').catch(() => []);
  const files = ['sources.list', ...parts.map((name) => `sources.list.d/${name}`)];
  for (const file of files.filter((name) => /\.(?:list|sources)$/.test(name))) {
    const text = await readFile(`/etc/apt/${file}`, 'utf8').catch(() => '');
    const withSources = file.endsWith('.sources')
      ? text.replace(/^Types:.*$/gim, 'Types: deb deb-src')
      : text.replace(/^deb (.*)$/gm, 'deb $1\ndeb-src $1').replace(/^deb-src (.*)\n(?=deb-src \1$)/gm, '');
    await writeFile(join(target, file.replace(/^.*\//, 'machine-')), withSources);
  }
}

function offeredPackage(stanza: string): OfferedPackage[] {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1] ?? '';
  const name = field('Package');
  if (name === '') return [];
  const numbers = { size: Number(field('Size')), installedSize: Number(field('Installed-Size')) * 1024 };
  return [{ name, version: field('Version'), architecture: field('Architecture'), ...numbers }];
}
