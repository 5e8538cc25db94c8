import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cephMissing } from '../rig/ceph.ts';
import { runProcess, skipWithout } from '../rig/process.ts';
import { type TemporaryFolder, temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { type CephStore, type RepositoryBucket, startStore } from './bucket.ts';
import { type Bundle, committedBundle } from './bundle.ts';
import { machineApt } from './machine-apt.ts';
import { debsIn } from './real-packages.ts';
import { publishStep } from './runner.ts';
import { binaryKeyring } from './signature-checks.ts';

const skip =
  cephMissing() ||
  skipWithout('apt-get', 'gpg') ||
  (process.getuid?.() === 0 ? false : 'only root may change its root folder');

describe('a system from nothing but a published repository', { skip }, () => {
  let stack: AsyncDisposableStack;
  let folder: TemporaryFolder;
  let bucket: RepositoryBucket;
  let keyring: string;
  let packages = 0;
  before(async () => {
    stack = new AsyncDisposableStack();
    folder = stack.use(await temporaryFolder());
    const bundle: Bundle = stack.use(await committedBundle());
    const store: CephStore = stack.use(await startStore());
    bucket = await store.bucket('minimal');
    const workspace = join(folder.path, 'workspace');
    await mkdir(workspace);
    await using apt = await machineApt();
    // debootstrap adds the last one to what a minimal system is.
    await apt.downloadClosure(['?essential', '?priority(required)', 'apt', 'usr-is-merged'], workspace);
    packages = (await debsIn(workspace)).length;
    const { outputs } = await publishStep(
      bundle,
      { ...bucket.inputs, 'gpg-private-key': keyText('rsa-subkey'), suites: await codename(), packages: '*.deb' },
      { workspace },
    );
    keyring = await binaryKeyring(outputs.get('public-key') ?? '', folder.path);
  });
  after(() => stack?.[Symbol.asyncDispose]());

  test('mmdebstrap builds a minimal system', { skip: skipWithout('mmdebstrap') }, async (t) => {
    const target = join(folder.path, 'mmdebstrap');
    const suite = await codename();
    const source = `deb [signed-by=${keyring}] ${bucket.url} ${suite} main`;
    const options = [
      '--mode=root',
      '--variant=minbase',
      '--format=directory',
      '--architectures=amd64',
      '--include=apt',
    ];
    const settings = ['--aptopt=Acquire::http::Proxy "DIRECT"', '--dpkgopt=force-unsafe-io'];
    // A system whose /bin is a folder of its own is no longer one that packages install on.
    const merged = '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr';
    const ms = await run('mmdebstrap', [...options, ...settings, merged, suite, target, source]);
    await isSystem(target);
    t.diagnostic(`${packages} packages published; mmdebstrap took ${Math.round(ms)} ms`);
  });

  test('debootstrap builds a minimal system', { skip: skipWithout('debootstrap') }, async (t) => {
    const target = join(folder.path, 'debootstrap');
    const options = ['--variant=minbase', '--arch=amd64', '--merged-usr', `--keyring=${keyring}`];
    // The script of any Debian release fits a minimal system; the machine's own may be newer than debootstrap.
    const script = '/usr/share/debootstrap/scripts/sid';
    const ms = await run('debootstrap', [...options, await codename(), target, bucket.url, script]);
    await isSystem(target);
    t.diagnostic(`debootstrap took ${Math.round(ms)} ms`);
  });

  /** Throws with everything that the program said when it fails; the wall time, milliseconds. */
  async function run(program: string, args: readonly string[]): Promise<number> {
    const began = performance.now();
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', TMPDIR: folder.path };
    const { code, stdout, stderr } = await runProcess(program, args, { env });
    assert.equal(code, 0, `${program}: ${stderr.slice(-3000)}${stdout.toString().slice(-3000)}`);
    return performance.now() - began;
  }

  /** Its own dpkg and apt are there and work inside it. */
  async function isSystem(target: string): Promise<void> {
    const { code, stdout, stderr } = await runProcess('chroot', [target, '/usr/bin/dpkg', '--audit']);
    assert.deepEqual([code, `${stdout}${stderr}`], [0, '']);
    const status = await readFile(join(target, 'var/lib/dpkg/status'), 'utf8');
    const installed = status.match(/^Status: install ok installed$/gm)?.length ?? 0;
    assert.ok(installed > 50, `${installed} packages are installed`);
    assert.ok(/^Package: apt$/m.test(status), 'apt is installed');
  }
});

/** The release that this machine runs, whose packages its mirrors have: `bookworm`, `noble`. */
async function codename(): Promise<string> {
  const found = /^VERSION_CODENAME=(.+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  assert.ok(found !== undefined, '/etc/os-release names no release');
  return found;
}
