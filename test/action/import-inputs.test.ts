import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSettings } from '../../src/action/inputs.ts';
import { openOrigin } from '../../src/action/open-origin.ts';
import { Problem, Problems } from '../../src/problem.ts';
import { armoredPublicKey, binaryPublicKey, fingerprints } from '../../src/signing/verify.ts';
import { problemCode } from '../publish/problem-code.ts';
import { fixture, keyText } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';
import { fakeRunner } from './fake-runner.ts';

const common = { command: 'import', suites: 'bookworm', unsigned: 'true', 'import-trusted': 'true' };
const bucket = {
  bucket: 'packages',
  'access-key-id': 'id',
  'secret-access-key': 'secret',
  endpoint: 'https://s3.example.org',
};

async function read(inputs: Readonly<Record<string, string>>) {
  const runner = fakeRunner({ ...common, ...inputs });
  return readSettings({ source: runner, secrets: runner.secrets, folder: '.', temporaryFolder: '/tmp' });
}

async function fault(inputs: Readonly<Record<string, string>>): Promise<string> {
  const error: unknown = await read(inputs).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Problem || error instanceof Problems);
  return error.message;
}

describe('an import', () => {
  it('reads from an address, a folder, another bucket of the same store, or the store itself', async () => {
    const place = async (inputs: Readonly<Record<string, string>>) => (await read(inputs)).origin?.location;
    const address = { kind: 'public', url: 'https://apt.example.org/debian' };
    assert.deepEqual(await place({ bucket: './site', import: 'https://apt.example.org/debian/' }), address);
    assert.deepEqual(await place({ bucket: './site', import: 'file:///srv/old' }), {
      kind: 'directory',
      path: '/srv/old',
    });
    const { store } = await read(bucket);
    assert.deepEqual(await place({ ...bucket, import: 's3://old/debian' }), {
      ...store,
      bucket: 'old',
      prefix: 'debian',
    });
    assert.equal(await place(bucket), undefined);
    const { request } = await read({ ...bucket, import: 's3://old', components: 'main', architectures: 'arm64 amd64' });
    assert.ok(request.command === 'import');
    assert.deepEqual(
      [request.from, request.components, request.architectures],
      ['s3://old', ['main'], ['amd64', 'arm64']],
    );
  });

  it('has to be told who vouches for what is imported, and by one of the two ways', async () => {
    const neither = { bucket: './site', 'import-trusted': 'false' };
    assert.match(await fault(neither), /`import-key` is missing.*`import-trusted: true` if you vouch/s);
    assert.match(await fault({ bucket: './site', 'import-key': 'x' }), /`import-key` is given together with/);
  });

  it('says what is wrong with a place', async () => {
    assert.match(
      await fault({ bucket: './site', import: 's3://old' }),
      /a bucket, and the repository does not lie in a bucket/,
    );
    assert.match(await fault({ bucket: './site', import: 'old' }), /neither an address nor a folder/);
    assert.match(
      await fault({ bucket: './site', import: 'https://me:word@apt.example.org' }),
      /no plain http or https address/,
    );
    assert.match(await fault({ bucket: './site', packages: 'x.deb' }), /`packages` means nothing to `command: import`/);
  });

  it('takes keys as they are passed around: armoured, several, or a keyring in base64', async () => {
    const keys = [...(await fixture('ed25519')), ...(await fixture('rsa-subkey'))];
    const [first, second] = keys.map((key) => armoredPublicKey([key]));
    const binary = Buffer.from(binaryPublicKey(keys)).toString('base64');
    for (const text of [`${first}\n${second}`.replaceAll('\n', '\r\n'), binary]) {
      const { origin } = await openOrigin({ origin: { key: text } }, realClock, 'test');
      const found = origin?.trusted?.map((key) => key.getFingerprint().toUpperCase());
      assert.deepEqual(found?.sort(), fingerprints(keys).sort());
    }
    for (const text of ['hello', `${first}`.slice(0, 200), keyText('ed25519').slice(0, 100)]) {
      await assert.rejects(openOrigin({ origin: { key: text } }, realClock, 'test'), problemCode('import-key-invalid'));
    }
  });
});

describe('pages of a repository', () => {
  it('need the address that people reach it by', async () => {
    assert.match(
      await fault({ bucket: './site', site: 'true' }),
      /`site` is `true`, and nothing says how people reach/,
    );
    const url = { 'public-url': 'https://apt.example.org' };
    assert.equal((await read({ bucket: './site', site: 'true', ...url })).site, true);
    assert.equal((await read({ bucket: './site', site: 'false', ...url })).site, undefined);
    assert.match(await fault({ bucket: './site', site: 'true', command: 'history', ...url }), /`site` means nothing/);
  });
});
