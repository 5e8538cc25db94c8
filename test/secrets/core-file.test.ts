import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/build.ts';
import { buildDeb } from '../debs.ts';
import { skipWithout, startProcess } from '../rig/process.ts';
import { startS3Server } from '../rig/s3-server.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { markedSecrets } from './marked.ts';
import { imports } from './observed-run.ts';

const { accessKeyId, secretAccessKey, sessionToken, githubToken, passphrase, privateKey, forms } =
  await markedSecrets();

test('a run that crashes in the middle leaves no secret in its core file', {
  skip: skipWithout('prlimit') || unlessCoresAreFiles(),
}, async () => {
  await using folder = await temporaryFolder();
  await using store = await startS3Server({ credentials: [{ accessKeyId, secretAccessKey, sessionToken }] });
  await mkdir(join(folder.path, 'temp'));
  await writeFile(join(folder.path, 'hello.deb'), buildDeb());
  const inputs: Readonly<Record<string, string>> = {
    packages: '*.deb',
    suites: 'bookworm',
    bucket: 'apt',
    endpoint: store.endpoint,
    comment: 'never',
    'access-key-id': accessKeyId,
    'secret-access-key': secretAccessKey,
    'session-token': sessionToken,
    'gpg-private-key': privateKey,
    'gpg-passphrase': passphrase,
    'github-token': githubToken,
  };
  const env = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]));
  const node = join(root, 'node_modules/.bin/node');
  const command = ['--core=unlimited:unlimited', node, ...imports, join(root, 'src/main.ts')];
  await using running = await startProcess('prlimit', command, {
    cwd: folder.path,
    env: { ...env, PATH: process.env['PATH'], RUNNER_TEMP: join(folder.path, 'temp') },
  });
  // By its claim it has signed: the key is unlocked.
  using _ = store.intercept(({ verb, key }) => {
    if (verb === 'PUT' && key === '.apt-publish/bookworm.json') running.signal('SIGSEGV');
    return undefined;
  });
  const { signal, stdout } = await running.finished;
  assert.equal(signal, 'SIGSEGV', `${stdout}`);
  const [core, ...others] = (await readdir(folder.path)).filter((name) => name.startsWith('core'));
  assert.ok(core !== undefined && others.length === 0, 'there is one core file');
  const bytes = await readFile(join(folder.path, core));
  assert.equal(bytes.toString('latin1', 1, 4), 'ELF');
  const seen = forms.filter(({ text }) => bytes.includes(text)).map(({ of, as }) => `${of} as ${as}`);
  assert.deepEqual(seen, [], `of ${bytes.length} bytes`);
});

/** Elsewhere a program of the machine gets them: it sees what a file would have. */
function unlessCoresAreFiles(): string | false {
  return /^core/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')) ? false : 'core files go elsewhere';
}
