import type { PhaseScope } from '../timing/recorder.ts';
import type { Outcome, Verb } from '../timing/span.ts';
import { objectClass } from './traced.ts';

/** An object as readers get it. */
export interface ServedObject {
  readonly status: number;
  /** Empty where the server sends none. */
  readonly cacheControl: string;
  readonly contentEncoding: string;
  /** As announced; absent where it is not. */
  readonly size?: number;
  /** Empty for a HEAD. */
  readonly body: Uint8Array;
}

/** How long a server may take, milliseconds. */
const patience = 30_000;
const attempts = 3;

/**
 * Asks for an object over http as apt does: without asking for a compressed transfer, following redirections. `base` is the address that apt reads
 * the repository from. Answers with a sentence when no answer came. A request that failed, or that the server failed to answer, is
 * repeated twice.
 */
export async function askPublicly(
  scope: PhaseScope,
  base: string,
  verb: Extract<Verb, 'GET' | 'HEAD'>,
  key: string,
): Promise<ServedObject | string> {
  const url = `${base}/${key.split('/').map(encodeURIComponent).join('/')}`;
  for (let attempt = 1; ; attempt += 1) {
    const start = scope.now();
    const ended = (outcome: Outcome, bytesDown: number) =>
      scope.request({ verb, object: objectClass(key), start, end: scope.now(), bytesUp: 0, bytesDown, outcome });
    try {
      const answer = await fetch(url, {
        method: verb,
        headers: { 'accept-encoding': 'identity', 'user-agent': 'apt-publish' },
        signal: AbortSignal.timeout(patience),
      });
      const body = new Uint8Array(await answer.arrayBuffer());
      ended(outcomeOf(answer.status), body.length);
      if (answer.status >= 500 && attempt < attempts) continue;
      const announced = answer.headers.get('content-length');
      return {
        status: answer.status,
        cacheControl: answer.headers.get('cache-control') ?? '',
        contentEncoding: answer.headers.get('content-encoding') ?? '',
        ...(announced === null ? {} : { size: Number(announced) }),
        body,
      };
    } catch (error) {
      const timedOut = error instanceof Error && error.name === 'TimeoutError';
      ended(timedOut ? 'timeout' : 'connection', 0);
      if (attempt < attempts) continue;
      return timedOut ? `There was no answer within ${patience / 1000} s.` : `There was no answer: ${causeOf(error)}.`;
    }
  }
}

function outcomeOf(status: number): Outcome {
  if (status < 400) return 'ok';
  if (status === 404) return 'not-found';
  if (status === 429) return 'throttled';
  return status >= 500 ? 'server' : 'failed';
}

/** `fetch` itself only says that it failed. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return code !== '' ? code : cause instanceof Error ? cause.message : 'the request failed';
}
