import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { likenesses, type Quirks } from '../rig/s3-quirks.ts';
import { AgedRepository, agedFile, describePlace, type Place, PlaceFinder } from './aged-repository.ts';
import { assertConsistent, brokenPromises, packagesIn, recordOf } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { type Fault, lastingFaults, passingFaults } from './faults.ts';
import { isProblem, keys } from './workbench.ts';

/** Points tried side by side: so many time-outs are waited for together. */
const sideBySide = pLimit(6);
const copies = 700;

const kinds: readonly (readonly [name: string, quirks: Quirks, enforced: boolean])[] = [
  ['a store as AWS', {}, true],
  ['a store as Ceph 16', likenesses.ceph16, true],
  ['a store without conditions', likenesses.b2, false],
];

const updated = { amd64: ['hello 1.0', 'hello 4', 'hello 5'], arm64: ['tool 1.0', 'tool 2', 'tool 5'] } as const;

/** Disturbs the requests of one bucket from, or only at, one place. */
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

/** Tries every fault at every request it can happen to, and names all the points that failed. */
async function sweep(
  t: TestContext,
  aged: AgedRepository,
  faults: readonly Fault[],
  attempt: (place: Place, fault: Fault) => Promise<void>,
): Promise<void> {
  const places = await aged.places();
  assert.ok(places.length > 25, `${places.length} requests`);
  const failures: string[] = [];
  const points = places.flatMap(({ place, request }) =>
    faults.filter(({ happensTo }) => happensTo(request)).map((fault) => ({ place, fault })),
  );
  await sideBySide.map(points, async ({ place, fault }) => {
    try {
      await attempt(place, fault);
    } catch (error) {
      failures.push(`${fault.name} at ${describePlace(place)}: ${error instanceof Error ? error.message : error}`);
    }
  });
  t.diagnostic(`points: ${points.length}`);
  assert.deepEqual(failures, [], `${failures.length} of ${points.length} points`);
}

describe('one request of an update goes wrong once: the update is published, once, and nothing is lost or left', () => {
  for (const [name, quirks, enforced] of kinds) {
    test(name, async (t) => {
      await using aged = await AgedRepository.make(copies, quirks);
      await sweep(t, aged, passingFaults, async (place, fault) => {
        const name = aged.copy();
        const bucket = aged.bench.server.objects(name);
        const effects = new Effects(bucket);
        const { results, context } = aged.run(name, fault.stallMs);
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
        assert.deepEqual(packagesIn(bucket, 'bookworm'), updated.amd64);
        assert.deepEqual(packagesIn(bucket, 'bookworm', 'arm64'), updated.arm64);
        assert.equal(recordOf(bucket, 'bookworm').generation.number, 5);
        assert.deepEqual([effects.headChanges, effects.recordChanges], [1, 1], 'head and record change once');
        assert.ok(!bucket.has(agedFile), 'what was due is gone');
        assert.deepEqual(context.warnings.length, enforced ? 0 : 1, context.warnings.join());
      });
    });
  }
});

describe('from one request of an update on everything fails', () => {
  test('the run stops with a problem, and the next one ends where a run without a fault does', async (t) => {
    await using aged = await AgedRepository.make(copies);
    await sweep(t, aged, lastingFaults, async (place, fault) => {
      const name = aged.copy();
      const bucket = aged.bench.server.objects(name);
      const effects = new Effects(bucket);
      const { results } = aged.run(name, fault.stallMs);
      {
        using _ = disturb(aged, name, place, fault, true);
        const error: unknown = await results.then(
          () => undefined,
          (caught: unknown) => caught,
        );
        if (error !== undefined) assert.ok(isProblem(error), `a user would be shown: ${error}`);
        assert.deepEqual(brokenPromises(bucket), []);
        // The words "not published" and "published" are true of what readers see.
        assert.equal(effects.headChanges, error === undefined ? 1 : 0, `the run ${error === undefined ? 'succeeded' : `failed (${error})`}`);
      }
      await aged.run(name).results;
      await assertConsistent(bucket, keys);
      assert.deepEqual(effects.violations, []);
      assert.deepEqual(packagesIn(bucket, 'bookworm'), updated.amd64);
      assert.deepEqual(packagesIn(bucket, 'bookworm', 'arm64'), updated.arm64);
      assert.equal(effects.headChanges, 1);
    });
  });
});
