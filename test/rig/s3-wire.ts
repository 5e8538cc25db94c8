import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, S3Fault } from './s3-answer.ts';
import type { FaultAction } from './s3-faults.ts';

/**
 * Answers one request, with the fault a hook asked for. `handle` lets the request take effect; its argument is how many
 * changes a listing lags behind. `settle` is told of the answer (none when the connection is dropped) before a byte of it
 * is sent, so that nobody who has read the answer finds it missing from the record.
 */
export async function carryOut(
  response: ServerResponse,
  action: FaultAction | undefined,
  date: Date,
  handle: (changesAgo: number) => Answer,
  settle: (answer: Answer | undefined) => void,
): Promise<void> {
  // Not kept waiting for a request nobody waits for any more.
  if (action?.do === 'delay') await sleep(action.ms, undefined, { ref: false });
  if (action?.do === 'drop') {
    if (action.when === 'after') handle(0);
    settle(undefined);
    response.destroy();
    return;
  }
  const answer = answerTo(action, handle);
  settle(answer);
  await send(response, answer, date, action?.do === 'cut-body' || action?.do === 'stall-body' ? action : undefined);
}

function answerTo(action: FaultAction | undefined, handle: (changesAgo: number) => Answer): Answer {
  if (action?.do === 'page') {
    return { status: action.status, headers: { 'content-type': 'text/html' }, body: Buffer.from(action.html) };
  }
  if (action?.do !== 'answer') return handle(action?.do === 'stale-list' ? action.changes : 0);
  if (action.when === 'after') handle(0);
  const headers: Record<string, string> = {};
  if (action.retryAfter !== undefined) headers['retry-after'] = String(action.retryAfter);
  return new S3Fault(action.status, action.code, 'As the test asked.', { headers }).answer();
}

/** Resolves once the answer is out or the connection is gone. */
export async function send(
  response: ServerResponse,
  answer: Answer,
  date: Date,
  partly?: { readonly do: 'cut-body' | 'stall-body'; readonly bytes: number },
): Promise<void> {
  if (response.destroyed) return;
  const closed = new Promise((resolve) => response.once('close', resolve));
  const body = answer.body ?? Buffer.alloc(0);
  const bodiless = answer.status === 204 || answer.status === 304;
  response.sendDate = false;
  response.writeHead(answer.status, {
    date: date.toUTCString(),
    server: 'rig',
    ...answer.headers,
    ...(bodiless ? {} : { 'content-length': String(body.length) }),
  });
  if (partly === undefined) {
    response.end(body);
    await closed;
    return;
  }
  const piece = body.subarray(0, partly.bytes);
  response.flushHeaders();
  if (piece.length > 0) await new Promise((resolve) => response.write(piece, resolve));
  if (partly.do === 'cut-body') response.socket?.end();
  await closed;
}
