import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryStore } from '../../src/store/directory.ts';
import { listed, type ObjectStore } from '../../src/store/object-store.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { Inputs } from '../e2e/runner.ts';
import type { Snapshot } from '../publish/repository-check.ts';
import { startCeph } from '../rig/ceph.ts';
import { startLatencyProxy } from '../rig/latency-proxy.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { realClock } from '../store/clocks.ts';

/** A new, empty repository. Processes publish into it as `inputs` say; the test looks at it through `store`. */
export interface Place {
  readonly inputs: Inputs;
  readonly store: ObjectStore;
}

export interface Places extends AsyncDisposable {
  next(): Promise<Place>;
  /** Milliseconds after which nothing of a killed process is on its way any more. */
  readonly settleMs: number;
}

export async function folders(): Promise<Places> {
  const folder = await temporaryFolder();
  let count = 0;
  return {
    next: async () => {
      count += 1;
      const root = join(folder.path, `place-${count}`);
      await mkdir(root);
      const store = new DirectoryStore({ root, clock: realClock, writer: `test-${process.pid}` });
      return { inputs: { bucket: root }, store };
    },
    settleMs: 0,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Milliseconds each way: so far away that most of a run's time is requests that are on their way. */
const distance = 5;

/** Prefixes of one bucket of a Ceph that is a little way off for those who publish. */
export async function cephPrefixes(): Promise<Places> {
  await using stack = new AsyncDisposableStack();
  const ceph = stack.use(await startCeph());
  const proxy = stack.use(await startLatencyProxy({ to: ceph.endpoint, delayMs: distance }));
  const { endpoint, credentials } = ceph;
  const bucket = 'killed';
  await ceph.createBucket(bucket);
  let count = 0;
  const kept = stack.move();
  return {
    next: async () => {
      count += 1;
      const prefix = `place-${count}`;
      const inputs = {
        bucket,
        prefix,
        endpoint: proxy.endpoint,
        'access-key-id': credentials.accessKeyId,
        'secret-access-key': credentials.secretAccessKey,
      };
      const settings = { bucket, prefix, endpoint, forcePathStyle: true, credentials, version: 'test' };
      const store = kept.adopt(new S3Store(settings), (opened) => opened.close());
      return { inputs, store };
    },
    settleMs: 10 * distance,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Every object of a place on which nobody is at work. */
export async function snapshotOf({ store }: Pick<Place, 'store'>): Promise<Snapshot> {
  const keys: string[] = [];
  for await (const { key } of listed(store, '')) keys.push(key);
  const objects = await Promise.all(keys.sort().map(async (key) => [key, await store.get(key)] as const));
  return new Map(objects.flatMap(([key, object]) => (object.found ? [[key, object.body]] : [])));
}

/** Makes a new place hold these objects. */
export async function fill({ store }: Place, snapshot: Snapshot): Promise<void> {
  const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-cache' };
  await Promise.all(Array.from(snapshot, ([key, body]) => store.put(key, body, attributes)));
}
