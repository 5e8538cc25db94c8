import { join } from 'node:path';
import { adaptiveSlots } from '../../src/store/adaptive-slots.ts';
import { DirectoryStore } from '../../src/store/directory.ts';
import { Hedging, hedged } from '../../src/store/hedged.ts';
import { limited, limiter } from '../../src/store/limited.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { retried } from '../../src/store/retried.ts';
import { S3Store } from '../../src/store/s3.ts';
import { traced } from '../../src/store/traced.ts';
import { type PhaseScope, Recorder } from '../../src/timing/recorder.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { realClock } from './clocks.ts';
import { type StoreUnderTest, storeContract } from './contract.ts';

const everything = { attributes: true, conditionalCompletion: true } as const;

async function memory(): Promise<StoreUnderTest> {
  return { store: new MemoryStore({ clock: realClock }), [Symbol.asyncDispose]: async () => {} };
}

async function directory(): Promise<StoreUnderTest> {
  const folder = await temporaryFolder();
  const store = new DirectoryStore({ root: join(folder.path, 'site'), clock: realClock, writer: 'test' });
  return { store, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** With pages of two keys, so that every listing has several; ETags that are no hash of anything; a prefix. */
async function s3(): Promise<StoreUnderTest> {
  const server = await startS3Server({ quirks: { pageSize: 2, opaqueEtags: true } });
  const store = new S3Store({
    bucket: 'apt',
    prefix: 'some/prefix',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: rigCredentials,
    version: 'test',
  });
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      store.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Wrap = (store: ObjectStore, scope: PhaseScope) => ObjectStore;

/** A layer over the memory store, in a phase that lasts as long as the store is looked at. */
function layered(wrap: Wrap): () => Promise<StoreUnderTest> {
  return async () => {
    const inner = await memory();
    const store = await new Recorder(realClock).phase('upload', undefined, async (scope) => wrap(inner.store, scope));
    return { ...inner, store };
  };
}

const retrying: Wrap = (store) => retried(store, { clock: realClock, random: Math.random });

storeContract('the memory store', memory, everything);
storeContract('the directory store', directory, { attributes: false, conditionalCompletion: true });
storeContract('the S3 store', s3, everything);
storeContract('a retried store', layered(retrying), everything);
storeContract(
  'a limited store',
  layered((store) => limited(store, limiter(2))),
  everything,
);
storeContract('a traced store', layered(traced), everything);
storeContract(
  'a hedged store',
  layered((store) => hedged(store, new Hedging(realClock))),
  everything,
);
storeContract(
  'a store with slots that adapt',
  layered((store) => limited(store, adaptiveSlots(realClock))),
  everything,
);
storeContract(
  'a store in all layers',
  layered((store, scope) => retrying(limited(hedged(traced(store, scope), new Hedging(realClock)), limiter(3)), scope)),
  everything,
);
