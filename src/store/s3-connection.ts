import type { Connections } from './connections.ts';

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. */
  readonly sessionToken?: string;
  /** When to ask the provider again. */
  readonly expiration?: Date;
}

export interface S3Settings {
  readonly bucket: string;
  /** Path of the repository in the bucket, without `/` at either end; empty for the bucket itself. */
  readonly prefix: string;
  /** Absent for AWS itself. */
  readonly endpoint?: string;
  /** `us-east-1` when absent, or `auto` where the endpoint is Cloudflare R2's. */
  readonly region?: string;
  /** The bucket in the path rather than in the host name. */
  readonly forcePathStyle: boolean;
  /** A function is asked when credentials are needed, and again when they expire. */
  readonly credentials: S3Credentials | (() => Promise<S3Credentials>);
  /** Of this action, for the user agent: servers' logs tell by it who wrote. */
  readonly version: string;
  /** Milliseconds without a byte in either direction after which a request counts as lost; 30 s when absent. */
  readonly stallMs?: number;
}

const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const connectMs = 10_000;
const defaultStallMs = 30_000;
/** Until the headers of the answer: 16 MiB at 30 kB/s. */
const answerMs = 600_000;

/** What the SDK's client is made with, apart from its request handler. */
export function clientSettings(settings: S3Settings) {
  return {
    region: settings.region ?? defaultRegion(settings.endpoint),
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint }),
    forcePathStyle: settings.forcePathStyle,
    credentials: settings.credentials,
    maxAttempts: 1,
    // Without one some of its warnings go to the console: that a stream is not sent again, which here it is.
    logger: silent,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    // Given explicitly, so that neither the environment nor a configuration file of the runner decides.
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    customUserAgent: [['apt-publish', settings.version]] as [string, string][],
  } as const;
}

/**
 * How connections are made and given up. As many sockets as requests: how many there are is the limiter's business, and a
 * request that waited for a socket would count as one that cannot connect.
 */
export function connectionSettings(settings: S3Settings, { httpAgent, httpsAgent }: Connections) {
  return {
    httpAgent,
    httpsAgent,
    connectionTimeout: connectMs,
    socketTimeout: settings.stallMs ?? defaultStallMs,
    requestTimeout: answerMs,
    throwOnRequestTimeout: true,
  };
}

function defaultRegion(endpoint: string | undefined): string {
  const host = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint).hostname : '';
  return host.endsWith('.r2.cloudflarestorage.com') ? 'auto' : 'us-east-1';
}
