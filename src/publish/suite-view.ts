import { parseRelease, type Release } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { verifyInRelease } from '../signing/verify.ts';
import { splitForm } from './index-paths.ts';
import { byHashKey, headKey } from './layout.ts';
import { look, type Published, type Trusted } from './look.ts';
import { storedIndexes } from './next-record.ts';
import { missingSuite } from './prepare-remove.ts';
import type { Phase } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';

/** What readers follow. */
interface LiveGeneration {
  readonly head: Uint8Array;
  readonly releaseText: string;
  readonly release: Release;
}

/** A suite as readers and writers see it at one moment, signatures verified. */
export interface SuiteView {
  readonly suite: string;
  readonly published: Published;
  /** Absent while the first generation is claimed and not committed. */
  readonly live: LiveGeneration | undefined;
  /** Whether head and record stand for one generation. */
  readonly settled: boolean;
  /** What tells this moment from another. */
  readonly moment: string;
}

/**
 * Looks at a suite without touching it. Throws `suite-missing`, and what is wrong with record or head as the problem that any other
 * command would throw: `isFault` tells these from those of the store.
 */
export async function viewSuite({ store }: Phase, suite: string, trusted: Trusted): Promise<SuiteView> {
  for (;;) {
    const sight = await look(store, suite, trusted, false);
    if (sight.state !== 'settled' && sight.state !== 'apart') throw missingSuite(suite);
    const { published, headEtag } = sight;
    const moment = `${published.recordEtag} ${headEtag ?? ''}`;
    const { releaseText, release } = published;
    const view = { suite, published, moment };
    if (sight.state === 'settled') {
      const head = Buffer.from(published.record.generation.head);
      return { ...view, live: { head, releaseText, release }, settled: true };
    }
    if (headEtag === undefined) return { ...view, live: undefined, settled: false };
    const head = await store.get(headKey(suite, trusted !== undefined));
    if (!head.found || head.etag !== headEtag) continue;
    const origin = `The head of suite ${suite}`;
    const text =
      trusted === undefined
        ? Buffer.from(head.body).toString()
        : (await verifyInRelease(head.body, trusted, origin)).release;
    return {
      ...view,
      live: { head: head.body, releaseText: text, release: parseRelease(text, origin) },
      settled: false,
    };
  }
}

/** Whether a problem says that record or head of the suite are at fault, rather than the store, or the one who asks. */
export function isFault(error: unknown): error is Problem {
  return error instanceof Problem && !error.code.startsWith('store-') && error.code !== 'suite-missing';
}

/** The stored forms of one index of one generation. A form that several generations have is in one group only. */
export interface IndexGroup {
  /** Whose it is, for people. */
  readonly of: string;
  /** Without form. */
  readonly index: string;
  readonly forms: readonly StoredIndex[];
  /** What the signed Release lists for the content, where that is at hand. */
  readonly twin?: { readonly size: number; readonly sha256: string };
  /** Whether its pool files must be there: those of a claimed generation may still be on their way. */
  readonly reachesPool: boolean;
}

/** Everything that must be there by its hash: what the head, the record and each kept generation name. */
export function indexGroups({ suite, published, live, settled }: SuiteView): IndexGroup[] {
  const { record, release } = published;
  const generations: { of: string; stored: readonly StoredIndex[]; release?: Release; reachesPool: boolean }[] = [];
  if (live !== undefined) {
    generations.push({ of: 'the head', stored: storedIndexes(live.release), release: live.release, reachesPool: true });
  }
  for (const { number, dropped } of record.kept) {
    generations.push({ of: `kept generation ${number}`, stored: dropped, reachesPool: true });
  }
  if (!settled) generations.push({ of: 'the claimed generation', stored: storedIndexes(release), reachesPool: false });
  const seen = new Set<string>();
  return generations.flatMap(({ of, stored, release: listing, reachesPool }): IndexGroup[] => {
    const fresh = stored.filter(({ path, sha256 }) => {
      const key = byHashKey(suite, path, sha256);
      return !seen.has(key) && seen.add(key);
    });
    return [...Map.groupBy(fresh, ({ path }) => splitForm(path).index)].map(([index, forms]) => {
      const twin = listing?.files.find(({ path }) => path === index);
      return { of, index, forms, reachesPool, ...(twin === undefined ? {} : { twin }) };
    });
  });
}
