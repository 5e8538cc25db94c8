import { Problem } from '../problem.ts';
import {
  type Condition,
  type Found,
  type NotFound,
  type ObjectAttributes,
  type ObjectStore,
  TransientStoreError,
} from '../store/object-store.ts';
import type { Clock } from '../timing/clock.ts';
import type { Conditions } from './suite-record.ts';

/**
 * Whether this call's bytes took the place of the expected ones. `answered` when the store said so; otherwise they were found
 * there, and may have been put there by somebody who writes the same bytes.
 */
export type Swapped =
  | { readonly swapped: true; readonly etag: string; readonly answered: boolean }
  | { readonly swapped: false };

/** How often an answer that says nothing is followed by another look and another try. */
const attempts = 5;

/**
 * Compare-and-swap of one small object, true to what happened even when the answer is lost: after an error that says nothing, and
 * after a refusal (which may be one's own earlier success), the object is read back and compared. Bytes of a claim hold the name of
 * the run, so bytes that are equal are one's own.
 *
 * On a store without conditions it reads just before and just after, which leaves a window; whoever calls reports that once.
 */
export async function swap(
  store: ObjectStore,
  clock: Clock,
  conditions: Conditions,
  object: { key: string; body: Uint8Array; attributes: ObjectAttributes; expected: Condition },
): Promise<Swapped> {
  const { key, body, attributes, expected } = object;
  const enforced = conditions.kind === 'enforced' || (conditions.kind === 'create-only' && 'absent' in expected);
  const condition = 'absent' in expected ? expected : { ...expected, spelled: conditions.etags };
  for (let attempt = 1; ; attempt += 1) {
    if (!enforced && !holds(expected, await store.get(key))) return { swapped: false };
    let cause: unknown;
    try {
      const answer = await store.put(key, body, {
        ...attributes,
        once: true,
        ...(enforced ? { condition, overlaps: true } : {}),
      });
      if (answer.written && enforced && answer.etag !== undefined) {
        return { swapped: true, etag: answer.etag, answered: true };
      }
    } catch (error) {
      if (!(error instanceof TransientStoreError)) throw error;
      cause = error;
    }
    const now = await store.get(key);
    if (now.found && Buffer.compare(now.body, body) === 0) return { swapped: true, etag: now.etag, answered: false };
    if (!holds(expected, now)) return { swapped: false };
    if (attempt === attempts) throw unanswered(key, cause);
    await clock.sleep(200 * 2 ** attempt);
  }
}

function holds(expected: Condition, now: Found | NotFound): boolean {
  return 'absent' in expected ? !now.found : now.found && now.etag === expected.etag;
}

function unanswered(key: string, cause: unknown): Problem {
  return new Problem({
    code: 'store-write-refused',
    title: 'The store does not take a conditional write',
    what: `The store refused to write ${key} ${attempts} times although nobody else has changed it.`,
    advice: 'Run the job again; if this stays, report the store and its version.',
    cause,
  });
}
