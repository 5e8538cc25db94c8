import { Problem } from '../problem.ts';
import type { Clock } from '../timing/clock.ts';
import { type Around, layer } from './layer.ts';
import { type ObjectStore, TransientStoreError, type Upload, type Written } from './object-store.ts';

export interface RetrySettings {
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads the retries of many clients. */
  readonly random: () => number;
}

const attempts = 5;
/** Stores that count requests do so by the second (R2, GCS: one write a second on a key): less than that is another refusal. */
const shortestWait = { connection: 100, server: 100, timeout: 100, throttled: 1000 } as const;
const longestWait = 20_000;
/** The upper end of the first wait, by what went wrong. */
const firstWait = { connection: 200, server: 200, timeout: 200, throttled: 1500 } as const;
/** A store that asks for more patience than this has an outage, and a run that waits for it looks hung. */
const longestRetryAfter = 60_000;

/**
 * Repeats what failed in a way that may pass: at most five attempts, exponential back-off with jitter, 0.1 to 20 s and at least a second after a throttle,
 * never sooner than the store's own Retry-After. A write that must not be sent twice (`PutOptions.once`, or a condition on an
 * ETag) is repeated only after answers that say for certain that it had no effect; otherwise the `TransientStoreError` goes on
 * to the caller, who reads back. A repeated write with `absent` may find its own first attempt: `precondition-failed` then means
 * "exists", as it does anyway. When the attempts are used up the error is a `Problem` (`store-unavailable`).
 *
 * Completing a multipart upload is never repeated blindly, since a completed upload is gone: the object is looked at first.
 */
export function retried(store: ObjectStore, settings: RetrySettings): ObjectStore {
  const around: Around = async (call, attempt) => {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof TransientStoreError)) throw error;
        if (error.ambiguous && !call.repeatable) throw error;
        await backOff(error, count, settings);
      }
    }
  };
  return {
    ...layer(store, around),
    completeUpload: async (upload, parts, condition) => {
      let doubtful = false;
      for (let count = 1; ; count += 1) {
        try {
          return await store.completeUpload(upload, parts, condition);
        } catch (error) {
          const transient = error instanceof TransientStoreError;
          doubtful ||= transient && error.ambiguous;
          if (transient) await backOff(error, count, settings);
          const completed = doubtful ? await completedObject(store, upload) : undefined;
          if (completed !== undefined) return completed;
          if (!transient) throw error;
        }
      }
    },
  };
}

/** Whether the object that an upload was for is there with the bytes it was for. */
async function completedObject(store: ObjectStore, upload: Upload): Promise<Written | undefined> {
  const { sha256 } = upload.attributes;
  if (sha256 === undefined) return undefined;
  const head = await store.head(upload.key);
  return head.found && head.sha256 === sha256 ? { written: true, etag: head.etag } : undefined;
}

async function backOff(error: TransientStoreError, count: number, { clock, random }: RetrySettings): Promise<void> {
  const asked = error.retryAfter ?? 0;
  if (count >= attempts || asked > longestRetryAfter) throw unavailable(error, count);
  const upper = Math.min(longestWait, firstWait[error.kind] * 3 ** (count - 1));
  const lower = shortestWait[error.kind];
  await clock.sleep(Math.max(asked, lower + random() * (upper - lower)));
}

function unavailable(error: TransientStoreError, count: number): Problem {
  return new Problem({
    code: 'store-unavailable',
    title: 'The store does not answer as it should',
    what: `${error.message} That was attempt ${count}, and the last.`,
    advice: advice[error.kind],
    cause: error,
  });
}

const advice: Record<TransientStoreError['kind'], string> = {
  throttled: 'Lower `upload-concurrency` and `rename-concurrency`, or run the job again when less is going on.',
  timeout: 'See whether the store is reachable from the runner and not overloaded, then run the job again.',
  connection: 'See whether the store is reachable from the runner, then run the job again.',
  server: 'See the status page or the log of the store, then run the job again.',
};
