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
import { foreignHome } from '../rig/foreign-home.ts';
import { makers } from '../rig/foreign-repositories.ts';
import { serveDirectory } from '../rig/http-directory.ts';
import { skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture, keyText } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';

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

describe('a repository made by', { skip: skipWithout('apt-get', 'gpg') }, () => {
  for (const { name, programs, make } of makers) {
    const ways = ['its address', 'being taken over in place', ...(name === 'reprepro' ? ['its folder'] : [])];
    for (const way of ways) {
      test(`${name} is imported by way of ${way}, and apt reads what it held`, {
        skip: skipWithout(...programs),
      }, async () => {
        await using stack = new AsyncDisposableStack();
        const { path } = stack.use(await temporaryFolder());
        const home = stack.use(await foreignHome());
        const [debs, made, site] = ['debs', 'made', 'site'].map((folder) => join(path, folder));
        assert.ok(debs !== undefined && made !== undefined && site !== undefined);
        await mkdir(made);
        await writeDebs(debs);
        const place = join(made, await make(made, await pathsIn(debs), home));
        const server = stack.use(await serveDirectory(place));
        const from = way === 'its address' ? server.url : way === 'its folder' ? place : '';
        const target = from === '' ? place : site;
        const inputs = {
          command: 'import',
          suites: 'stable',
          bucket: target,
          import: from,
          'import-key': home.publicKey,
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
