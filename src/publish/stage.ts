import { immutableAttributes } from './attributes.ts';
import type { BuiltIndex, StoredForm } from './build-indexes.ts';
import { byHashKey } from './layout.ts';
import type { Baseline } from './look.ts';
import { storedHead } from './next-record.ts';
import type { Prepared } from './prepare.ts';
import { phase, type RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/** Added to the claimer's limit: stores tell the age of an object in whole seconds. */
const margin = 2000;

/**
 * Writes every stored form of the indexes that changed, and the head that is replaced, under the name of its own hash, where no live head
 * points. Content that comes back while its old object is condemned, or fading, is staged when no claim can delete it any more:
 * every claim that might is older than the newest one.
 */
export async function stage(run: RunContext, prepared: Prepared, built: readonly BuiltIndex[]): Promise<void> {
  const { suite, published, adopted } = prepared;
  const forms = [...built.flatMap(({ stored }) => stored), ...(adopted?.forms ?? []), ...replacedHead(prepared)];
  const keys = new Set(forms.map(({ path, sha256 }) => byHashKey(suite, path, sha256)));
  const going = [...(published?.record.condemned ?? []), ...(published?.record.fading ?? [])];
  const isGoing = going.some(({ path, sha256 }) => keys.has(byHashKey(suite, path, sha256)));
  if (published !== undefined && isGoing) await outlastDeletion(run, suite, published);
  await phase(run, 'stage', suite, async ({ store, scope }) => {
    scope.expect(forms.length);
    const largestFirst = forms.toSorted((a, b) => b.bytes.length - a.bytes.length);
    await wave(largestFirst, ({ path, bytes, sha256 }) =>
      store.put(byHashKey(suite, path, sha256), bytes, { ...immutableAttributes(path, sha256), overlaps: true }),
    );
  });
}

/**
 * The head that this generation is to take the place of. It is kept as signed, beside the indexes that it lists: the record's own word on
 * kept generations is signed by nobody, and a rollback signs nothing that it has not verified (invariant 5).
 */
function replacedHead({ published, expectedHead }: Prepared): StoredForm[] {
  if (published === undefined || !('etag' in expectedHead)) return [];
  return [{ ...storedHead(published.record), bytes: Buffer.from(published.record.generation.head) }];
}

function outlastDeletion(run: RunContext, suite: string, { record, recordAge = 0 }: Baseline): Promise<void> {
  const rest = record.claim.limitSeconds * 1000 + margin - recordAge * 1000;
  return phase(run, 'wait', suite, () => run.clock.sleep(Math.max(0, rest)));
}
