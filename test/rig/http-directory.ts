import { readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { closeServer, listenLocally } from './listener.ts';

export interface HttpDirectory extends AsyncDisposable {
  /** `http://127.0.0.1:port`, standing for the folder. */
  readonly url: string;
  /** Everything that was asked for, oldest first; paths are decoded and relative to the folder. */
  readonly requests: readonly { readonly path: string; readonly status: number }[];
}

export interface HttpDirectoryOptions {
  /** Cache-Control of a path; no header when it gives none. */
  readonly cacheControl?: (path: string) => string | undefined;
}

/** A static HTTP server over a folder, as apt is pointed at: GET and HEAD, Last-Modified and 304, and ranges to resume. */
export async function serveDirectory(folder: string, options: HttpDirectoryOptions = {}): Promise<HttpDirectory> {
  const requests: { path: string; status: number }[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace(/\?.*$/s, '')).replace(/^\/+/, '');
    const answer = await answerFor(join(folder, path), request.headers);
    requests.push({ path, status: answer.status });
    const cacheControl = options.cacheControl?.(path);
    if (cacheControl !== undefined) answer.headers['cache-control'] = cacheControl;
    if (answer.status !== 304) answer.headers['content-length'] = answer.body.length;
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  });
  return {
    url: await listenLocally(server),
    requests,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

interface FileAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

async function answerFor(file: string, asked: IncomingHttpHeaders): Promise<FileAnswer> {
  const facts = await stat(file).catch(() => undefined);
  if (facts?.isFile() !== true)
    return { status: 404, headers: { 'content-type': 'text/plain' }, body: Buffer.from('404\n') };
  const modified = Math.floor(facts.mtimeMs / 1000) * 1000;
  const headers: OutgoingHttpHeaders = { 'last-modified': new Date(modified).toUTCString(), 'accept-ranges': 'bytes' };
  const since = asked['if-modified-since'];
  if (since !== undefined && modified <= Date.parse(since)) return { status: 304, headers, body: Buffer.alloc(0) };
  const body = await readFile(file);
  const from = Number(/^bytes=(\d+)-$/.exec(asked.range ?? '')?.[1] ?? 0);
  // RFC 9110 §13.1.5: a range goes with If-Range only when the file is still the one the client has the beginning of.
  const same = asked['if-range'] === undefined || Date.parse(String(asked['if-range'])) === modified;
  if (from === 0 || !same) return { status: 200, headers, body };
  if (from >= body.length) {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${body.length}` }, body: Buffer.alloc(0) };
  }
  const range = { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` };
  return { status: 206, headers: { ...headers, ...range }, body: body.subarray(from) };
}
