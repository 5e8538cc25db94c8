import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cephMissing } from '../rig/ceph.ts';
import { skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { type AptClient, aptClient, filesIn } from './apt-client.ts';
import { publishRealPackages, type RealRepository, sourceName, sourceSuite } from './real-repository.ts';
import { binaryKeyring, splitClearSigned, verdict } from './signature-checks.ts';

const skip = cephMissing() || skipWithout('apt-get', 'apt-cache', 'dpkg-deb', 'dpkg-source');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('real packages in three suites', { skip }, () => {
  let repository: RealRepository;
  before(async () => {
    repository = await publishRealPackages();
  });
  after(() => repository?.[Symbol.asyncDispose]());

  test('several steps on empty machines publish at least thirty real packages and a source package into three suites', async (t) => {
    const { steps, components } = repository;
    const debs = components.flatMap((component) => component.debs);
    assert.ok(debs.length >= 30, `${debs.length} packages`);
    assert.deepEqual(
      steps.map(({ outputs }) => [outputs.get('changed'), JSON.parse(outputs.get('generation') ?? '')]),
      [
        ['true', { bookworm: 1 }],
        ['true', { bookworm: 2, 'bookworm-backports': 1 }],
        ['true', { 'stable/updates': 1 }],
      ],
    );
    const added = steps.map(({ outputs }) => Number(outputs.get('added')));
    assert.equal(
      added.reduce((sum, count) => sum + count),
      debs.length + 1,
    );
    assert.deepEqual(
      steps.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
      [],
    );
    const files = await Promise.all(debs.map(({ path }) => readFile(path)));
    const largest = Math.max(...files.map(({ length }) => length));
    assert.ok(largest > 50_000_000, `the largest package has ${largest} bytes`);
    const packings = files.map((bytes) =>
      /control\.tar\S*/.exec(bytes.toString('latin1', 0, 200))?.[0].replace(/\/$/, ''),
    );
    assert.deepEqual([...new Set(packings)].sort(), [
      'control.tar',
      'control.tar.gz',
      'control.tar.xz',
      'control.tar.zst',
    ]);
    for (const { summary } of steps) assert.match(summary, /bookworm|stable\/updates/);
    t.diagnostic(
      `${debs.length} packages, the largest ${largest} bytes; steps ${steps.map(({ ms }) => `${Math.round(ms)} ms`).join(', ')}`,
    );
  });

  test('apt updates from the printed sources entries without a warning, error or notice, and a second time finds nothing new', async () => {
    await using client = await aptClient(repository.sourcesEntries);
    const first = await client.update();
    assert.deepEqual(
      first.filter((line) => !/^Get:/.test(line)),
      [],
    );
    const second = await client.update();
    assert.deepEqual(
      second.filter((line) => !/^Hit:/.test(line)),
      [],
    );
    assert.equal(second.length, 3);
  });

  for (const byHash of ['force', 'no']) {
    test(`apt with By-Hash ${byHash} downloads every package, each with the bytes that were published`, async () => {
      await using client = await aptClient(repository.sourcesEntries);
      const lines = await client.update('-o', `Acquire::By-Hash=${byHash}`);
      assert.deepEqual(
        lines.filter((line) => !/^Get:/.test(line)),
        [],
      );
      const indexes = client.requested.filter((url) => !url.endsWith('/InRelease'));
      const byHashes = indexes.filter((url) => url.includes('/by-hash/SHA256/'));
      assert.ok(indexes.length >= 4);
      assert.equal(byHashes.length, byHash === 'force' ? indexes.length : 0);
      await downloadsEverything(client);
    });
  }

  async function downloadsEverything(client: AptClient): Promise<void> {
    const debs = repository.components.flatMap((component) => component.debs);
    const expected = await Promise.all(debs.map(async ({ path }) => sha256(await readFile(path))));
    const names = debs.map(({ name, version }) => `${name}=${version}`);
    const downloaded = await client.inEmptyFolder(['download', ...names], filesIn);
    assert.deepEqual([...downloaded.values()].map(sha256).sort(), expected.sort());
  }

  test('apt-get source fetches and unpacks the source package', async () => {
    await using client = await aptClient(repository.sourcesEntries);
    await client.update();
    await client.inEmptyFolder(['source', sourceName], async (folder) => {
      const files = await filesIn(folder);
      for (const name of await readdir(repository.sourceFolder)) {
        assert.equal(
          sha256(files.get(name) ?? Buffer.alloc(0)),
          sha256(await readFile(join(repository.sourceFolder, name))),
        );
      }
      const unpacked = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
      assert.equal(unpacked.length, 1, `${sourceName} was unpacked`);
    });
  });

  for (const program of ['gpgv', 'sqv']) {
    const without = { skip: skipWithout(program, 'gpg') };
    test(`${program} accepts InRelease and Release.gpg of every suite with the printed key`, without, async () => {
      await using folder = await temporaryFolder();
      const keyring = await binaryKeyring(repository.publicKey, folder.path);
      const file = async (name: string, content: Uint8Array | string): Promise<string> => {
        await writeFile(join(folder.path, name), content);
        return join(folder.path, name);
      };
      for (const suite of new Set(repository.components.map((component) => component.suite))) {
        const read = (name: string): Promise<Buffer> => repository.bucket.read(`dists/${suite}/${name}`);
        const inRelease = await read('InRelease');
        const { signed, signature } = splitClearSigned(inRelease.toString());
        const whole = [await file('InRelease', inRelease)];
        const parts = [await file('InRelease.sig', signature), await file('InRelease.text', signed)];
        const detached = [
          await file('Release.gpg', await read('Release.gpg')),
          await file('Release', await read('Release')),
        ];
        for (const args of [program === 'sqv' ? parts : whole, detached]) {
          const { good, said } = await verdict(program, ['--keyring', keyring, ...args]);
          assert.ok(good, `${suite} ${args.join(' ')}: ${said}`);
        }
        // The one text that both forms sign, and a checker that can say no.
        assert.equal(`${signed.replaceAll('\r\n', '\n')}\n`.trimEnd(), (await read('Release')).toString().trimEnd());
        const forged = await file('Release', `${signed}x`);
        const { good } = await verdict(program, ['--keyring', keyring, detached[0] ?? '', forged]);
        assert.equal(good, false, `${program} accepts a forged Release`);
      }
    });
  }

  test('the suite with the source package tells apt so', () => {
    const entry = repository.sourcesEntries.find((text) => text.includes(`Suites: ${sourceSuite}\n`));
    assert.match(entry ?? '', /^Types: deb deb-src$/m);
  });
});
