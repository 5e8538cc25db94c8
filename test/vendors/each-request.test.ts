import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { likenesses, type Quirks } from '../rig/s3-quirks.ts';
import { AgedRepository, agedFile, describePlace, type Place, PlaceFinder } from './aged-repository.ts';
import { assertConsistent, assertPackages, brokenPromises, counts, recordOf } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { doubtfulFaults, type Fault, lastingFaults, passingFaults } from './faults.ts';
import { isProblem, keys } from './workbench.ts';

/** Points tried side by side: so many time-outs are waited for together. */
const sideBySide = pLimit(6);
const copies = 420;
/** How long a crashed run is waited for; every look on the way takes a signature check. */
const claimLimit = 2000;
const headKey = 'dists/bookworm/InRelease';
const recordKey = '.apt-publish/bookworm.json';
const updated = { amd64: ['hello 1.0', 'hello 4', 'hello 5'], arm64: ['tool 1.0', 'tool 2', 'tool 5'] } as const;

const anywhere = () => true;
/** Where a lost answer could make a publisher believe the wrong thing. */
const atCommitPoints = ({ key }: Place) => key.endsWith('.json') || key === headKey;

/** Disturbs the requests of one bucket: at one place, or from there on. */
function disturb(aged: AgedRepository, bucket: string, at: Place, fault: Fault, lasting: boolean): Disposable {
  const finder = new PlaceFinder();
  let reached = false;
  return aged.bench.server.intercept((request) => {
    if (request.bucket !== bucket) return undefined;
    if (reached && lasting) return fault.action;
    const { verb, key, occurrence } = finder.place(request);
    if (verb !== at.verb || key !== at.key || occurrence !== at.occurrence) return undefined;
    reached = true;
    return fault.action;
  });
}

interface Sweep {
  readonly aged: AgedRepository;
  /** Hands out the bucket that a point is tried on. */
  readonly bucket: () => string;
  readonly faults: readonly Fault[];
  readonly where: (place: Place) => boolean;
  readonly attempt: (point: { bucket: string; place: Place; fault: Fault }) => Promise<void>;
}

/** Tries every fault at every place it can happen to, and names all the points that failed. */
async function sweep(t: TestContext, { aged, bucket, faults, where, attempt }: Sweep): Promise<void> {
  const places = await aged.places(bucket());
  const points = places.flatMap(({ place, request }) =>
    faults.filter(({ happensTo }) => where(place) && happensTo(request)).map((fault) => ({ place, fault })),
  );
  const failures: string[] = [];
  await sideBySide.map(points, async ({ place, fault }) => {
    try {
      await attempt({ bucket: bucket(), place, fault });
    } catch (error) {
      failures.push(`${fault.name} at ${describePlace(place)}: ${error instanceof Error ? error.message : error}`);
    }
  });
  t.diagnostic(`${points.length} points tried`);
  assert.equal(failures.join('\n'), '');
}

describe('one request of an update goes wrong once: the update is published, once, and nothing is lost or left', () => {
  const kinds: readonly (Pick<Sweep, 'where' | 'faults'> & { name: string; quirks: Quirks; warnings: number })[] = [
    {
      name: 'a store as Ceph 16, records and heads',
      quirks: likenesses.ceph16,
      where: atCommitPoints,
      faults: doubtfulFaults,
      warnings: 0,
    },
    {
      name: 'a store without conditions, records and heads',
      quirks: likenesses.b2,
      where: atCommitPoints,
      faults: doubtfulFaults,
      warnings: 1,
    },
    { name: 'a store as AWS, any request', quirks: {}, where: anywhere, faults: passingFaults, warnings: 0 },
  ];
  for (const { name, quirks, where, faults, warnings } of kinds) {
    test(name, async (t) => {
      await using aged = await AgedRepository.make(copies, quirks);
      const attempt: Sweep['attempt'] = async ({ bucket: name, place, fault }) => {
        const bucket = aged.bench.server.objects(name);
        const effects = new Effects(bucket);
        const { results, context } = aged.run(name, { stallMs: fault.stallMs });
        {
          using _ = disturb(aged, name, place, fault, false);
          const [result] = await results;
          assert.equal(result?.outcome.changed, true, 'reported as unchanged');
          assert.equal(result?.outcome.generation, 5);
        }
        // What the store carries out late must not undo anything.
        if (fault.action.do === 'delay') await sleep(fault.action.ms);
        await assertConsistent(bucket, keys);
        assert.deepEqual(effects.violations, []);
        assertPackages(bucket, 'bookworm', updated.amd64);
        assertPackages(bucket, 'bookworm', updated.arm64, 'arm64');
        assert.equal(recordOf(bucket, 'bookworm').generation.number, 5);
        assert.deepEqual([effects.history(headKey).length, effects.history(recordKey).length], [1, 1]);
        assert.ok(!bucket.has(agedFile), 'a pool file that was due is still there');
        assert.equal(context.warnings.length, warnings, context.warnings.join());
      };
      await sweep(t, { aged, bucket: () => aged.copy(), faults, where, attempt });
    });
  }
});

test('one request of a first publish goes wrong once: the probe, the record and the head get over it', async (t) => {
  await using aged = await AgedRepository.make(copies);
  const attempt: Sweep['attempt'] = async ({ bucket: name, place, fault }) => {
    const bucket = aged.bench.server.objects(name);
    const effects = new Effects(bucket);
    const { results } = aged.run(name, { stallMs: fault.stallMs });
    {
      using _ = disturb(aged, name, place, fault, false);
      const [result] = await results;
      assert.equal(result?.conditions, 'enforced');
    }
    if (fault.action.do === 'delay') await sleep(fault.action.ms);
    await assertConsistent(bucket, keys);
    assert.deepEqual(effects.violations, []);
    assert.deepEqual([effects.history(headKey).length, effects.history(recordKey).length], [1, 1]);
  };
  const where = (place: Place) => atCommitPoints(place) || place.key === '.apt-publish/probe';
  await sweep(t, { aged, bucket: () => aged.empty(), faults: passingFaults, where, attempt });
});

test('from one request of an update on everything fails: it stops with a problem, and the next run ends where a run without a fault does', async (t) => {
  await using aged = await AgedRepository.make(copies);
  const attempt: Sweep['attempt'] = async ({ bucket: name, place, fault }) => {
    const bucket = aged.bench.server.objects(name);
    const effects = new Effects(bucket);
    const { results } = aged.run(name, { claimLimit });
    let problem: string | undefined;
    {
      using _ = disturb(aged, name, place, fault, true);
      try {
        await results;
      } catch (error) {
        assert.ok(isProblem(error), `a user would be shown: ${error}`);
        problem = error.message;
      }
    }
    assert.deepEqual(brokenPromises(bucket), []);
    const published = effects.history(headKey).length === 1;
    assert.equal(problem === undefined, published, `published: ${published}, and the run says: ${problem}`);
    await aged.run(name, { claimLimit }).results;
    await assertConsistent(bucket, keys);
    assert.deepEqual(effects.violations, []);
    assertPackages(bucket, 'bookworm', updated.amd64);
    assertPackages(bucket, 'bookworm', updated.arm64, 'arm64');
    assert.equal(effects.history(headKey).length, 1);
  };
  await sweep(t, { aged, bucket: () => aged.copy(), faults: lastingFaults, where: anywhere, attempt });
});

test('the head is written and Release beside it is not: a rerun puts Release right (invariant 3)', async (t) => {
  await using aged = await AgedRepository.make(1);
  const name = aged.copy();
  const { results } = aged.run(name);
  {
    using _ = aged.bench.server.intercept(({ key }) =>
      key === 'dists/bookworm/Release' ? { do: 'answer', when: 'before', status: 503, code: 'SlowDown' } : undefined,
    );
    // Whether this is a failure is judged above; here it is as good as a crash.
    await results.catch(() => undefined);
  }
  await aged.run(name).results;
  await assertConsistent(aged.bench.server.objects(name), keys);
  t.diagnostic('1 point tried');
});

test('what was judged', (t) => t.diagnostic(`${counts}`));
