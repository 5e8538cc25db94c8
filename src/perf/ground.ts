import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { Problem } from '../problem.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { S3Store } from '../store/s3.ts';
import type { S3Settings } from '../store/s3-connection.ts';
import { verbs } from '../timing/span.ts';

const counts = v.object({
  requests: v.array(v.object({ verb: v.picklist(verbs), count: v.number() })),
  bytesUp: v.number(),
  bytesDown: v.number(),
});
export type RequestCounts = v.InferOutput<typeof counts>;

/** Where measured runs publish to. */
export interface Ground extends AsyncDisposable {
  /** As a comparison record tells it. */
  readonly endpoint: { readonly kind: 'emulator'; readonly roundTripMs: number } | { readonly kind: 's3' };
  /** What every run is told: where the store is, with which keys, and how to sign. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Where the same store is farther away, for a side that is to be slower. */
  readonly fartherEndpoint?: string;
  /** Below which everything that a comparison writes lies; no `/` at either end. */
  readonly prefix: string;
  /** The place below a prefix, for preparing, judging and cleaning; not by way of what slows the runs down. */
  store(prefix: string): ObjectStore;
  /** The place below a prefix as the runs see it, to find out what it gives at most. */
  loaded(prefix: string): ObjectStore;
  /** What was asked of it since this was called last; undefined where only the runs themselves know. */
  readonly counted?: () => Promise<RequestCounts>;
}

const emulated = v.object({
  endpoint: v.string(),
  fartherEndpoint: v.string(),
  directEndpoint: v.string(),
  bucket: v.string(),
  accessKeyId: v.string(),
  secretAccessKey: v.string(),
  signingKey: v.string(),
});

/** How far away an emulator is, milliseconds of round trip; `fartherMs` by its second door, which is no farther when left out. */
export interface Distance {
  readonly roundTripMs: number;
  readonly fartherMs?: number;
}

/** The emulator in a process of its own, which ends with the ground, or with this process. `script` is its entry. */
export async function emulator(
  script: string,
  { roundTripMs, fartherMs = roundTripMs }: Distance,
  node: string,
  version: string,
): Promise<Ground> {
  // Imported rather than run: bundled into one file, every module of it would take itself for the program.
  const program = ['--input-type=module', '--eval', `await import(${JSON.stringify(pathToFileURL(script).href)})`];
  const env = { ROUND_TRIP_MS: String(roundTripMs), FARTHER_MS: String(fartherMs) };
  const child = spawn(node, program, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const answer = async (): Promise<unknown> => {
    const gone = new AbortController();
    const ended = () => gone.abort();
    child.once('exit', ended);
    try {
      const [message]: unknown[] = await once(child, 'message', { signal: gone.signal });
      return message;
    } catch (cause) {
      throw emulatorGone(cause);
    } finally {
      child.off('exit', ended);
    }
  };
  const place = v.parse(emulated, await answer());
  const { accessKeyId, secretAccessKey, bucket, fartherEndpoint } = place;
  const credentials = { accessKeyId, secretAccessKey };
  const storeAt = (endpoint: string, prefix: string) =>
    new S3Store({ bucket, prefix, endpoint, forcePathStyle: true, credentials, version });
  return {
    fartherEndpoint,
    endpoint: { kind: 'emulator', roundTripMs },
    inputs: {
      endpoint: place.endpoint,
      bucket,
      'access-key-id': accessKeyId,
      'secret-access-key': secretAccessKey,
      'gpg-private-key': place.signingKey,
    },
    prefix: 'perf',
    store: (prefix) => storeAt(place.directEndpoint, prefix),
    loaded: (prefix) => storeAt(place.endpoint, prefix),
    counted: async () => {
      const told = answer();
      child.send({});
      return v.parse(counts, await told);
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/** A bucket of the user's own, below its prefix. `inputs` are those that lead a run there. */
export function ownBucket(settings: S3Settings, inputs: Readonly<Record<string, string>>): Ground {
  return {
    endpoint: { kind: 's3' },
    inputs,
    prefix: settings.prefix === '' ? 'perf' : `${settings.prefix}/perf`,
    store: (prefix) => new S3Store({ ...settings, prefix }),
    loaded: (prefix) => new S3Store({ ...settings, prefix }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function emulatorGone(cause: unknown): Problem {
  return new Problem({
    code: 'emulator-gone',
    title: 'The S3 emulator has ended',
    what: 'The process that stands in for S3 ended before the comparison did.',
    advice: 'See above what it said; most often the runner has too little memory for the workload.',
    cause,
  });
}
