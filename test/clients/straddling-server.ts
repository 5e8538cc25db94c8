import { createServer } from 'node:http';
import type { Snapshot } from '../publish/repository-check.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';

/** Which state of a repository a path is answered from. */
export type View = (path: string) => Snapshot;

export interface StraddlingServer extends AsyncDisposable {
  readonly url: string;
  /** From now on answers come from there. */
  show(view: View): void;
}

/**
 * A web server over states of a repository that has no time of its own: every path is answered from the state that the test says, as if that
 * request had come just then. Without Last-Modified, so that every client gets, and compares, whole files.
 */
export async function startStraddlingServer(): Promise<StraddlingServer> {
  let view: View = () => new Map();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace(/^\/+/, ''));
    const body = view(path).get(path);
    response.writeHead(body === undefined ? 404 : 200, { 'content-length': body?.length ?? 0 });
    response.end(body);
  });
  return {
    url: await listenLocally(server),
    show: (next) => {
      view = next;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
