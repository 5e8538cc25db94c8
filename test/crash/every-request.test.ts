import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { type Scenario as Exploration, exploreSome } from '../race/exploration.ts';
import { bodies, type Objects } from '../race/object-model.ts';
import { day, type Publisher, race } from '../race/publishers.ts';
import { assertSound as assertExplored, insideClaim } from '../race/races.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { history, run, type World } from './mortal-run.ts';
import { differences, suitesOf, unlisted } from './same-state.ts';

const keys = await fixture('ed25519');
const debs = new Debs();
after(() => debs[Symbol.dispose]());

/** A publish, and the repository in which it begins. */
interface Scenario {
  readonly title: string;
  readonly world: World;
  readonly request: Publisher['request'];
}

const hello = debs.add('hello', {}, { 'usr/bin/hello': 'hello' });
const other = debs.add('hello-other', {}, { 'usr/bin/hello': 'hello, other' });
const docs = debs.add('docs', { Package: 'docs', Architecture: 'all' }, { 'usr/share/doc/docs/a': 'a' });
const arm = debs.add('hello-arm', { Architecture: 'arm64' });
const named = (name: string) => debs.add(name, { Package: name });
const [two, three, four, five] = [named('two'), named('three'), named('four'), named('five')] as const;
const [six, seven] = [named('six'), named('seven')] as const;

let runs = 0;
function publisher(request: Publisher['request']): Publisher {
  runs += 1;
  return { name: `publisher-${runs}`, keys, request };
}
const into = (suite: string, ...paths: string[]) => publisher({ suites: [suiteOf(suite, ...paths)] });
const replacing = (suite: string, ...paths: string[]) =>
  publisher({ suites: [suiteOf(suite, ...paths)], onConflict: 'replace' });
const later = ({ objects, time }: World, by: number): World => ({ objects, time: time + by });

const empty: World = await history([]);
const one = await history([into('sid', hello)]);
const withContents = await history([publisher({ suites: [suiteOf('sid', hello, docs)], contents: true })]);
const long = await history([into('sid', hello), into('sid', two), into('sid', three), into('sid', four)]);
/** `hello` is in the pool, and no generation that is kept lists it any more. Suite forky lists what sid does, but for hello. */
const cleaning = await history([
  into('sid', hello),
  replacing('sid', other),
  into('forky', two),
  into('sid', two),
  into('sid', three),
  into('sid', four),
]);

const twoSuites = { suites: [suiteOf('sid', two), suiteOf('forky', two, hello)] };

const scenarios: readonly Scenario[] = [
  { title: 'a first publish', world: empty, request: into('sid', hello, docs, arm).request },
  { title: 'an update', world: one, request: into('sid', two, docs, arm).request },
  { title: 'a package that is replaced', world: one, request: replacing('sid', other).request },
  { title: 'several suites in one run', world: one, request: twoSuites },
  {
    title: 'Contents',
    world: withContents,
    request: { suites: [suiteOf('sid', two, other)], contents: true, onConflict: 'replace' },
  },
  { title: 'no change', world: one, request: into('sid', hello).request },
  {
    title: 'a new description alone',
    world: one,
    request: {
      suites: [suiteOf('sid', hello)],
      release: { origin: 'Example', label: 'Example', description: 'What this suite is for' },
    },
  },
  { title: 'old generations that expire', world: later(long, 3 * day), request: into('sid', five).request },
  { title: 'pool files that are cleaned away', world: later(cleaning, 9 * day), request: into('sid', five).request },
];

const check = new RepositoryCheck(keys);
/** Readers at every instant of a run. */
async function assertSound(states: readonly Objects[], where: string): Promise<void> {
  for (const [index, objects] of states.entries()) {
    const snapshot = bodies(objects);
    const before = states[index - 1];
    const found = await check.findings(snapshot);
    if (before !== undefined) found.push(...check.headsGoneBack(bodies(before), snapshot));
    assert.deepEqual(found, [], where);
  }
}

/** What may be left over after a rerun: objects that are condemned, and pool files that the record still has to remove. */
async function explained({ objects }: World): Promise<Set<string>> {
  return new Set([...(await check.explained(bodies(objects))), ...unlisted(objects)]);
}

/**
 * Suites whose head was committed by a run that died before it wrote Release beside it. Their rerun finds nothing to do; Release
 * stays one generation late, and apt, which reads InRelease, does not see it. The next publish puts it right.
 */
async function lateReleases({ objects }: World): Promise<string[]> {
  const found = await check.findings(bodies(objects), true);
  const apart = found.filter(({ rule }) => rule === 'head').map(({ suite }) => suite);
  return found.filter(({ rule, suite }) => rule === 'release' && !apart.includes(suite)).map(({ suite }) => suite);
}

/** Others publish something else twice, so that what is left over is found, and forgotten. */
async function followed(world: World, by: number, where: string): Promise<World> {
  const suites = [...new Set(['sid', ...suitesOf(world)])];
  let last: World = world;
  const states: Objects[] = [];
  for (const [index, path] of [six, seven].entries()) {
    const request = { suites: suites.map((suite) => suiteOf(suite, path)) };
    const next = await run(later(last, by), { name: `follower-${index}`, keys, request });
    assert.equal(next.error, undefined, where);
    states.push(...next.states);
    last = next;
  }
  await assertSound(states, where);
  return last;
}

describe('invariants 1, 2 and 3 hold when a run dies', () => {
  const total = { points: 0, reruns: 0, late: 0 };
  for (const concurrency of [1, 16]) {
    for (const { title, world, request } of scenarios) {
      test(`at any request of ${title}, ${concurrency} in flight`, async () => {
        const alice = { name: 'publisher-alice', keys, request, concurrency };
        const undisturbed = await run(world, alice);
        assert.equal(undisturbed.error, undefined);
        await assertSound(undisturbed.states, 'undisturbed');
        const then = await followed(undisturbed, 60_000, 'undisturbed');
        for (const kind of ['before', 'after'] as const) {
          for (let at = 1; at <= undisturbed.requests.length; at += 1) {
            const died = await run(world, alice, { kind, at });
            const where = `dead ${kind} request ${at}, ${died.requests.at(-1)}`;
            await assertSound(died.states, where);
            const reruns = await run(died, { ...alice, name: 'publisher-again' });
            assert.equal(reruns.error, undefined, where);
            await assertSound(reruns.states, `rerun, ${where}`);
            const late = await lateReleases(died);
            const ended = await check.findings(bodies(reruns.objects), true);
            assert.deepEqual(
              ended.filter(({ rule, suite }) => rule !== 'release' || !late.includes(suite)),
              [],
              where,
            );
            const lateNames = late.flatMap((suite) => [
              `dists/${suite}/Release differs`,
              `dists/${suite}/Release is missing`,
            ]);
            const differ = differences(reruns.objects, undisturbed.objects, await explained(reruns));
            assert.deepEqual(
              differ.filter((what) => !lateNames.includes(what)),
              [],
              where,
            );
            // By then nothing may be left over, whether or not somebody can explain it.
            const next = await followed(reruns, 60_000, `the publishes after it, ${where}`);
            assert.deepEqual(
              differences(next.objects, then.objects, new Set()),
              [],
              `the publishes after it, ${where}`,
            );
            total.late += late.length;
            total.points += 1;
            total.reruns += reruns.requests.length;
          }
        }
      });
    }
  }
  test('between claim and commit of several suites, answers coming in any order', async (t) => {
    const alice = { name: 'publisher-alice', keys, request: twoSuites, concurrency: 16 };
    const undisturbed = await run(one, alice);
    const atEnd: Exploration['atEnd'] = async ({ objects, time, processes }) => {
      if (processes.every(({ held }) => held === undefined)) return [];
      const died = { objects, time };
      const rerun = await run(died, { ...alice, name: 'publisher-again' });
      if (rerun.error !== undefined) return [`the rerun failed: ${rerun.error}`];
      const late = await lateReleases(died);
      const known = await explained(rerun);
      return differences(rerun.objects, undisturbed.objects, known).filter(
        (what) => !late.some((suite) => what.startsWith(`dists/${suite}/Release `)),
      );
    };
    const begin = () => race(one, [alice], { thaw: 'never' });
    assertExplored(
      t,
      await exploreSome({ check, begin, mayHold: insideClaim, atEnd, admits: { atEnd: ['release'] } }, 1, 100),
    );
  });

  test('and every point was tried', (t) => {
    assert.ok(total.points > 400, `${total.points} points`);
    t.diagnostic(
      `${total.points} deaths, each with a rerun and a later publish; ${total.reruns} requests in reruns; ${total.late} times Release stayed late until the next publish`,
    );
  });
});

const probing = 'PUT .apt-publish/probe';

describe('a run lives on when an answer is lost', () => {
  let points = 0;
  const kind = 'lost';
  for (const { title, world, request } of scenarios) {
    test(`at any request of ${title}`, async () => {
      const alice = { name: 'publisher-alice', keys, request };
      const undisturbed = await run(world, alice);
      for (const [index, asked] of undisturbed.requests.entries()) {
        const at = index + 1;
        if (asked === probing) continue;
        const disturbed = await run(world, alice, { kind, at });
        const where = `no answer to request ${at}, ${asked}`;
        assert.equal(disturbed.error, undefined, where);
        await assertSound(disturbed.states, where);
        assert.deepEqual(differences(disturbed.objects, undisturbed.objects, new Set()), [], where);
        points += 1;
      }
    });
  }
  test('and every point was tried', (t) => {
    assert.ok(points > 100, `${points} points`);
    t.diagnostic(`${points} lost answers`);
  });
});

describe('known defects', () => {
  test('the rerun of a run that died between InRelease and Release writes Release', {
    todo: 'the rerun sees no change',
  }, async () => {
    const alice = { ...into('sid', two), concurrency: 1 };
    const { requests } = await run(one, alice);
    const died = await run(one, alice, { kind: 'before', at: requests.indexOf('PUT dists/sid/Release') + 1 });
    const rerun = await run(died, { ...alice, name: 'publisher-again' });
    assert.deepEqual(await check.findings(bodies(rerun.objects), true), []);
  });

  test('a probe whose answer is lost is tried again', {
    todo: 'the bare TransientStoreError ends the run',
  }, async () => {
    const { requests } = await run(empty, into('sid', hello));
    const disturbed = await run(empty, into('sid', hello), { kind: 'lost', at: requests.lastIndexOf(probing) + 1 });
    assert.equal(disturbed.error, undefined);
  });

  test('what a dead run has condemned is deleted by whoever publishes next', {
    todo: 'only within three minutes',
  }, async () => {
    const world = later(long, 3 * day);
    const { requests } = await run(world, into('sid', five));
    const deletion = requests.findIndex((asked) => asked.startsWith('DELETE'));
    const died = await run(world, into('sid', five), { kind: 'before', at: deletion + 1 });
    const next = await followed(later(died, day), day, 'days later');
    const known = await check.explained(bodies(next.objects));
    assert.deepEqual(
      [...next.objects.keys()].filter((key) => key.includes('/by-hash/') && !known.has(key)),
      [],
    );
  });
});
