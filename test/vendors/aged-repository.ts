import type { SuiteRequest } from '../../src/publish/request.ts';
import { publishedAt, suiteOf } from '../publish/publishing.ts';
import type { Quirks } from '../rig/s3-quirks.ts';
import type { S3Request } from '../rig/s3-request.ts';
import { TestClock } from '../store/clocks.ts';
import { Workbench } from './workbench.ts';

/** One request of a run, named so that it is the same one in every run. */
export interface Place {
  readonly verb: S3Request['verb'];
  readonly key: string;
  /** Of requests alike, which: 1 for the first. */
  readonly occurrence: number;
}

export function describePlace({ verb, key, occurrence }: Place): string {
  return `${verb} ${key === '' ? '(bucket)' : key}${occurrence === 1 ? '' : ` for the ${occurrence}. time`}`;
}

/** Recognises a place among the requests of one run, as they come. */
export class PlaceFinder {
  readonly #seen = new Map<string, number>();

  place({ verb, key }: S3Request): Place {
    const name = `${verb} ${key}`;
    const occurrence = (this.#seen.get(name) ?? 0) + 1;
    this.#seen.set(name, occurrence);
    return { verb, key, occurrence };
  }
}

/** The names in the pool of what the update replaces or removes. */
export const agedFile = 'pool/main/h/hello/hello_1.0_amd64.deb';
const aDay = 24 * 3_600_000;

/**
 * A suite of four generations that are eight days old, copied into as many buckets as are needed, and an update of it that does
 * everything a run can: it adds and replaces packages, and it removes indexes and a pool file whose grace is over.
 */
export class AgedRepository implements AsyncDisposable {
  readonly bench: Workbench;
  readonly update: readonly SuiteRequest[];
  readonly #buckets: string[];

  private constructor(bench: Workbench, update: readonly SuiteRequest[], buckets: string[]) {
    this.bench = bench;
    this.update = update;
    this.#buckets = buckets;
  }

  static async make(copies: number, quirks: Quirks = {}): Promise<AgedRepository> {
    const buckets = Array.from({ length: copies }, (_, index) => `copy-${index}`);
    const bench = await Workbench.open(new TestClock(publishedAt), { quirks, buckets: ['apt', ...buckets] });
    try {
      return new AgedRepository(bench, [await fourGenerations(bench)], buckets);
    } catch (error) {
      await bench[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** An empty bucket of its own. */
  empty(): string {
    const name = this.#buckets.pop();
    if (name === undefined) throw new Error('No bucket is left: ask for more copies.');
    return name;
  }

  /** A bucket of its own that holds the aged repository. */
  copy(): string {
    const name = this.empty();
    const { bucket, server } = this.bench;
    for (const key of bucket.keys()) {
      const object = bucket.get(key);
      if (object !== undefined) server.objects(name).write(key, object.body, { headers: object.headers });
    }
    return name;
  }

  /** The update, run on one bucket by a clock of its own. `claimLimit`: as short as the wait for a crashed run is to be. */
  run(bucket: string, { stallMs, claimLimit = 60_000 }: { stallMs?: number | undefined; claimLimit?: number } = {}) {
    const clock = new TestClock(publishedAt + 8 * aDay);
    const run = this.bench.run(this.update, {
      onConflict: 'replace',
      store: { bucket, ...(stallMs === undefined ? {} : { stallMs }) },
      clock,
      run: { claimLimit },
    });
    return { ...run, clock };
  }

  /** The requests of an update of this bucket that nothing disturbs, in the order of their arrival. */
  async places(bucket: string): Promise<readonly { place: Place; request: S3Request }[]> {
    await this.run(bucket).results;
    const finder = new PlaceFinder();
    return this.bench.server.requests
      .filter((request) => request.bucket === bucket)
      .map((request) => ({ place: finder.place(request), request }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }
}

/** Publishes them, and gives back the update that is to come. */
async function fourGenerations(bench: Workbench): Promise<SuiteRequest> {
  const { debs } = bench;
  const arm = { Package: 'tool', Architecture: 'arm64' };
  const replace = { onConflict: 'replace' } as const;
  await bench.publish([suiteOf('bookworm', debs.add('one'), debs.add('tool', arm))]);
  await bench.publish([suiteOf('bookworm', debs.add('two', { Description: 'other bytes' }))], replace);
  await bench.publish([suiteOf('bookworm', debs.add('three', { ...arm, Version: '2' }))]);
  await bench.publish([suiteOf('bookworm', debs.add('four', { Version: '4' }))]);
  return suiteOf(
    'bookworm',
    debs.add('five', { Version: '5' }),
    debs.add('five-replaced', { Version: '4', Description: 'other bytes' }),
    debs.add('five-tool', { ...arm, Version: '5' }),
  );
}
