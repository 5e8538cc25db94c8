import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenLocally } from './listener.ts';
import { type Answer, S3Fault } from './s3-answer.ts';
import type { Bucket } from './s3-bucket.ts';
import { type Hook, Hooks } from './s3-faults.ts';
import { namedKeys } from './s3-objects.ts';
import type { Quirks } from './s3-quirks.ts';
import { parseTarget, type S3Request } from './s3-request.ts';
import { S3Service } from './s3-service.ts';
import type { S3Credentials } from './s3-signature.ts';
import { Steps } from './s3-steps.ts';
import { carryOut, send } from './s3-wire.ts';

export interface S3ServerOptions {
  readonly quirks?: Quirks;
  /** Buckets that exist from the start; `apt` when left out. */
  readonly buckets?: readonly string[];
  /** Who may send requests; `rigCredentials` alone when left out. */
  readonly credentials?: readonly S3Credentials[];
  /** The server's own clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

export const rigCredentials = { accessKeyId: 'RIGACCESSKEY', secretAccessKey: 'rig/secret+key' } as const;

export interface S3Server extends AsyncDisposable {
  /** `http://127.0.0.1:port`, for path-style requests. */
  readonly endpoint: string;
  /** Every request since the start, in the order of arrival. */
  readonly requests: readonly S3Request[];
  /** The most requests that were ever in flight together. */
  readonly peakInFlight: number;
  /** The contents of a bucket, to look at and to tamper with. */
  objects(bucket: string): Bucket;
  /** Opens everything below a prefix to anonymous reading and returns its URL (no slash at the end). */
  publicUrl(bucket: string, prefix?: string): string;
  /** Lets a hook see every request from now on, until what is returned is disposed of. */
  intercept(hook: Hook): Disposable;
  /** Holds the requests that `select` wants (all when left out) until the test lets them through one by one. */
  hold(select?: (request: S3Request) => boolean): Steps;
}

/**
 * An S3 server on a free port of 127.0.0.1: in memory, path-style, strict about signatures, with the quirks and faults a
 * test asks for. Without quirks it answers as AWS documents; `test/store/s3-probe-table.test.ts` holds it to that.
 */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const now = options.now ?? Date.now;
  const holders = options.credentials ?? [rigCredentials];
  const service = new S3Service({ holders, quirks: options.quirks ?? {}, now });
  for (const name of options.buckets ?? ['apt']) service.createBucket(name);
  const hooks = new Hooks();
  const steps = new Set<Steps>();
  const requests: S3Request[] = [];
  let inFlight = 0;
  let peakInFlight = 0;

  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = message;
    const target = parseTarget(method, url, headers);
    inFlight += 1;
    peakInFlight = Math.max(peakInFlight, inFlight);
    const request: S3Request = {
      ...target,
      number: requests.length + 1,
      keys: [],
      start: performance.now(),
      inFlight,
      bytesUp: 0,
    };
    requests.push(request);
    const settle = (answer: Answer | undefined): void => {
      if (request.end !== undefined) return;
      inFlight -= 1;
      request.end = performance.now();
      if (answer !== undefined) note(request, answer);
    };
    try {
      const body = await readAll(message);
      if (body === undefined) return;
      request.bytesUp = body.length;
      if (request.verb === 'DELETE' && request.key === '') request.keys = namedKeys(body);
      const action = await hooks.ask(request);
      await carryOut(response, action, new Date(now()), (ago) => service.handle(request, body, ago), settle);
    } finally {
      settle(undefined);
      for (const each of steps) each.settled(request);
    }
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, async (message, response) => {
    try {
      await serve(message, response);
    } catch (error) {
      // Anything but a refusal is a defect of the rig: it goes on as an unhandled rejection, which ends the test.
      if (!(error instanceof S3Fault)) throw error;
      await send(response, error.answer(), new Date(now()));
    }
  });
  const endpoint = await listenLocally(server);
  return {
    endpoint,
    requests,
    get peakInFlight() {
      return peakInFlight;
    },
    objects: (bucket) => service.bucket(bucket),
    publicUrl: (bucket, prefix = '') => {
      service.bucket(bucket).publicPrefixes.add(prefix === '' ? '' : `${prefix}/`);
      return prefix === '' ? `${endpoint}/${bucket}` : `${endpoint}/${bucket}/${prefix}`;
    },
    intercept: (hook) => hooks.add(hook),
    hold: (select = () => true) => {
      const own = new Steps(select);
      steps.add(own);
      hooks.add(own.hook);
      return own;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of steps) each.open();
      await closeServer(server);
    },
  };
}

/** The body of a request; undefined when the client hung up before its end. */
async function readAll(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function note(request: S3Request, { status, body }: Answer): void {
  request.bytesDown = request.method === 'HEAD' ? 0 : (body?.length ?? 0);
  request.status = status;
  const code = /<Error><Code>(\w+)<\/Code>/.exec(Buffer.from(body?.subarray(0, 200) ?? '').toString('latin1'))?.[1];
  if (code !== undefined) request.code = code;
}
