import { fieldValue } from '../debian/deb822.ts';
import type { Release } from '../debian/release.ts';
import { publicKeys } from '../signing/verify.ts';
import type { Condition } from '../store/object-store.ts';
import { type Adopted, adopt } from './adopt.ts';
import { type Glance, glance } from './glance.ts';
import { splitForm } from './index-paths.ts';
import type { Abandoned, Baseline } from './look.ts';
import { lookAtPool, type PoolSight } from './pool-look.ts';
import { readIndexes } from './read-indexes.ts';
import { phase, type RunContext } from './run-context.ts';
import { type Settled, settle } from './settle.ts';
import type { PublishedShape } from './shape.ts';
import { together } from './wave.ts';

/** A suite as a run has found it, with nobody at work on it. */
export interface SuiteState {
  readonly suite: string;
  /** Absent for a suite that does not exist yet. */
  readonly published: Baseline | undefined;
  /** Set when this run takes over a suite that something else has made. */
  readonly adopted: Adopted | undefined;
  /** Set when this run gives up a generation that another run has claimed. */
  readonly abandoned: Abandoned | undefined;
  /** What the claim and the commit must still find. */
  readonly expectedRecord: Condition;
  readonly expectedHead: Condition;
  readonly pool: PoolSight;
  /** What it has, as its Release says; all empty for a new one. */
  readonly has: PublishedShape;
  /** Stored forms of the large indexes that were read, by path with form: `readSuiteIndexes` adds to them. */
  readonly forms: Map<string, Uint8Array>;
}

/** How a suite is to be read. */
interface ReadSettings {
  readonly dryRun: boolean;
  readonly adopt?: boolean;
  /** Real ones that a suite taken over is to have, where its own lists do not tell. */
  readonly architectures?: readonly string[];
}

/**
 * The first part of the phase read: record, head and pool record together, until no claim is open. A dry run takes what it finds, and
 * does not care about the pool.
 */
export async function readSuite(
  run: RunContext,
  suite: string,
  { dryRun, adopt: adoptForeign = false, architectures }: ReadSettings,
): Promise<SuiteState> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  const [sight, pool] = await together(
    dryRun ? glance(run, suite, adoptForeign) : settle(run, suite, trusted, adoptForeign),
    dryRun ? undefined : phase(run, 'read', suite, ({ store }) => lookAtPool(store)),
  );
  const adopted = sight.state === 'foreign' ? await adopt(run, suite, sight.foreign, architectures) : undefined;
  const published = 'published' in sight ? sight.published : adopted?.baseline;
  return {
    suite,
    published,
    adopted,
    abandoned: sight.state === 'abandoned' ? sight.abandoned : undefined,
    expectedRecord: condition(recordEtagOf(sight)),
    expectedHead: condition(headEtagOf(sight)),
    pool: pool ?? { version: 0 },
    has: publishedShape(published?.release),
    forms: new Map(adopted?.forms.map(({ path, bytes }) => [path, bytes])),
  };
}

/** The second part: published indexes, uncompressed, by path without form. Those that the suite has not are left out. */
export async function readSuiteIndexes(
  run: RunContext,
  { suite, published, adopted, has, forms }: SuiteState,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (adopted !== undefined) return adopted.contents;
  const needed = wanted.filter((index) => has.indexes.has(index));
  if (published === undefined || needed.length === 0) return new Map();
  return phase(run, 'read', suite, (reading) => readIndexes(reading, suite, published, needed, forms));
}

function condition(etag: string | undefined): Condition {
  return etag === undefined ? { absent: true } : { etag };
}

function recordEtagOf(sight: Settled | Glance): string | undefined {
  if (sight.state === 'shown') return undefined;
  if (sight.state === 'new' || sight.state === 'abandoned') return sight.recordEtag;
  return sight.state === 'foreign' ? sight.foreign.recordEtag : sight.published.recordEtag;
}

function headEtagOf(sight: Settled | Glance): string | undefined {
  if (sight.state === 'new' || sight.state === 'shown') return undefined;
  return sight.state === 'foreign' ? sight.foreign.headEtag : sight.headEtag;
}

/** What a suite has, as its Release says; all empty without one. */
export function publishedShape(release: Release | undefined): PublishedShape {
  const words = (name: string) => (fieldValue(release?.fields ?? [], name) ?? '').split(/\s+/).filter(Boolean);
  return {
    components: words('Components'),
    // Independent packages stand in every list here; another tool may have listed `all` as if it were an architecture.
    architectures: words('Architectures').filter((architecture) => architecture !== 'all' && architecture !== 'source'),
    indexes: new Set((release?.files ?? []).map(({ path }) => splitForm(path).index)),
  };
}
