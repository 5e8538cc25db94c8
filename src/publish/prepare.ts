import { fieldValue, type Stanza } from '../debian/deb822.ts';
import type { Release } from '../debian/release.ts';
import { publicKeys } from '../signing/verify.ts';
import type { Condition } from '../store/object-store.ts';
import { type Adopted, adopt } from './adopt.ts';
import type { IncomingPackages } from './incoming.ts';
import { splitForm } from './index-paths.ts';
import type { Baseline } from './look.ts';
import { computedFields, releaseFields } from './next-release.ts';
import { planSuite, type SuitePlan } from './plan.ts';
import { lookAtPool, type PoolSight } from './pool-look.ts';
import { readIndexes } from './read-indexes.ts';
import type { PublishRequest } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { type Settled, settle } from './settle.ts';
import { hasContents, type PublishedShape, type Shape, shapeOf } from './shape.ts';
import { together } from './wave.ts';

/** A suite read and planned: nothing has been written for it. */
export interface Prepared {
  readonly suite: string;
  /** Absent for a suite that does not exist yet. */
  readonly published: Baseline | undefined;
  /** Set when this run takes over a suite that something else has made. */
  readonly adopted: Adopted | undefined;
  /** What the claim and the commit must still find. */
  readonly expectedRecord: Condition;
  readonly expectedHead: Condition;
  readonly pool: PoolSight;
  readonly shape: Shape;
  /** What was read of the published indexes, uncompressed, by path without form. */
  readonly indexes: ReadonlyMap<string, Uint8Array>;
  readonly plan: SuitePlan;
  /** Fields of the Release to come, but for those that are computed when it is made. */
  readonly fields: Stanza;
  /** Whether there is anything to publish. */
  readonly changed: boolean;
}

/** The phases read and plan of one suite; the inputs are scanned beside the first look. */
export async function prepare(
  run: RunContext,
  request: PublishRequest,
  suite: string,
  incoming: IncomingPackages,
): Promise<Prepared> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  const [sight, pool, scanned] = await together(
    settle(run, suite, trusted, request.adopt),
    phase(run, 'read', suite, ({ store }) => lookAtPool(store)),
    incoming(suite, request.contents),
  );
  const adopted = sight.state === 'foreign' ? await adopt(run, suite, sight.foreign) : undefined;
  const published = sight.state === 'settled' ? sight.published : adopted?.baseline;
  const before = publishedShape(published?.release);
  const contents = request.contents || hasContents(before);
  const shape = shapeOf({
    suite,
    published: before,
    incoming: contents === request.contents ? scanned : await incoming(suite, contents),
    declared: request.architectures,
    contents,
  });
  const indexes = adopted?.contents ?? (await neededIndexes(run, suite, published, shape));
  return phase(run, 'plan', suite, async ({ scope }) => {
    const reserved = published?.record.unlisted ?? [];
    const bytes = [...indexes.values()].reduce((sum, index) => sum + index.length, 0);
    const plan = await scope.work('merge', bytes, () =>
      planSuite({ suite, shape, indexes, reserved, onConflict: request.onConflict }),
    );
    const { release: info, allowReleaseInfoChange } = request;
    const fields = releaseFields({ suite, published: published?.release, info, allowReleaseInfoChange });
    return {
      suite,
      published,
      adopted,
      expectedRecord: condition(recordEtagOf(sight)),
      expectedHead: condition(headEtagOf(sight)),
      pool,
      shape,
      indexes,
      plan,
      fields,
      changed:
        published === undefined ||
        adopted !== undefined ||
        plan.lists.size > 0 ||
        fieldsDiffer(published.release, fields),
    };
  });
}

async function neededIndexes(run: RunContext, suite: string, published: Baseline | undefined, { needed }: Shape) {
  if (published === undefined || needed.length === 0) return new Map<string, Uint8Array>();
  return phase(run, 'read', suite, (reading) => readIndexes(reading, suite, published, needed));
}

function condition(etag: string | undefined): Condition {
  return etag === undefined ? { absent: true } : { etag };
}

function recordEtagOf(sight: Settled): string | undefined {
  if (sight.state === 'new') return sight.recordEtag;
  return sight.state === 'foreign' ? sight.foreign.recordEtag : sight.published.recordEtag;
}

function headEtagOf(sight: Settled): string | undefined {
  if (sight.state === 'new') return undefined;
  return sight.state === 'foreign' ? sight.foreign.headEtag : sight.headEtag;
}

function publishedShape(release: Release | undefined): PublishedShape {
  const words = (name: string) => (fieldValue(release?.fields ?? [], name) ?? '').split(/\s+/).filter(Boolean);
  return {
    components: words('Components'),
    // Independent packages stand in every list here; another tool may have listed `all` as if it were an architecture.
    architectures: words('Architectures').filter((architecture) => architecture !== 'all' && architecture !== 'source'),
    indexes: new Set((release?.files ?? []).map(({ path }) => splitForm(path).index)),
  };
}

function fieldsDiffer(published: Release, fields: Stanza): boolean {
  const wanted = fields.filter(({ name }) => !computedFields.has(name));
  const before = published.fields.filter(({ name }) => !computedFields.has(name));
  return wanted.length !== before.length || wanted.some(({ name, value }) => fieldValue(before, name) !== value);
}
