import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { run } from '../crash/mortal-run.ts';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { exploreAll, exploreSome, type Scenario } from './exploration.ts';
import { bodies } from './object-model.ts';
import { day, history, type Publisher, race, takeUntil } from './publishers.ts';
import { assertSound, nobodyLost } from './races.ts';

const debs = new Debs();
after(() => debs[Symbol.dispose]());
const check = new RepositoryCheck();

/** Versions of one package under one name: replacing one by another takes the old file out of the list. */
const hello = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((content) =>
  debs.add(`hello-${content}`, {}, { 'usr/bin/hello': content }),
);
const [helloA = '', helloB = '', helloC = '', helloD = '', helloE = '', helloF = '', helloG = ''] = hello;
const other = (name: string) => debs.add(name, { Package: name });
const [two, three, four, five] = [other('two'), other('three'), other('four'), other('five')] as const;

let count = 0;
function into(suite: string, path: string, more: Partial<Publisher> & { name?: string } = {}): Publisher {
  count += 1;
  return { name: `publisher-${count}`, request: { suites: [suiteOf(suite, path)], onConflict: 'replace' }, ...more };
}
type World = Awaited<ReturnType<typeof history>>;
const later = ({ objects, time }: World, by: number): World => ({ objects, time: time + by });

const file = 'pool/main/h/hello/hello_1.0_amd64.deb';
/** The file of `helloA` is in the pool, unlisted for more than a week, and reached by no generation that is kept. */
const due = later(
  await history([into('sid', helloA), into('sid', helloB), into('sid', two), into('sid', three)]),
  8 * day,
);
/** The list of the first generation will be condemned by the next claim. */
const expiring = later(
  await history([into('sid', helloA), into('sid', helloB), into('sid', helloC), into('sid', helloD)]),
  2 * day,
);

const cleaner = into('sid', four, { name: 'cleaner' });
const wanted = { cleaner: ['sid', 'four_1.0_amd64.deb'], returner: ['forky', 'hello_1.0_amd64.deb'] } as const;
// Between a claim and its second look at the pool, a file that it names may be missing: nobody follows that generation yet.
const admits: Scenario['admits'] = { during: ['claimed-pool'] };

describe('invariant 2 holds when something returns just as it is removed', () => {
  test('a pool file that another suite lists, in every order', async (t) => {
    const returner = into('forky', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner], { patience: 200 });
    assertSound(t, await exploreAll({ check, begin, admits, atEnd: nobodyLost(check, wanted) }, 1000));
  });

  test('a pool file while the cleaner dies or sleeps, in orders drawn by chance', async (t) => {
    const returner = into('forky', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner]);
    const mayHold: Scenario['mayHold'] = ({ key, verb }, name) =>
      name === 'cleaner' && (verb === 'DELETE' || verb === 'LIST' || key.endsWith('/pool.json'));
    assertSound(t, await exploreSome({ check, begin, mayHold, admits, atEnd: nobodyLost(check, wanted) }, 1, 200));
  });

  test('an index whose content comes back while it is condemned, in every order', async (t) => {
    const condemner = into('sid', helloE, { name: 'condemner' });
    const returner = into('sid', helloA, { name: 'returner' });
    const begin = () => race(expiring, [condemner, returner], { patience: 200 });
    assertSound(t, await exploreAll({ check, begin }, 1000));
  });
});

describe('known defects', () => {
  test('a pool file that returns to the suite that removes it', {
    todo: 'after a lost claim it is not uploaded again',
  }, async (t) => {
    const returner = into('sid', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner], { patience: 200 });
    assertSound(t, await exploreAll({ check, begin, admits }, 300));
  });

  test('a rerun brings back what was removed under a dead claim', {
    todo: 'the rerun refuses to finish the claim',
  }, async (t) => {
    const returner = into('forky', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner], { patience: 200, thaw: 'never' });
    const mayHold: Scenario['mayHold'] = ({ key, verb }, name) =>
      name === 'returner' && verb === 'PUT' && key === '.apt-publish/forky.json';
    const atEnd: Scenario['atEnd'] = async ({ objects, time, processes }) => {
      if (processes.every(({ held }) => held === undefined)) return [];
      const rerun = await run({ objects, time }, { ...returner, name: 'rerunner' });
      return rerun.error === undefined ? [] : [`the rerun failed: ${rerun.error}`];
    };
    assertSound(t, await exploreAll({ check, begin, mayHold, admits, atEnd }, 1000));
  });

  test('a deletion is not sent after its time', { todo: 'a retry asks nobody' }, async (t) => {
    const returner = into('forky', helloA, { name: 'returner' });
    const begin = () => race(due, [{ ...cleaner, through: slowDeletes }, returner], { patience: 1000 });
    assertSound(t, await exploreSome({ check, begin, admits, atEnd: nobodyLost(check, wanted) }, 1, 40));
  });

  test('what is condemned is known for as long as anybody may delete it', {
    todo: 'it is forgotten a minute early',
  }, async () => {
    const stepper = race(expiring, [
      into('sid', helloE),
      into('sid', helloF),
      into('sid', helloG),
      into('sid', helloA),
    ]);
    await takeUntil(stepper, 0);
    stepper.time = expiring.time + 178_000;
    await takeUntil(stepper, 1, ({ verb, key }) => verb === 'PUT' && key === 'dists/sid/Release');
    stepper.time = expiring.time + 182_000;
    await takeUntil(stepper, 2);
    await takeUntil(stepper, 3);
    await takeUntil(stepper, 1);
    assert.deepEqual(await check.findings(bodies(stepper.objects), true), []);
  });

  test('a file that two suites have listed is removed when neither does', {
    todo: 'settled files are forgotten for good',
  }, async () => {
    const both = await history([into('sid', helloA), into('forky', helloA), into('sid', helloB), into('sid', two)]);
    const onlyForky = await history([into('sid', three), into('sid', four)], later(both, 8 * day));
    const replaced = await history([into('forky', helloB), into('forky', two), into('forky', three)], onlyForky);
    const { objects } = await history([into('forky', four), into('forky', five)], later(replaced, 8 * day));
    assert.equal(objects.has(file), false);
  });
});

/** A store that is overloaded when it is to delete, and says how long to wait, twice. */
function slowDeletes(store: ObjectStore): ObjectStore {
  let refused = 0;
  return {
    ...store,
    delete: async (keys) => {
      if (keys.some((key) => key === file) && refused < 2) {
        refused += 1;
        throw new TransientStoreError({
          kind: 'throttled',
          ambiguous: false,
          message: 'Slow down.',
          retryAfter: 50_000,
        });
      }
      await store.delete(keys);
    },
  };
}
