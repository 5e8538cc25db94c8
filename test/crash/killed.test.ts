import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { type Scenario as Exploration, exploreSome } from '../race/exploration.ts';
import type { Objects } from '../race/object-model.ts';
import { day, race } from '../race/publishers.ts';
import { assertSound as assertExplored, insideClaim } from '../race/races.ts';
import { run, type World } from './mortal-run.ts';
import { Readers } from './readers.ts';
import { differences, unlisted } from './same-state.ts';
import {
  debs,
  expiry,
  intoTwo,
  keys,
  later,
  one,
  publisher,
  type Scenario,
  scenarios,
  strangers,
  suitesOf,
} from './scenarios.ts';

after(() => debs[Symbol.dispose]());
const readers = new Readers();

/** What may be left over after a rerun: objects that are condemned, and pool files that the record still has to remove. */
async function explained(world: World): Promise<Set<string>> {
  return new Set([...(await readers.explained(world)), ...unlisted(world.objects)]);
}

/** Others publish something else twice, so that what is left over is found, and forgotten. */
async function followed(world: World, scenario: Scenario, by: number, where: string): Promise<World> {
  let last: World = world;
  const states: Objects[] = [];
  for (const [index, path] of strangers.entries()) {
    const request = { suites: suitesOf(scenario).map((suite) => suiteOf(suite, path)) };
    const next = await run(later(last, by), { name: `follower-${index}`, keys, request });
    assert.equal(next.error, undefined, where);
    states.push(...next.states);
    last = next;
  }
  await readers.assertSound(states, where, scenario.admits);
  await readers.assertEnded(last, where);
  return last;
}

/** The difference from that right ending which is nearest. */
function furthest(left: World, right: readonly World[], known: ReadonlySet<string>): readonly string[] {
  const all = right.map(({ objects }) => differences(left.objects, objects, known));
  return all.reduce((least, each) => (each.length < least.length ? each : least));
}

describe('invariants 1, 2 and 3 hold when a run dies', () => {
  for (const concurrency of [1, 16]) {
    for (const scenario of scenarios) {
      const { title, world, request, admits, repeats } = scenario;
      test(`at any request of ${title}, ${concurrency} in flight`, async () => {
        const alice = { name: 'publisher-alice', keys, request, concurrency };
        const undisturbed = await run(world, alice);
        assert.equal(undisturbed.error, undefined);
        await readers.assertSound(undisturbed.states, 'undisturbed', admits);
        await readers.assertEnded(undisturbed, 'undisturbed');
        // A rerun of a republish that had claimed finishes that one, and then does its own.
        const endings = [undisturbed, ...(repeats === true ? [await run(undisturbed, alice)] : [])];
        const thens: World[] = [];
        for (const ending of endings) thens.push(await followed(ending, scenario, 60_000, 'undisturbed'));
        for (const kind of ['before', 'after'] as const) {
          for (let at = 1; at <= undisturbed.requests.length; at += 1) {
            const died = await run(world, alice, { kind, at });
            const where = `dead ${kind} request ${at}, ${died.requests.at(-1)}`;
            await readers.assertSound(died.states, where, admits);
            const rerun = await run(died, { ...alice, name: 'publisher-again' });
            assert.equal(rerun.error, undefined, where);
            await readers.assertSound(rerun.states, `rerun, ${where}`, admits);
            await readers.assertEnded(rerun, `rerun, ${where}`);
            assert.deepEqual(furthest(rerun, endings, await explained(rerun)), [], where);
            // By then nothing may be left over, whether or not somebody can explain it.
            const next = await followed(rerun, scenario, 60_000, `the publishes after it, ${where}`);
            assert.deepEqual(furthest(next, thens, new Set()), [], `the publishes after it, ${where}`);
            readers.counts.add('points tried');
            readers.counts.add('reruns');
          }
        }
      });
    }
  }

  test('between claim and commit of several suites, answers coming in any order', async (t) => {
    const alice = { name: 'publisher-alice', keys, request: intoTwo, concurrency: 16 };
    const undisturbed = await run(one, alice);
    const atEnd: Exploration['atEnd'] = async ({ objects, time, processes }) => {
      if (processes.every(({ held }) => held === undefined)) return [];
      const rerun = await run({ objects, time }, { ...alice, name: 'publisher-again' });
      if (rerun.error !== undefined) return [`the rerun failed: ${rerun.error}`];
      return differences(rerun.objects, undisturbed.objects, await explained(rerun));
    };
    const begin = () => race(one, [alice], { thaw: 'never' });
    const check = new RepositoryCheck(keys);
    assertExplored(t, await exploreSome({ check, begin, mayHold: insideClaim, atEnd }, 1, 100));
  });
});

test('every death was counted', (t) => t.diagnostic(`${readers.counts}`));

test('what a dead run has condemned is deleted by whoever publishes next, days later too', async () => {
  const alice = publisher(expiry.request);
  const { requests } = await run(expiry.world, alice);
  const deletion = requests.findIndex((asked) => asked.startsWith('DELETE'));
  assert.ok(deletion > 0);
  const died = await run(expiry.world, alice, { kind: 'before', at: deletion + 1 });
  const next = await followed(later(died, day), expiry, day, 'days later');
  const known = await readers.explained(next);
  assert.deepEqual(
    [...next.objects.keys()].filter((key) => key.includes('/by-hash/') && !known.has(key)),
    [],
  );
});
