import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { after, before, describe, test } from 'node:test';
import { buildDsc } from '../debs.ts';
import { cephMissing } from '../rig/ceph.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { type RepositoryBucket, startStore } from './bucket.ts';
import { type Bundle, committedBundle } from './bundle.ts';
import { publishStep } from './runner.ts';
import { fillWorkspace, type Workspace } from './small-packages.ts';

const tarball = { 'hello_1.0.orig.tar.gz': Buffer.from('not unpacked by anybody') };

/** Lists of several packages, sources, `all` and two architectures. */
const firstFiles: Workspace = {
  'main/hello_1.0_amd64.deb': {},
  'main/hello_1.0_arm64.deb': { Architecture: 'arm64' },
  'main/hello-doc_1.0_all.deb': { Package: 'hello-doc', Architecture: 'all' },
  'contrib/tool_1.0_amd64.deb': { Package: 'tool', Version: '1:1.0~rc1+b2' },
  'main/hello_1.0-1.dsc': buildDsc(tarball),
  'main/hello_1.0.orig.tar.gz': tarball['hello_1.0.orig.tar.gz'],
};
const secondFiles: Workspace = {
  'main/hello_1.1_amd64.deb': { Version: '1.1' },
  'contrib/tool_1.1_amd64.deb': { Package: 'tool', Version: '1:1.1' },
};

/** Places that differ in what has no business in a published file. */
const machines = {
  first: { TZ: 'UTC', LANG: 'C' },
  second: { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8' },
};

describe('two machines with the same inputs and the same SOURCE_DATE_EPOCH', { skip: cephMissing() }, () => {
  let stack: AsyncDisposableStack;
  let bundle: Bundle;
  let repositories: Map<keyof typeof machines, RepositoryBucket>;
  before(async () => {
    stack = new AsyncDisposableStack();
    bundle = stack.use(await committedBundle());
    const store = stack.use(await startStore());
    repositories = new Map([
      ['first', await store.bucket('reproducible', 'first')],
      ['second', await store.bucket('reproducible', 'second')],
    ]);
  });
  after(() => stack?.[Symbol.asyncDispose]());

  async function publishEverywhere(step: number, files: Workspace): Promise<void> {
    for (const [machine, bucket] of repositories) {
      await using folder = await temporaryFolder();
      await fillWorkspace(folder.path, files);
      const sources = step === 0 ? ' main/*.dsc' : '';
      const inputs = {
        'gpg-private-key': `${keyText('ed25519')}\n${keyText('rsa-subkey')}`,
        suites: `stable/main: main/*.deb${sources}\nstable/contrib: contrib/*.deb\ntesting/main: main/*.deb`,
        compression: 'gz xz zst',
        contents: 'true',
      };
      const variables = { ...machines[machine], SOURCE_DATE_EPOCH: String(1_767_225_600 + step * 86_400) };
      await publishStep(bundle, { ...bucket.inputs, ...inputs }, { workspace: folder.path, variables });
    }
  }

  /** Every object as text, keys and all, with `blank` over what may differ. */
  async function everyObject(
    machine: keyof typeof machines,
    blank: (text: string) => string,
  ): Promise<Map<string, string>> {
    const bucket = repositories.get(machine);
    assert.ok(bucket !== undefined);
    const objects = new Map<string, string>();
    for (const key of [...(await bucket.list()).keys()].sort()) objects.set(key, blank(await readable(bucket, key)));
    return objects;
  }

  test('write the same objects, byte for byte, into two empty repositories', async (t) => {
    await publishEverywhere(0, firstFiles);
    const objects = await everyObject('first', (text) => text);
    assert.ok(objects.has('.apt-publish/stable.json') && objects.has('dists/stable/Release.gpg'));
    assert.deepEqual(objects, await everyObject('second', (text) => text));
    t.diagnostic(`${objects.size} objects compared`);
  });

  test('write the same objects when they update them, but for the moments from which grace periods run', async (t) => {
    await publishEverywhere(1, secondFiles);
    // How long an old generation has been out of sight is a matter of the clock on the wall, whatever date was signed.
    const blank = (text: string): string => text.replaceAll(/("(?:until|since)": )"[^"]+"/g, '$1""');
    const objects = await everyObject('first', blank);
    assert.deepEqual(objects, await everyObject('second', blank));
    t.diagnostic(`${objects.size} objects compared`);
  });
});

/** Bytes of compressed files, packages and the like as hexadecimal, text as text: so that a difference can be read. */
async function readable(bucket: RepositoryBucket, key: string): Promise<string> {
  const body = await bucket.read(key);
  return body.toString(isUtf8(body) ? 'utf8' : 'hex');
}
