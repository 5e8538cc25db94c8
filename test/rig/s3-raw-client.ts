import { createHash, createHmac } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { S3Credentials } from './s3-signature.ts';

export interface RawRequest {
  readonly method?: string;
  /** Empty for requests about the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** What a client does wrong, or leaves out. */
  readonly wrong?: {
    readonly unsigned?: boolean;
    readonly credentials?: S3Credentials;
    /** Milliseconds by which the client's clock is off. */
    readonly clock?: number;
    /** Sent in place of the body that was signed. */
    readonly body?: string;
    /** Headers that are added after signing. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Sent in place of the path with each byte encoded as it should be. */
    readonly path?: string;
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** `200`, or `412 PreconditionFailed`. */
  readonly summary: string;
}

/** Speaks to one bucket with single requests, signed by hand: what no SDK lets through can be sent, and is, byte by byte. */
export class RawClient implements Disposable {
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: S3Credentials;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(endpoint: string, bucket: string, credentials: S3Credentials) {
    this.endpoint = endpoint;
    this.bucket = bucket;
    this.credentials = credentials;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  send(asked: RawRequest): Promise<RawAnswer> {
    const { method = 'GET', key = '', query = {}, wrong = {} } = asked;
    const url = new URL(this.endpoint);
    const body = Buffer.from(asked.body ?? '');
    const path = wrong.path ?? `/${this.bucket}/${key.split('/').map(encode).join('/')}`;
    const search = Object.entries(query)
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&');
    const headers: Record<string, string> = { ...asked.headers, host: url.host };
    if (wrong.unsigned !== true) {
      headers['x-amz-date'] = amzDate(Date.now() + (wrong.clock ?? 0));
      headers['x-amz-content-sha256'] = createHash('sha256').update(body).digest('hex');
      headers['authorization'] = authorization(wrong.credentials ?? this.credentials, {
        method,
        path,
        search,
        headers,
      });
    }
    const sent = wrong.body === undefined ? body : Buffer.from(wrong.body);
    if (sent.length > 0 || method === 'PUT' || method === 'POST') headers['content-length'] = String(sent.length);
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          host: url.hostname,
          port: url.port,
          agent: this.#agent,
          method,
          path: search === '' ? path : `${path}?${search}`,
          headers: { ...headers, ...wrong.headers },
          timeout: 10_000,
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const bytes = Buffer.concat(chunks);
            const status = answer.statusCode ?? 0;
            const code = status < 300 ? undefined : /<Code>(\w+)<\/Code>/.exec(bytes.toString())?.[1];
            const summary = code === undefined ? `${status}` : `${status} ${code}`;
            resolve({ status, headers: answer.headers, body: bytes, summary });
          });
        },
      );
      request.on('error', reject);
      request.on('timeout', () => request.destroy(new Error('no answer within 10 s')));
      request.end(sent);
    });
  }
}

/** Amazon S3 API reference, "Signature Calculations for the Authorization Header"; every header is signed. */
function authorization(
  credentials: S3Credentials,
  { method, path, search, headers }: { method: string; path: string; search: string; headers: Record<string, string> },
): string {
  const date = headers['x-amz-date'] ?? '';
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    path,
    search,
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  let key: string | Buffer = `AWS4${credentials.secretAccessKey}`;
  for (const part of [...scope.split('/'), toSign]) key = createHmac('sha256', key).update(part).digest();
  const signature = Buffer.from(key).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

const amzDate = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+|[-:]/g, '');

/** RFC 3986: everything but the unreserved characters. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
