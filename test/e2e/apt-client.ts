import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Finished, runProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** The real apt in a root of its own that knows one repository and nothing of the machine's. */
export interface AptClient extends AsyncDisposable {
  /** Throws when it fails; the lines that it printed. */
  update(...options: readonly string[]): Promise<string[]>;
  /** Runs any command of apt-get in an empty folder and hands over what is in it afterwards. Throws when the command fails. */
  inEmptyFolder<T>(args: readonly string[], use: (folder: string) => Promise<T>): Promise<T>;
  /** Stanzas of all binary packages it knows. */
  available(): Promise<string>;
  /** URLs that it has asked for since it was made, oldest first. */
  readonly requested: readonly string[];
}

/**
 * A new apt client. `sources` are texts of `.sources` files. With the machine's `apt.conf.d` out of sight, dates and
 * signatures are checked as apt does by itself; `Debug::Acquire::http` makes it tell each request.
 */
export async function aptClient(sources: readonly string[], architecture = 'amd64'): Promise<AptClient> {
  await using stack = new AsyncDisposableStack();
  const { path: root } = stack.use(await temporaryFolder());
  const parts = ['apt.conf.d', 'sources.list.d', 'preferences.d', 'trusted.gpg.d'].map((name) => `etc/apt/${name}`);
  const more = ['var/lib/apt/lists/partial', 'var/cache/apt/archives/partial', 'var/lib/dpkg', 'var/log/apt'];
  for (const name of [...parts, ...more]) await mkdir(join(root, name), { recursive: true });
  await writeFile(join(root, 'var/lib/dpkg/status'), '');
  for (const [index, text] of sources.entries()) {
    await writeFile(join(root, `etc/apt/sources.list.d/published-${index}.sources`), text);
  }
  const configuration = join(root, 'apt.conf');
  await writeFile(
    configuration,
    `Dir "${root}";
Dir::State::status "${root}/var/lib/dpkg/status";
APT::Architecture "${architecture}";
APT::Architectures { "${architecture}"; };
APT::Sandbox::User "root";
Acquire::http::Proxy "DIRECT";
Acquire::Retries "0";
Acquire::Languages "en";
`,
  );
  const requested: string[] = [];
  const run = async (command: string, args: readonly string[], cwd: string): Promise<Finished> => {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', APT_CONFIG: configuration };
    const finished = await runProcess(command, args, { cwd, env });
    for (const [, path = '', host = ''] of finished.stderr.matchAll(/^GET (\S+) HTTP\/1\.1\r?\nHost: (\S+?)\r?$/gm)) {
      requested.push(decodeURIComponent(`http://${host}${path}`));
    }
    if (finished.code === 0) return finished;
    throw new Error(`${command} ${args.join(' ')} ended with ${finished.code}:\n${finished.stderr}${finished.stdout}`);
  };
  const get = (args: readonly string[], cwd: string): Promise<Finished> =>
    run('apt-get', ['-o', 'Debug::Acquire::http=true', ...args], cwd);
  const kept = stack.move();
  return {
    requested,
    update: async (...options) => {
      const { stdout, stderr } = await get([...options, 'update'], root);
      return `${stdout}${stderr}`.split('\n').filter((line) => /^(?:Get|Hit|Ign|Err|W|E|N):/.test(line));
    },
    inEmptyFolder: async (args, use) => {
      await using empty = await temporaryFolder();
      await get(args, empty.path);
      return await use(empty.path);
    },
    available: async () => (await run('apt-cache', ['dumpavail'], root)).stdout.toString(),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The files of a folder with their bytes, sorted by name. */
export async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const files = new Map<string, Buffer>();
  for (const name of names.map((entry) => entry.name).sort()) files.set(name, await readFile(join(folder, name)));
  return files;
}
