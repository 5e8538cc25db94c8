import { Problem } from '../problem.ts';
import {
  type ByteRange,
  type Found,
  type FoundHead,
  type NotFound,
  type ObjectStore,
  TransientStoreError,
} from './object-store.ts';
import { readBody } from './s3-body.ts';

export interface HttpSettings {
  /** http or https, without a trailing `/`. */
  readonly url: string;
  /** The input that the address comes from: for messages. */
  readonly input: string;
  /** Keys below it may be kept from the public: "forbidden" is "not found" there, since nobody takes their absence for anything. */
  readonly hidden: string;
  /** Of this action, for the user agent. */
  readonly version: string;
}

/** Of the `Problem` that says what may not be read. Many stores say it of what does not exist too, to whoever may not list them. */
export const publicAccessDenied = 'public-access-denied';

/**
 * What everybody can read of a repository, at its public address. It has no writes and no listings: those throw the `Problem`
 * `store-read-only`. One attempt per call.
 *
 * Unlike an S3 endpoint a web server says 404 in its own words, so every 404 and 410 is "not found".
 */
export class HttpStore implements ObjectStore {
  readonly #settings: HttpSettings;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  async get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Found | NotFound> {
    const read = async (response: Response): Promise<Found | NotFound> => {
      const given = await readBody(response.body, length(response), key);
      // A server may not know ranges and give the whole.
      const body = range === undefined || response.status === 206 ? given : part(given, range);
      return body === undefined ? { found: false } : { found: true, body, etag: etag(response) };
    };
    return this.#ask('GET', key, read, { range, signal });
  }

  async head(key: string, signal?: AbortSignal): Promise<FoundHead | NotFound> {
    const read = async ({ headers }: Response): Promise<FoundHead> => {
      const stored = headers.get('x-amz-meta-sha256');
      const [cacheControl, contentType] = [headers.get('cache-control'), headers.get('content-type')];
      return {
        found: true,
        size: Number(headers.get('content-length') ?? 0),
        etag: etag({ headers }),
        ...(stored === null ? {} : { sha256: stored }),
        ...(cacheControl === null ? {} : { cacheControl }),
        ...(contentType === null ? {} : { contentType }),
      };
    };
    return this.#ask('HEAD', key, read, { signal });
  }

  put(key: string): Promise<never> {
    return readOnly(`to write ${key}`);
  }

  copy(_from: string, to: string): Promise<never> {
    return readOnly(`to write ${to}`);
  }

  listPage(prefix: string): Promise<never> {
    return readOnly(`to list ${prefix}`);
  }

  delete(keys: readonly string[]): Promise<never> {
    return readOnly(`to delete ${keys[0] ?? 'nothing'}`);
  }

  startUpload(key: string): Promise<never> {
    return readOnly(`to write ${key}`);
  }

  putPart({ key }: { readonly key: string }): Promise<never> {
    return readOnly(`to write ${key}`);
  }

  completeUpload({ key }: { readonly key: string }): Promise<never> {
    return readOnly(`to write ${key}`);
  }

  abortUpload({ key }: { readonly key: string }): Promise<never> {
    return readOnly(`to write ${key}`);
  }

  async #ask<T>(
    method: 'GET' | 'HEAD',
    key: string,
    read: (response: Response) => Promise<T>,
    { range, signal }: { range?: ByteRange | undefined; signal: AbortSignal | undefined },
  ): Promise<T | NotFound> {
    const { url, hidden, input, version } = this.#settings;
    // The forms of an index are compressed already, and are to arrive as they are stored.
    const headers = {
      'accept-encoding': 'identity',
      'user-agent': `apt-publish/${version}`,
      ...(range === undefined ? {} : { range: `bytes=${range.offset}-${range.offset + range.length - 1}` }),
    };
    try {
      const address = `${url}/${key.split('/').map(encodeURIComponent).join('/')}`;
      const response = await fetch(address, { method, headers, signal: signal ?? null });
      if (response.ok) return await read(response);
      await response.body?.cancel();
      const { status } = response;
      const forbidden = status === 401 || status === 403;
      if (status === 404 || status === 410 || status === 416 || (forbidden && key.startsWith(hidden)))
        return { found: false };
      throw refused(key, response, input);
    } catch (error) {
      if (error instanceof Problem || error instanceof TransientStoreError) throw error;
      throw unanswered(key, error, input);
    }
  }
}

function refused(key: string, { status, headers }: Response, input: string): Problem | TransientStoreError {
  if (status === 429 || status >= 500) {
    const seconds = headers.get('retry-after') ?? '';
    return new TransientStoreError({
      kind: status === 429 || status === 503 ? 'throttled' : 'server',
      ambiguous: false,
      message: `The address in \`${input}\` did not give ${key} (${status}).`,
      ...(/^\d{1,6}$/.test(seconds) ? { retryAfter: Number(seconds) * 1000 } : {}),
    });
  }
  if (status === 401 || status === 403) {
    return new Problem({
      code: publicAccessDenied,
      title: 'The public address denies access',
      what: `The address in \`${input}\` refused to give ${key} (${status}).`,
      advice: 'See that the repository can be read by everybody, or give this run keys of the store.',
    });
  }
  return new Problem({
    code: 'public-address-refused',
    title: 'The public address does not serve the repository',
    what: `The address in \`${input}\` answered ${status} when it was asked for ${key}.`,
    advice: `See that \`${input}\` is the address that apt reads the repository from.`,
  });
}

/** Node's fetch says no more than "fetch failed" itself; what happened is in the cause. */
function unanswered(key: string, error: unknown, input: string): Problem | TransientStoreError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  if (
    ['ENOTFOUND', 'ECONNREFUSED'].includes(code) ||
    /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_)/.test(code)
  ) {
    return new Problem({
      code: 'public-address-unreachable',
      title: 'The public address cannot be reached',
      what: `The address in \`${input}\` could not be asked for ${key} (${code}).`,
      advice: `See that \`${input}\` is the address that apt reads the repository from, and that the runner reaches it.`,
      cause,
    });
  }
  const kind = code.includes('TIMEOUT') ? 'timeout' : 'connection';
  return new TransientStoreError({
    kind,
    ambiguous: false,
    message: `The address in \`${input}\` gave no whole answer for ${key} (${code}).`,
    cause,
  });
}

function part(body: Uint8Array, { offset, length: most }: ByteRange): Uint8Array | undefined {
  return offset > 0 && offset >= body.length ? undefined : body.subarray(offset, offset + most);
}

/** Undefined where the length is not that of the body: a server may compress on its way what nobody asked it to. */
function length({ headers }: Response): number | undefined {
  const announced = headers.get('content-length');
  return announced === null || headers.has('content-encoding') ? undefined : Number(announced);
}

function etag({ headers }: Pick<Response, 'headers'>): string {
  return (headers.get('etag') ?? '').replace(/^(?:W\/)?"(.*)"$/, '$1');
}

async function readOnly(doing: string): Promise<never> {
  throw new Problem({
    code: 'store-read-only',
    title: 'A public address cannot be written',
    what: `The repository is read through \`public-url\`, and was asked ${doing}.`,
    advice: 'Give this run keys of the store: without them it can only be a dry run.',
  });
}
