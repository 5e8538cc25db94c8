import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sourcesEntry } from '../../src/debian/sources-entry.ts';
import { armoredPublicKey } from '../../src/signing/verify.ts';
import { buildDeb } from '../debs.ts';
import { cephMissing } from '../rig/ceph.ts';
import { type ForeignHome, foreignHome } from '../rig/foreign-home.ts';
import { type Maker, makers } from '../rig/foreign-repositories.ts';
import { type LatencyProxy, startLatencyProxy } from '../rig/latency-proxy.ts';
import { skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture, keyText } from '../signing/fixture-keys.ts';
import { type AptClient, aptClient, filesIn } from './apt-client.ts';
import { type CephStore, type RepositoryBucket, startStore } from './bucket.ts';
import { type Bundle, committedBundle } from './bundle.ts';
import { filesBelow } from './mirrors.ts';
import { type Inputs, publishStep, type StepResult } from './runner.ts';
import { binaryKeyring } from './signature-checks.ts';

/** Milliseconds each way between the steps and the store: apt has time to come in between. */
const distance = 60;
const suite = 'stable';
const lists = ['amd64', 'arm64'].map((architecture) => `dists/${suite}/main/binary-${architecture}/Packages.gz`);

/** What the old tool has published, with everything that a name in a URL can trip over. */
const old: readonly Readonly<Record<string, string>>[] = [
  { Package: 'hello', Version: '2.10-3' },
  { Package: 'hello', Version: '2.10-3', Architecture: 'arm64' },
  { Package: 'docs', Version: '1.0~rc1+dfsg-1', Architecture: 'all' },
  { Package: 'libx++1', Version: '1:3.0' },
];
const names = ['docs', 'hello', 'libx++1'];

describe('a repository of another tool in a bucket', {
  skip: cephMissing() || skipWithout('apt-get', 'gpg', 'gpgconf'),
}, () => {
  let stack: AsyncDisposableStack;
  let folder: string;
  let debs: readonly string[];
  let home: ForeignHome;
  let bundle: Bundle;
  let store: CephStore;
  let far: LatencyProxy;
  /** Of users who have been told of the new key in time. */
  let keyring: string;
  before(async () => {
    stack = new AsyncDisposableStack();
    folder = stack.use(await temporaryFolder()).path;
    home = stack.use(await foreignHome());
    bundle = stack.use(await committedBundle());
    store = stack.use(await startStore());
    far = stack.use(await startLatencyProxy({ to: store.ceph.endpoint, delayMs: distance }));
    const both = `${home.publicKey}\n${armoredPublicKey(await fixture('ed25519'))}`;
    keyring = await binaryKeyring(both, folder);
    debs = await Promise.all(
      old.map(async (fields, number) => {
        const path = join(folder, `${fields['Package']}_${number}_${fields['Architecture'] ?? 'amd64'}.deb`);
        await writeFile(path, buildDeb({ fields, files: { [`usr/share/${fields['Package']}`]: 'x' } }));
        return path;
      }),
    );
  });
  after(() => stack?.[Symbol.asyncDispose]());

  // The names of apt-ftparchive begin with `./`: no bucket serves those, so nobody has such a repository in one.
  for (const maker of makers.filter(({ name }) => name !== 'apt-ftparchive')) {
    test(`made by ${maker.name} is taken over in place, extended and verified, and apt reads it all the time`, {
      skip: skipWithout(...maker.programs),
    }, async (t) => {
      const bucket = await uploaded(maker);
      const [pool, filenames] = [await poolOf(bucket), await filenamesIn(bucket)];
      await using client = await reader(bucket);
      await serves(client, names);

      const importing = step(bucket, { command: 'import', 'import-key': home.publicKey, suites: suite });
      const { warnings } = await watched(t, client, 'import', importing);
      assert.equal(warnings.length, 1, 'what was taken over is told');
      assert.deepEqual(await filenamesIn(bucket), filenames);
      assert.deepEqual(await poolOf(bucket), pool, 'no package was written or moved');
      await serves(client, names);
      await isSound(bucket);

      await watched(t, client, 'publish', extend(bucket));
      await isExtended(client, bucket, filenames);
      const now = await poolOf(bucket);
      for (const [key, object] of pool) assert.deepEqual(now.get(key), object, key);
    });
  }

  test('with a Release and its signature but no InRelease is taken over as well', {
    skip: skipWithout('dpkg-deb'),
  }, async () => {
    const bucket = await uploaded(makerOf('deb-s3'), 'detached', (key) => !key.endsWith('/InRelease'));
    const filenames = await filenamesIn(bucket);
    await step(bucket, { command: 'import', 'import-key': home.publicKey, suites: suite });
    assert.deepEqual(await filenamesIn(bucket), filenames);
    await using client = await reader(bucket);
    await serves(client, names);
    await isSound(bucket);
  });

  test('is copied from its address into another one, extended and verified, and keeps every name', {
    skip: skipWithout('aptly'),
  }, async (t) => {
    const from = await uploaded(makerOf('aptly'), 'original');
    const to = await store.bucket('copied');
    const filenames = await filenamesIn(from);
    const request = { command: 'import', import: from.url, 'import-key': home.publicKey, suites: suite };
    const { outputs } = await step(to, request);
    assert.equal(outputs.get('added'), String(old.length));
    assert.deepEqual(await filenamesIn(to), filenames);
    await isSound(to);
    await using client = await reader(to);
    await serves(client, names);
    await watched(t, client, 'publish', extend(to));
    await isExtended(client, to, filenames);
    const again = await step(to, request);
    assert.equal(again.outputs.get('changed'), 'false');
  });

  /** Makes a repository with a tool and puts it into a bucket of its own as `aws s3 sync` would. */
  async function uploaded(maker: Maker, name = maker.name, wanted = (_key: string) => true): Promise<RepositoryBucket> {
    const bucket = await store.bucket(name);
    await using made = await temporaryFolder();
    const place = join(made.path, await maker.make(made.path, debs, home));
    const files = [...(await filesBelow(join(place, 'dists'))), ...(await filesBelow(join(place, 'pool')))];
    for (const path of files) {
      const key = path.slice(place.length).replace(/^\/+/, '');
      if (wanted(key)) await bucket.write(key, await readFile(path));
    }
    return bucket;
  }

  /** A step of a workflow that is some way from the store. */
  async function step(bucket: RepositoryBucket, inputs: Inputs): Promise<StepResult> {
    await using workspace = await temporaryFolder();
    const fields = { Package: 'fresh', Version: '1.0' };
    await mkdir(join(workspace.path, 'out'));
    await writeFile(join(workspace.path, 'out/fresh.deb'), buildDeb({ fields }));
    const own = { 'gpg-private-key': keyText('ed25519'), endpoint: far.endpoint };
    return await publishStep(bundle, { ...bucket.inputs, ...own, ...inputs }, { workspace: workspace.path });
  }

  function extend(bucket: RepositoryBucket): Promise<StepResult> {
    return step(bucket, { suites: suite, packages: 'out/*.deb' });
  }

  /** What follows a publish of one package more. */
  async function isExtended(client: AptClient, bucket: RepositoryBucket, before: readonly string[]): Promise<void> {
    const now = await filenamesIn(bucket);
    assert.deepEqual(
      before.filter((name) => !now.includes(name)),
      [],
    );
    assert.equal(now.length, before.length + 1);
    await serves(client, [...names, 'fresh']);
    await isSound(bucket);
  }

  /** Every file is there with its bytes, and readers get what they should; only caches are told less by the old tool than by this one. */
  async function isSound(bucket: RepositoryBucket): Promise<void> {
    const { outputs } = await step(bucket, { command: 'verify', suites: suite, deep: 'true' });
    const findings: readonly { kind: string }[] = JSON.parse(outputs.get('findings') ?? '');
    assert.deepEqual(
      findings.filter(({ kind }) => kind !== 'caching'),
      [],
    );
  }

  function reader(bucket: RepositoryBucket): Promise<AptClient> {
    const about = { suites: [suite], components: ['main'], architectures: ['amd64'], hasSources: false };
    return aptClient([sourcesEntry({ uri: bucket.url, ...about, trust: { keyring } })]);
  }

  /** apt has nothing to say against an update, and gets these packages with the bytes that were published. */
  async function serves(client: AptClient, wanted: readonly string[]): Promise<void> {
    const lines = await client.update();
    assert.deepEqual(
      lines.filter((line) => /^(?:W|E|N|Err|Ign):/.test(line)),
      [],
    );
    const bytes = await client.inEmptyFolder(['download', ...wanted], async (got) => [
      ...(await filesIn(got)).values(),
    ]);
    assert.equal(bytes.length, wanted.length);
    const published = await Promise.all(
      debs.filter((path) => !basename(path).includes('arm64')).map((path) => readFile(path)),
    );
    for (const deb of published) assert.ok(bytes.some((each) => each.equals(deb)));
  }

  /** Lets apt update and download for as long as a step takes. */
  async function watched(
    t: TestContext,
    client: AptClient,
    what: string,
    running: Promise<StepResult>,
  ): Promise<StepResult> {
    let over = false;
    const ended = running.finally(() => {
      over = true;
    });
    let rounds = 0;
    for (; !over; rounds += 1) await serves(client, names);
    t.diagnostic(`${rounds} updates and downloads during the ${what}`);
    return await ended;
  }
});

function makerOf(wanted: string): Maker {
  const maker = makers.find(({ name }) => name === wanted);
  assert.ok(maker !== undefined, wanted);
  return maker;
}

/** Every `Filename` of the suite, sorted. */
async function filenamesIn(bucket: RepositoryBucket): Promise<string[]> {
  const texts = await Promise.all(lists.map(async (key) => gunzipSync(await bucket.read(key)).toString()));
  const found = texts.flatMap((text) => [...text.matchAll(/^Filename: (.*)$/gm)].map(([, name = '']) => name));
  return found.sort();
}

async function poolOf(bucket: RepositoryBucket): Promise<ReadonlyMap<string, unknown>> {
  return new Map([...(await bucket.list())].filter(([key]) => key.startsWith('pool/')));
}
