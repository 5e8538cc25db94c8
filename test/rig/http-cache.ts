import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import { closeServer, listenLocally } from './listener.ts';

export interface HttpCacheOptions {
  /** The server behind it: `http://127.0.0.1:port` or a URL below that. */
  readonly to: string;
  /** The cache's clock, milliseconds. */
  readonly now: () => number;
  /** Seconds for which a "not found" is kept. */
  readonly notFoundSeconds?: number;
  /** Seconds for which an answer without Cache-Control is kept (Cloudflare: 7200 for `.gz` and the like). */
  readonly defaultSeconds?: number;
}

export interface HttpCacheServer extends AsyncDisposable {
  readonly url: string;
  /** Paths as asked for, with what became of them. */
  readonly requests: readonly { readonly path: string; readonly status: number; readonly hit: boolean }[];
}

interface Kept {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly since: number;
}

/**
 * A shared cache in front of a repository, as a CDN is: it keeps what it fetched for as long as Cache-Control allows and
 * serves it without asking, whatever has become of the original.
 */
export async function startHttpCache(options: HttpCacheOptions): Promise<HttpCacheServer> {
  const store = new Map<string, Kept>();
  const requests: { path: string; status: number; hit: boolean }[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const path = request.url ?? '/';
    let kept = store.get(path);
    const hit = kept !== undefined && options.now() - kept.since < freshSeconds(kept, options) * 1000;
    if (kept === undefined || !hit) {
      kept = { ...(await fetchWhole(`${options.to}${path}`)), since: options.now() };
      store.set(path, kept);
    }
    const since = Date.parse(request.headers['if-modified-since'] ?? '');
    const unchanged = kept.status === 200 && Date.parse(kept.headers['last-modified'] ?? '') <= since;
    const status = unchanged ? 304 : kept.status;
    requests.push({ path, status, hit });
    for (const name of ['content-type', 'cache-control', 'last-modified', 'etag']) {
      const value = kept.headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    response.setHeader('age', Math.floor((options.now() - kept.since) / 1000));
    if (!unchanged) response.setHeader('content-length', kept.body.length);
    response.writeHead(status);
    response.end(unchanged ? undefined : kept.body);
  });
  return {
    url: await listenLocally(server),
    requests,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** RFC 9111 §4.2.1, for a shared cache. */
function freshSeconds({ status, headers }: Kept, options: HttpCacheOptions): number {
  if (status === 404) return options.notFoundSeconds ?? 0;
  if (status !== 200) return 0;
  const control = headers['cache-control'];
  if (control === undefined) return options.defaultSeconds ?? 0;
  if (/\b(no-store|no-cache|private)\b/.test(control)) return 0;
  const seconds = /\bs-maxage=(\d+)/.exec(control)?.[1] ?? /\bmax-age=(\d+)/.exec(control)?.[1];
  return Number(seconds ?? options.defaultSeconds ?? 0);
}

function fetchWhole(url: string): Promise<Omit<Kept, 'since'>> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
      answer.on('error', reject);
    }).on('error', reject);
  });
}
