import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { type CephStore, type RepositoryBucket, startStore } from './bucket.ts';
import { type Bundle, committedBundle } from './bundle.ts';
import { type Inputs, jobToken, publishStep, runStep } from './runner.ts';
import { fillWorkspace, type Workspace } from './small-packages.ts';

/** A step that has to fail: what is in its workspace, what its workflow says, and what the user must be told. */
export interface Mistake {
  readonly files?: Workspace;
  /** Instead of, or beside, those that would publish `*.deb` into `bookworm`. */
  readonly inputs?: Inputs;
  /** The annotation has to name the file, the input or the place … */
  readonly names: RegExp;
  /** … and say what to do about it. */
  readonly advises: RegExp;
}

/** A store with one published suite, `bookworm`, which has `hello` 1.0 for amd64. */
export interface Bench extends AsyncDisposable {
  readonly store: CephStore;
  readonly bucket: RepositoryBucket;
  /** Publishes one package with these inputs. */
  publishes(inputs: Inputs): Promise<void>;
  /** Makes the mistake and throws unless it ends as it should. Answers what the user was told. */
  refuses(mistake: Mistake): Promise<string>;
}

export async function bench(): Promise<Bench> {
  await using stack = new AsyncDisposableStack();
  const bundle: Bundle = stack.use(await committedBundle());
  const store = stack.use(await startStore());
  const bucket = await store.bucket('refusals');
  const inputs = { ...bucket.inputs, 'gpg-private-key': keyText('ed25519'), packages: '*.deb', suites: 'bookworm' };
  const publishes = async (more: Inputs): Promise<void> => {
    await using folder = await temporaryFolder();
    await fillWorkspace(folder.path, { 'hello.deb': {} });
    await publishStep(bundle, { ...inputs, ...more }, { workspace: folder.path });
  };
  await publishes({});
  const running = stack.move();
  return {
    store,
    bucket,
    publishes,
    refuses: (mistake) => refuses(bundle, bucket, inputs, mistake),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Exit code 1, one annotation that names what is wrong and says what to do, no stack and no secret anywhere in the log, and the bucket as it
 * was, to the last object's time of change.
 */
async function refuses(bundle: Bundle, bucket: RepositoryBucket, inputs: Inputs, mistake: Mistake): Promise<string> {
  await using folder = await temporaryFolder();
  const workspace = join(folder.path, 'workspace');
  await mkdir(workspace);
  await fillWorkspace(workspace, mistake.files ?? { 'tool.deb': { Package: 'tool' } });
  const before = await bucket.list();
  const given = { ...inputs, ...mistake.inputs };
  const { code, log, errors } = await runStep(bundle, given, { workspace });
  assert.equal(code, 1, log);
  const [error, ...others] = errors;
  assert.ok(error !== undefined, `no annotation in:\n${log}`);
  assert.deepEqual(others, []);
  assert.match(error.message, mistake.names);
  assert.match(error.message, mistake.advises);
  assert.ok(error.title.length > 0 && error.title.length <= 60, error.title);
  assert.doesNotMatch(log, /^\s+at .*:\d+:\d+\)?$/m);
  const shown = log.replace(/^::add-mask::.*$/gm, '');
  const secrets = ['secret-access-key', 'gpg-private-key', 'gpg-passphrase'].map((name) => given[name] ?? '');
  for (const secret of [...secrets, jobToken].filter((text) => text !== '')) {
    assert.ok(!shown.includes(secret), 'the log shows a secret');
  }
  assert.deepEqual(await bucket.list(), before);
  return error.message;
}
