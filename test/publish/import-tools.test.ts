import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readSettings } from '../../src/action/inputs.ts';
import { startSession } from '../../src/action/session.ts';
import { sourcesEntry } from '../../src/debian/sources-entry.ts';
import { perform } from '../../src/publish/commands.ts';
import { armoredPublicKey } from '../../src/signing/verify.ts';
import { fakeRunner } from '../action/fake-runner.ts';
import { buildDeb } from '../debs.ts';
import { aptClient, filesIn } from '../e2e/apt-client.ts';
import { serveDirectory } from '../rig/http-directory.ts';
import { runSuccessfully, skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture, keyText } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';

/** A program that keeps repositories: makes one of the packages in a folder, and says where in `folder` it is. */
interface Maker {
  readonly program: string;
  make(folder: string, debs: string, home: string): Promise<string>;
}

const makers: readonly Maker[] = [
  {
    program: 'reprepro',
    make: async (folder, debs, home) => {
      await mkdir(join(folder, 'conf'));
      const distribution = 'Codename: stable\nArchitectures: amd64 arm64\nComponents: main\nSignWith: yes\n';
      await writeFile(join(folder, 'conf', 'distributions'), distribution);
      await run(home, 'reprepro', '--silent', '--basedir', folder, 'includedeb', 'stable', ...(await pathsIn(debs)));
      return '.';
    },
  },
  {
    program: 'aptly',
    make: async (folder, debs, home) => {
      const configuration = join(folder, 'aptly.conf');
      await writeFile(configuration, JSON.stringify({ rootDir: folder, gpgProvider: 'gpg' }));
      const aptly = (...args: string[]) => run(home, 'aptly', `-config=${configuration}`, ...args);
      await aptly('repo', 'create', '-distribution=stable', 'packages');
      await aptly('repo', 'add', 'packages', debs);
      await aptly('publish', 'repo', '-batch', 'packages');
      return 'public';
    },
  },
  {
    program: 'apt-ftparchive',
    // What a shell script makes of it: one list for all packages, unsigned names, `./` before the names of files.
    make: async (folder, debs, home) => {
      for (const path of await pathsIn(debs)) {
        await mkdir(join(folder, 'pool'), { recursive: true });
        await writeFile(join(folder, 'pool', path.slice(path.lastIndexOf('/') + 1)), await readFile(path));
      }
      for (const architecture of ['amd64', 'arm64']) {
        const list = join(folder, `dists/stable/main/binary-${architecture}`);
        await mkdir(list, { recursive: true });
        const text = await run(home, 'apt-ftparchive', '-a', architecture, 'packages', `${folder}/./pool`);
        await writeFile(join(list, 'Packages'), text.toString().replaceAll(`Filename: ${folder}/`, 'Filename: '));
        await run(home, 'gzip', '--keep', join(list, 'Packages'));
      }
      const about = { Codename: 'stable', Suite: 'stable', Architectures: 'amd64 arm64', Components: 'main' };
      const options = Object.entries(about).map(([name, value]) => `APT::FTPArchive::Release::${name}=${value}`);
      const release = await run(
        home,
        'apt-ftparchive',
        ...options.flatMap((each) => ['-o', each]),
        'release',
        `${folder}/dists/stable`,
      );
      await writeFile(join(folder, 'dists/stable/Release'), release);
      const signed = await run(
        home,
        'gpg',
        '--batch',
        '--clearsign',
        '--output',
        '-',
        join(folder, 'dists/stable/Release'),
      );
      await writeFile(join(folder, 'dists/stable/InRelease'), signed);
      return '.';
    },
  },
];

/** Versions with everything that a name in a URL can trip over. */
async function writeDebs(folder: string): Promise<void> {
  await mkdir(folder);
  const recipes = [
    { Package: 'hello', Version: '2.10-3' },
    { Package: 'hello', Version: '2.10-3', Architecture: 'arm64' },
    { Package: 'docs', Version: '1:1.0~rc1+dfsg-1', Architecture: 'all' },
    { Package: 'libx++1', Version: '3.0' },
  ];
  for (const fields of recipes) {
    const name = `${fields.Package}_${fields.Version.replace(/^.*:/, '')}_${fields.Architecture ?? 'amd64'}.deb`;
    await writeFile(join(folder, name), buildDeb({ fields }));
  }
}

async function pathsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort().map((name) => join(folder, name));
}

/** With a home of its own: these programs keep databases and keyrings there. */
function run(home: string, program: string, ...args: readonly string[]): Promise<Buffer> {
  const env = { PATH: process.env['PATH'], HOME: home, GNUPGHOME: join(home, '.gnupg'), LC_ALL: 'C' };
  return runSuccessfully(program, args, { env });
}

describe('a repository made by', { skip: skipWithout('apt-get', 'gpg', 'gzip') }, () => {
  for (const { program, make } of makers) {
    const ways = ['its address', 'being taken over in place', ...(program === 'reprepro' ? ['its folder'] : [])];
    for (const way of ways) {
      test(`${program} is imported by way of ${way}, and apt reads what it held`, {
        skip: skipWithout(program),
      }, async () => {
        await using stack = new AsyncDisposableStack();
        const { path } = stack.use(await temporaryFolder());
        const [home, debs, made, site] = ['home', 'debs', 'made', 'site'].map((name) => join(path, name));
        assert.ok(home !== undefined && debs !== undefined && made !== undefined && site !== undefined);
        await mkdir(join(home, '.gnupg'), { recursive: true, mode: 0o700 });
        stack.defer(async () => void (await run(home, 'gpgconf', '--kill', 'all')));
        await mkdir(made);
        await writeDebs(debs);
        await run(
          home,
          'gpg',
          '--batch',
          '--quiet',
          '--passphrase',
          '',
          '--quick-gen-key',
          'Old <old@example.org>',
          'ed25519',
          'sign',
          'never',
        );
        const oldKey = (await run(home, 'gpg', '--armor', '--export')).toString();
        const place = join(made, await make(made, debs, home));
        const server = stack.use(await serveDirectory(place));
        const from = way === 'its address' ? server.url : way === 'its folder' ? place : '';
        const target = from === '' ? place : site;
        const inputs = {
          command: 'import',
          suites: 'stable',
          bucket: target,
          import: from,
          'import-key': oldKey,
          'gpg-private-key': keyText('ed25519'),
        };
        const runner = fakeRunner(inputs);
        const settings = await readSettings({
          source: runner,
          secrets: runner.secrets,
          folder: '.',
          temporaryFolder: path,
        });
        const session = await startSession(settings, realClock, runner);
        const [result] = await perform(session.run, settings.request);
        assert.ok(result !== undefined);
        const served = stack.use(await serveDirectory(target));
        const entry = sourcesEntry({
          ...result,
          uri: served.url,
          suites: ['stable'],
          trust: { key: armoredPublicKey(await fixture('ed25519')) },
        });
        const client = stack.use(await aptClient([entry]));
        const lines = await client.update();
        assert.deepEqual(
          lines.filter((line) => /^(?:W|E|N|Err):/.test(line)),
          [],
        );
        await client.inEmptyFolder(['download', 'hello', 'docs', 'libx++1'], async (folder) => {
          const got = [...(await filesIn(folder)).values()].map(sha256).sort();
          const wanted = await Promise.all(
            (await pathsIn(debs)).filter((each) => !each.includes('arm64')).map((each) => readFile(each)),
          );
          assert.deepEqual(got, wanted.map(sha256).sort());
        });
      });
    }
  }
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
