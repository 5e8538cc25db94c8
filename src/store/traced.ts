import type { PhaseScope } from '../timing/recorder.ts';
import type { ObjectClass, Outcome } from '../timing/span.ts';
import { layer } from './layer.ts';
import { type ObjectStore, TransientStoreError } from './object-store.ts';

/** Records every attempt at a request as a span of the phase, one that was given up as `cancelled`. Keys stay out of the record: only their class goes in. */
export function traced(store: ObjectStore, scope: PhaseScope): ObjectStore {
  return layer(store, async (call, attempt) => {
    const start = scope.now();
    const record = (outcome: Outcome, bytesDown: number) =>
      scope.request({
        verb: call.verb,
        object: objectClass(call.key),
        start,
        end: scope.now(),
        bytesUp: call.bytesUp,
        bytesDown,
        outcome,
      });
    try {
      const answer = await attempt();
      record(answerOutcome(answer), bodyLength(answer));
      return answer;
    } catch (error) {
      const kind = error instanceof TransientStoreError ? error.kind : 'failed';
      record(call.signal?.aborted === true ? 'cancelled' : kind, 0);
      throw error;
    }
  });
}

/** What kind of object a key stands for. A prefix is classed like the objects below it. */
export function objectClass(key: string): ObjectClass {
  if (/^\.apt-publish\/.*\.json$/.test(key)) return 'record';
  if (key.startsWith('pool/')) return 'pool';
  if (!key.startsWith('dists/')) return 'other';
  if (key.includes('/by-hash/')) return 'by-hash';
  const name = key.slice(key.lastIndexOf('/') + 1);
  if (name === 'InRelease') return 'head';
  return name === 'Release' || name === 'Release.gpg' ? 'release' : 'index';
}

function answerOutcome(answer: unknown): Outcome {
  if (typeof answer !== 'object' || answer === null) return 'ok';
  if ('found' in answer && answer.found === false) return 'not-found';
  return 'written' in answer && answer.written === false ? 'precondition-failed' : 'ok';
}

function bodyLength(answer: unknown): number {
  const read = typeof answer === 'object' && answer !== null && 'body' in answer ? answer.body : undefined;
  return read instanceof Uint8Array ? read.byteLength : 0;
}
