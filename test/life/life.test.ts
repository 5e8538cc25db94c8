import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seededChance } from '../../src/perf/chance.ts';
import { machineHas } from '../debs.ts';
import { changeSettings, Debs } from '../publish/publishing.ts';
import { type Finding, RepositoryCheck } from '../publish/repository-check.ts';
import { bodies, type Objects, storeOver } from '../race/object-model.ts';
import { day, publishAs } from '../race/publishers.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { TestClock } from '../store/clocks.ts';
import { bucketDifferences } from './bucket.ts';
import { type Deed, Deeds, generations, suites } from './deeds.ts';
import { alone, beginning, type Lived, pause, together } from './lives.ts';
import { readByApt } from './readers.ts';

/** Another number is another life. */
const seed = process.env['LIFE_SEED'] ?? '1';
const wanted = 300;
/** Every so many steps the command verify reads the repository; the real apt does after each. */
const sampled = 10;

const keys = await fixture('ed25519');
const debs = new Debs();
after(() => debs[Symbol.dispose]());
const apt = machineHas('apt-get');

function count(objects: Objects): number {
  return suites.reduce((sum, suite) => sum + (generations(objects, suite)[0] ?? 0), 0);
}

/** What the command verify says of a state, notices too. */
async function verified({ objects, time }: { objects: Objects; time: number }): Promise<string[]> {
  const clock = new TestClock(time);
  const present = suites.filter((suite) => objects.has(`.apt-publish/${suite}.json`)).map((suite) => ({ suite }));
  const request = { command: 'verify', suites: present, renameConcurrency: 'auto', uploadConcurrency: 'auto' } as const;
  const store = storeOver(async (operation) => {
    const { answer, objects: next } = operation.apply(objects, time);
    assert.equal(next, objects, 'verifying writes nothing');
    return answer;
  });
  const verifier = { name: 'verifier', keys, concurrency: 16, request: { ...request, deep: true, repair: false } };
  const results = await publishAs(verifier, store, clock);
  return results
    .flatMap(({ verification }) => verification?.findings ?? [])
    .map(({ kind, key, what }) => `${kind} ${key}: ${what}`);
}

test(`a life of ${wanted} generations, in fast forward: seed ${seed}`, async (t) => {
  const chance = seededChance(`life ${seed}`);
  const check = new RepositoryCheck(keys);
  const deeds = new Deeds(debs, chance);
  const told = { steps: 0, deaths: 0, lost: 0, races: 0, states: 0, read: 0 };
  let { world } = { world: beginning };

  /** Names that were cleaned away: what is published days later may be stored under one of them with other bytes. */
  const freed = new Set<string>();
  const isTakenAnew = ({ rule, what }: Finding) => rule === 'immutable' && freed.has(what.split(' ')[0] ?? '');
  const judge = async (what: string, lived: Lived): Promise<Lived> => {
    const { world: after, states, ended } = lived;
    for (const [index, objects] of states.entries()) {
      const before = states[index - 1];
      const found = await check.findings(bodies(objects));
      if (before !== undefined) found.push(...check.headsGoneBack(bodies(before), bodies(objects)));
      for (const key of before?.keys() ?? []) if (!objects.has(key)) freed.add(key);
      assert.deepEqual(
        found.filter((finding) => finding.rule !== 'claimed-pool' && !isTakenAnew(finding)),
        [],
        what,
      );
    }
    if (ended) {
      const found = await check.findings(bodies(after.objects), true);
      assert.deepEqual(
        found.filter((finding) => !isTakenAnew(finding)),
        [],
        what,
      );
    }
    told.states += states.length;
    world = after;
    return lived;
  };
  const arrived = async ({ what, brings }: Deed, { refused }: Lived) => {
    if (brings === undefined || refused) return;
    const listed = await check.packages(bodies(world.objects), brings.suite);
    for (const file of brings.files)
      assert.ok(
        listed.some((line) => line.includes(file)),
        `${what}: ${file} is not there`,
      );
  };

  while (count(world.objects) < wanted) {
    told.steps += 1;
    const draw = chance();
    if (draw < 0.15) {
      const several = Array.from({ length: draw < 0.05 ? 3 : 2 }, () => deeds.next(world.objects));
      const what = `step ${told.steps}: ${several.map((deed) => deed.what).join(' beside ')}`;
      const lived = await judge(what, await together(world, several, keys, chance));
      const quiet = several.every(({ brings, request }) => brings !== undefined && !('keepVersions' in request));
      if (quiet) for (const deed of several) await arrived(deed, lived);
      told.races += 1;
    } else {
      const deed = deeds.next(world.objects);
      const what = `step ${told.steps}: ${deed.what}`;
      const at = 1 + Math.floor(chance() * 30);
      if (draw < 0.35) {
        const kind = deeds.pick(['before', 'after'] as const);
        let lived = await judge(`${what}, dead ${kind} request ${at}`, await alone(world, deed, keys, { kind, at }));
        if (!lived.ended) {
          told.deaths += 1;
          // Somebody else may come before the rerun.
          world = { ...world, time: world.time + pause(chance) };
          if (chance() < 0.3) {
            const other = deeds.next(world.objects);
            // What died may be in a suite that this one does not read.
            await judge(`${what}, then ${other.what}`, { ...(await alone(world, other, keys)), ended: false });
            world = { ...world, time: world.time + pause(chance) };
          }
          lived = await judge(`${what}, once more`, await alone(world, deed, keys));
        }
        await arrived(deed, lived);
      } else {
        const lost = draw < 0.45;
        await arrived(deed, await judge(what, await alone(world, deed, keys, lost ? { kind: 'lost', at } : undefined)));
        told.lost += lost ? 1 : 0;
      }
    }
    if (told.steps % sampled === 0) {
      assert.deepEqual(
        await verified(world).then((found) => found.filter((line) => !line.startsWith('orphan'))),
        [],
        `step ${told.steps}`,
      );
    }
    if (apt) told.read += await readByApt(world.objects, suites, check, keys);
    world = { ...world, time: world.time + pause(chance) };
  }

  // Nobody publishes any more, and every grace period ends.
  for (let round = 1; round <= 4; round += 1) {
    world = { ...world, time: world.time + 9 * day };
    const request = { command: 'republish', suites: suites.map((suite) => ({ suite })), ...changeSettings } as const;
    await judge(`the end, round ${round}`, await alone(world, { what: 'republish', request }, keys));
  }
  const { missing, leftOver, byHash, most } = bucketDifferences(world.objects, suites);
  t.diagnostic(
    `${count(world.objects)} generations in ${told.steps} steps and ${Math.round((world.time - beginning.time) / day)} days: ${told.deaths} deaths, ${told.lost} lost answers, ${told.races} races, ${told.states} states; apt knew ${told.read} packages; at the end ${world.objects.size} objects, ${byHash} by-hash of at most ${most}`,
  );
  assert.deepEqual({ missing, leftOver }, { missing: [], leftOver: [] });
  assert.ok(byHash <= most);
  assert.deepEqual(await verified(world), []);
  if (apt) assert.ok((await readByApt(world.objects, suites, check, keys)) > 0);
});
