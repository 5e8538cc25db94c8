import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build, root } from '../scripts/build.ts';
import { S3Store } from '../src/store/s3.ts';
import { type Ceph, startCeph } from '../test/rig/ceph.ts';
import { runSuccessfully } from '../test/rig/process.ts';
import { temporaryFolder } from '../test/rig/temporary.ts';
import type { Inputs } from './our-action.ts';

/** What every scenario works with; nothing of it is left afterwards. */
export interface Laboratory extends AsyncDisposable {
  /** For the scenario to fill. */
  readonly folder: string;
  /** The build of the action that is measured, and the Node that runs it. */
  readonly bundle: { readonly main: string; readonly node: string };
  /** One key for all sides. */
  readonly signing: { readonly gnupgHome: string; readonly user: string; readonly secretKey: string };
  /** Where profiles of our processes go, when they are wanted. */
  readonly profiles: string | undefined;
  readonly log: (line: string) => void;
}

/** `dist` is a build that is there already, of these sources or of others; without one the present sources are built. */
export async function openLaboratory({
  dist,
  ...options
}: Pick<Laboratory, 'profiles' | 'log'> & { readonly dist: string | undefined }): Promise<Laboratory> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const built = dist ?? join(folder, 'dist');
  if (dist === undefined) {
    options.log('building the action');
    await build(built);
  }
  const gnupgHome = join(folder, 'gnupg');
  await mkdir(gnupgHome, { mode: 0o700 });
  const user = 'bench@example.org';
  const gpg = (...args: string[]) => runSuccessfully('gpg', ['--homedir', gnupgHome, '--batch', ...args]);
  stack.defer(async () => void (await runSuccessfully('gpgconf', ['--homedir', gnupgHome, '--kill', 'all'])));
  await gpg('--quiet', '--passphrase', '', '--quick-gen-key', `Bench <${user}>`, 'ed25519', 'sign', 'never');
  const secretKey = (await gpg('--armor', '--export-secret-keys', user)).toString();
  const kept = stack.move();
  return {
    ...options,
    folder,
    bundle: { main: join(built, 'index.js'), node: join(root, 'node_modules/.bin/node') },
    signing: { gnupgHome, user, secretKey },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A fresh Ceph with one bucket. */
export interface Bucket extends AsyncDisposable {
  readonly name: string;
  /** Without any distance. */
  readonly endpoint: string;
  readonly credentials: Ceph['credentials'];
  /** What the action is told to publish below `prefix`, by way of `endpoint`. */
  inputs(prefix: string, endpoint: string): Inputs;
  /** The place below a prefix, without any distance, one attempt a call. */
  store(prefix: string): S3Store;
}

export async function openBucket(): Promise<Bucket> {
  await using stack = new AsyncDisposableStack();
  const ceph = stack.use(await startCeph());
  const name = 'bench';
  await ceph.createBucket(name);
  const { credentials, endpoint } = ceph;
  const stores = stack.adopt(new Set<S3Store>(), (opened) => {
    for (const store of opened) store.close();
  });
  const kept = stack.move();
  return {
    name,
    endpoint,
    credentials,
    inputs: (prefix, by) => ({
      endpoint: by,
      bucket: name,
      prefix,
      'access-key-id': credentials.accessKeyId,
      'secret-access-key': credentials.secretAccessKey,
    }),
    store: (prefix) => {
      const store = new S3Store({
        bucket: name,
        prefix,
        endpoint,
        forcePathStyle: true,
        credentials,
        version: 'bench',
      });
      stores.add(store);
      return store;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
