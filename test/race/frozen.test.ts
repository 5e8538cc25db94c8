import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { recordKey } from '../../src/publish/layout.ts';
import { parseSuiteRecord, renderSuiteRecord } from '../../src/publish/suite-record.ts';
import { ClosingCounts } from '../faults/closing-counts.ts';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { type Finding, RepositoryCheck } from '../publish/repository-check.ts';
import { packagesLost, type Wanted } from './exploration.ts';
import { bodies, type Objects } from './object-model.ts';
import { day, history, type Publisher, race, takeUntil } from './publishers.ts';
import type { Stepper } from './stepper.ts';

/** Two publishers, one frozen while the other goes on, at every request of the one and of the other. */

const debs = new Debs();
after(() => debs[Symbol.dispose]());
const publisher = (name: string): Publisher => ({
  name,
  request: { suites: [suiteOf('sid', debs.add(name, { Package: name }))] },
});
const base = await history(['one', 'two', 'three', 'four'].map(publisher));
const world = { ...base, time: base.time + 2 * day };
const wanted: Wanted = { alice: ['sid', 'alice_1.0_amd64.deb'], bob: ['sid', 'bob_1.0_amd64.deb'] };
const check = new RepositoryCheck();
const [alice, bob] = [publisher('alice'), publisher('bob')];
const untimely = { patience: Number.POSITIVE_INFINITY };

/** Lets one process make this many requests more; answers with how many it made. */
async function take(stepper: Stepper, process: number, most: number): Promise<number> {
  for (let made = 0; made < most; made += 1) {
    const before = stepper.processes[process]?.requests;
    await takeUntil(stepper, process, () => true);
    if (stepper.processes[process]?.requests === before) return made;
  }
  return most;
}

async function ended(stepper: Stepper, seen: readonly Objects[], counts: ClosingCounts): Promise<string[]> {
  const failed = stepper.processes.flatMap(({ name, end }) =>
    end === undefined || 'error' in end ? [`${name} did not end well: ${end?.error}`] : [],
  );
  const found: Finding[] = [];
  for (const [index, objects] of seen.entries()) {
    const isLast = index === seen.length - 1;
    const findings = await check.findings(bodies(objects), isLast);
    // By design, a name may be old until whoever wrote it late has put it right.
    found.push(...findings.filter(({ rule }) => isLast || rule !== 'canonical'));
    const before = seen[index - 1];
    if (before !== undefined) found.push(...check.headsGoneBack(bodies(before), bodies(objects)));
  }
  counts.addJudged(found);
  const lost = await packagesLost(check, wanted, stepper);
  counts.add('packages lost', lost.length);
  return [...failed, ...lost, ...found.map(({ invariant, rule, what }) => `invariant ${invariant} (${rule}): ${what}`)];
}

/** A cache in between that has another list of the same size for every index. */
const deceived: Publisher = {
  ...alice,
  through: (store) => ({
    ...store,
    get: async (key) => {
      const object = await store.get(key);
      const isIndex = /\/Packages\.gz$|\/binary-.*\/by-hash\//.test(key);
      if (!object.found || !isIndex) return object;
      const list = gunzipSync(object.body).toString();
      return { ...object, body: gzipSync(list.replaceAll('Filename: pool/', 'Filename: evil/')) };
    },
  }),
};

/** The same repository, whose record carries no indexes. */
function withoutEmbedded(objects: Objects): Objects {
  const key = recordKey('sid');
  const object = objects.get(key);
  assert.ok(object !== undefined);
  const body = renderSuiteRecord({ ...parseSuiteRecord(object.body, 'sid'), embedded: {} });
  return new Map([...objects, [key, { ...object, body }]]);
}

describe('invariant 5 holds when one of two is given other bytes than are published', () => {
  test('however far the other is', async (t) => {
    const counts = new ClosingCounts();
    for (let progress = 0, more = true; more; progress += 1) {
      const stepper = race({ ...world, objects: withoutEmbedded(world.objects) }, [deceived, bob], untimely);
      more = (await take(stepper, 1, progress)) === progress;
      await takeUntil(stepper, 0);
      const { end } = stepper.processes[0] ?? {};
      const found = [...(await check.findings(bodies(stepper.objects)))];
      await takeUntil(stepper, 1);
      found.push(...(await check.findings(bodies(stepper.objects), true)));
      counts.add('points tried');
      counts.addJudged(found);
      assert.deepEqual(found, [], `${progress} requests of bob before`);
      // Once bob's claim carries the index, nothing has to be read.
      const error = end !== undefined && 'error' in end ? `${end.error}` : undefined;
      if (error !== undefined) assert.match(error, /is not what the signed Release says/);
      else assert.ok(progress > 0, 'nothing was refused');
    }
    t.diagnostic(`${counts}`);
  });
});

test('every write past the limit asks whose claim it is', async () => {
  const both = ['amd64', 'arm64'].map((architecture) =>
    debs.add(`both-${architecture}`, { Package: 'both', Architecture: architecture }),
  );
  const stepper = race(world, [{ name: 'alice', request: { suites: [suiteOf('sid', ...both)] } }]);
  await takeUntil(stepper, 0, ({ verb }) => verb === 'COPY');
  stepper.time += 70_000;
  await takeUntil(stepper, 0, ({ verb }) => verb === 'COPY');
  await takeUntil(stepper, 0, ({ verb, key }) => verb !== 'GET' && !key.includes('/by-hash/'));
  assert.match(stepper.trace.at(-1) ?? '', /alice PUT \.apt-publish\/sid\.json → \{"written":true/);
});

test('invariants 1, 2 and 4 hold when each freezes in mid-request, at every pair of requests', async (t) => {
  const counts = new ClosingCounts();
  for (let first = 1, more = true; more; first += 1) {
    for (let second = 1; ; second += 1) {
      const stepper = race(world, [alice, bob], untimely);
      const seen: Objects[] = [stepper.objects];
      more = (await take(stepper, 0, first)) === first;
      seen.push(stepper.objects);
      const made = await take(stepper, 1, second);
      seen.push(stepper.objects);
      for (const process of [0, 1]) {
        await takeUntil(stepper, process);
        seen.push(stepper.objects);
      }
      counts.add('points tried');
      const wrong = await ended(stepper, seen, counts);
      if (wrong.length > 0) t.diagnostic(`${counts}`);
      assert.deepEqual(wrong, [], `alice frozen after ${first} requests, bob after ${second}`);
      if (made < second) break;
    }
  }
  t.diagnostic(`${counts}`);
});
