import { Problem } from '../problem.ts';
import {
  type Condition,
  conditionRefusedCode,
  type EtagSpelling,
  type ObjectStore,
  TransientStoreError,
  type Written,
} from './object-store.ts';

/** What a store was seen to do with conditions on writes. */
export interface Probed {
  /** `create-only`: `If-None-Match: *` is held, `If-Match` is not. */
  readonly kind: 'enforced' | 'create-only' | 'none';
  /** How `If-Match` wants its ETag; `bare` where that was not found out. */
  readonly etags: EtagSpelling;
  /** How the first condition failed that is not held: silently, or with an error. Absent when all are held. */
  readonly weakness?: 'ignored' | 'refused';
}

const key = '.apt-publish/probe';
const body = new TextEncoder().encode('This object shows whether the store holds conditional writes.\n');
const attributes = { contentType: 'text/plain; charset=utf-8', cacheControl: 'no-store' } as const;
/** An ETag that no content has: a store must not find it. */
const staleEtag = '00000000000000000000000000000000';
/** Others may probe at the same time, and then an ETag just read is stale at once. */
const rounds = 3;
/** How often a question is asked whose answer was lost. */
const asked = 5;

/**
 * Finds out by trying whether a store holds conditions, since some ignore them without a word: a condition that must fail is
 * sent, and success means that it was ignored. Five requests on a store that holds them (four when asked again), one to four on
 * others. Needs no delete and leaves `.apt-publish/probe` behind; an object that is there already is as good. Several probes at
 * once do no harm.
 */
export async function probe(store: ObjectStore): Promise<Probed> {
  let created = await attempt(store, { absent: true });
  const isNew = created !== 'refused' && created.written;
  if (isNew) created = await attempt(store, { absent: true });
  if (created === 'refused') return { kind: 'none', etags: 'bare', weakness: 'refused' };
  if (created.written) return { kind: 'none', etags: 'bare', weakness: 'ignored' };

  const bare = await swaps(store, 'bare');
  if (bare === 'held') return { kind: 'enforced', etags: 'bare' };
  // A store that ignores one spelling is not trusted with the other: which of the two a proxy in between rewrites is anybody's guess.
  if (bare === 'ignored') return { kind: 'create-only', etags: 'bare', weakness: bare };
  const quoted = await swaps(store, 'quoted');
  if (quoted === 'held') return { kind: 'enforced', etags: 'quoted' };
  return { kind: 'create-only', etags: 'bare', weakness: quoted === 'ignored' ? 'ignored' : 'refused' };
}

/** `never`: even the ETag just read is taken for a stale one, which is what the wrong spelling leads to. */
async function swaps(store: ObjectStore, spelled: EtagSpelling): Promise<'held' | 'ignored' | 'refused' | 'never'> {
  const stale = await answered(() => attempt(store, { etag: staleEtag, spelled }));
  if (stale === 'refused') return 'refused';
  if (stale.written) return 'ignored';
  for (let round = 1; round <= rounds; round += 1) {
    const fresh = await answered(async () => {
      const now = await store.get(key);
      return now.found ? attempt(store, { etag: now.etag, spelled }) : 'gone';
    });
    if (fresh === 'gone') return 'never';
    if (fresh === 'refused') return 'refused';
    if (fresh.written) return 'held';
  }
  return 'never';
}

/** Asks again when an answer is lost: whether a write took effect shows in the next one. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TransientStoreError)) throw error;
      if (count === asked) throw unanswered(error);
    }
  }
}

function unanswered(cause: TransientStoreError): Problem {
  return new Problem({
    code: 'store-unavailable',
    title: 'The store does not answer as it should',
    what: `${cause.message} It was asked ${asked} times whether it holds conditional writes.`,
    advice: 'See the status page or the log of the store, then run the job again.',
    cause,
  });
}

async function attempt(store: ObjectStore, condition: Condition): Promise<Written | { written: false } | 'refused'> {
  try {
    return await store.put(key, body, { ...attributes, condition, overlaps: true });
  } catch (error) {
    if (error instanceof Problem && error.code === conditionRefusedCode) return 'refused';
    throw error;
  }
}
