import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runSuccessfully } from '../rig/process.ts';
import { binaryKeyring } from './signature-checks.ts';

/** What a mirroring program is to copy. */
export interface Origin {
  /** The base URI, on this machine. */
  readonly url: string;
  readonly suite: string;
  readonly components: readonly string[];
  readonly architecture: string;
  /** Whether it has source packages: every one of these programs fails when it is asked for what is not there. */
  readonly hasSources: boolean;
  readonly publicKey: string;
}

/** A program that mirrors repositories: fills an empty folder and checks signatures with what it is given. */
export interface Mirror {
  readonly program: string;
  copy(origin: Origin, folder: string): Promise<void>;
}

export const mirrors: readonly Mirror[] = [
  { program: 'aptly', copy: copyWithAptly },
  { program: 'debmirror', copy: copyWithDebmirror },
  { program: 'reprepro', copy: copyWithReprepro },
];

async function copyWithAptly(origin: Origin, folder: string): Promise<void> {
  const { url, suite, components, architecture, hasSources, publicKey } = origin;
  const run = await isolated(folder);
  const keyring = await binaryKeyring(publicKey, folder);
  const configuration = join(folder, 'aptly.conf');
  await writeFile(configuration, JSON.stringify({ rootDir: folder, downloadRetries: 0 }));
  const common = [`-config=${configuration}`, '-gpg-provider=gpg', `-keyring=${keyring}`];
  const about = [`-with-sources=${hasSources}`, `-architectures=${architecture}`];
  await run('aptly', ['mirror', 'create', ...common, ...about, 'copy', url, suite, ...components]);
  await run('aptly', ['mirror', 'update', ...common, 'copy']);
}

async function copyWithDebmirror(origin: Origin, folder: string): Promise<void> {
  const { suite, components, architecture, hasSources, publicKey } = origin;
  const run = await isolated(folder);
  const keyring = await binaryKeyring(publicKey, folder);
  const { host, pathname } = new URL(origin.url);
  const about = [`--dist=${suite}`, `--section=${components.join(',')}`, `--arch=${architecture}`];
  const from = ['--method=http', `--host=${host}`, `--root=${pathname}`, `--keyring=${keyring}`];
  await run('debmirror', [
    ...from,
    ...about,
    hasSources ? '--source' : '--nosource',
    '--getcontents',
    '--rsync-extra=none',
    '--omit-suite-symlinks',
    join(folder, 'mirror'),
  ]);
}

/** It takes keys from its GNUPGHOME only. */
async function copyWithReprepro(origin: Origin, folder: string): Promise<void> {
  const { url, suite, components, architecture, hasSources, publicKey } = origin;
  const run = await isolated(folder);
  const imported = await run('gpg', ['--batch', '--status-fd', '1', '--import'], publicKey);
  const fingerprint = /^\[GNUPG:\] IMPORT_OK \d+ (\S+)$/m.exec(imported)?.[1] ?? '';
  await mkdir(join(folder, 'conf'));
  const distribution = {
    Codename: suite,
    Architectures: hasSources ? `${architecture} source` : architecture,
    Components: components.join(' '),
    Update: 'origin',
  };
  const update = { Name: 'origin', Method: url, VerifyRelease: fingerprint.slice(-16) };
  await writeFile(join(folder, 'conf/distributions'), stanza(distribution));
  await writeFile(join(folder, 'conf/updates'), stanza(update));
  await run('reprepro', ['--basedir', folder, 'update']);
}

const stanza = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');

type Run = (program: string, args: readonly string[], input?: string) => Promise<string>;

/** Runs programs with a home of their own; what they print. gpg may start agents, which end when their home's socket goes. */
async function isolated(folder: string): Promise<Run> {
  const home = join(folder, 'gnupg');
  await mkdir(home, { mode: 0o700, recursive: true });
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', HOME: folder, GNUPGHOME: home };
  return async (program, args, input) =>
    (await runSuccessfully(program, args, { env, cwd: folder, ...(input === undefined ? {} : { input }) })).toString();
}

/** Every file below a folder: path relative to it. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
