import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import { run } from '../crash/mortal-run.ts';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { exploreAll, exploreSome, type Scenario, type Wanted } from './exploration.ts';
import { bodies } from './object-model.ts';
import { day, history, type Publisher, race, takeUntil } from './publishers.ts';
import { assertSound } from './races.ts';

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
const wanted: Wanted = { cleaner: ['sid', 'four_1.0_amd64.deb'], returner: ['forky', 'hello_1.0_amd64.deb'] };
// By design: a test of its own tells when.
const admits: Scenario['admits'] = ['claimed-pool'];

describe('invariant 2 holds when something returns just as it is removed', () => {
  test('a pool file that another suite lists, in every order', async (t) => {
    const returner = into('forky', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner], { patience: 200 });
    assertSound(t, await exploreAll({ check, begin, admits, wanted }, 1000));
  });

  test('a pool file while the cleaner dies or sleeps, in orders drawn by chance', async (t) => {
    const returner = into('forky', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner]);
    const mayHold: Scenario['mayHold'] = ({ key, verb }, name) =>
      name === 'cleaner' && (verb === 'DELETE' || verb === 'LIST' || key.endsWith('/pool.json'));
    assertSound(t, await exploreSome({ check, begin, mayHold, admits, wanted }, 1, 200));
  });

  test('an index whose content comes back while it is condemned, in every order', async (t) => {
    const condemner = into('sid', helloE, { name: 'condemner' });
    const returner = into('sid', helloA, { name: 'returner' });
    const begin = () => race(expiring, [condemner, returner], { patience: 200 });
    assertSound(t, await exploreAll({ check, begin }, 1000));
  });
});

describe('invariant 2 holds when removal goes other ways', () => {
  const deadReturner = into('forky', helloA, { name: 'returner' });
  /** The returner stands still after its claim; the exploration thaws it, or never does. */
  const afterClaim: Scenario['mayHold'] = ({ key, verb }, name) =>
    name === 'returner' && verb === 'PUT' && key === '.apt-publish/forky.json';

  test('by design, a file of a claimed generation may be missing until its second look at the pool', async () => {
    const begin = () => race(due, [cleaner, deadReturner], { patience: 200 });
    const { violations } = await exploreAll({ check, begin }, 1000);
    assert.ok(violations.length > 0);
    for (const { what, trace } of violations) {
      assert.match(
        what,
        /invariant 2 \(claimed-pool\): the record of forky lists .*hello_1\.0_amd64\.deb, which is missing/,
      );
      const claim = trace.findIndex((step) => /^returner PUT \.apt-publish\/forky\.json/.test(step));
      assert.ok(claim > 0);
      assert.equal(
        trace.slice(claim).find((step) => /^returner GET \.apt-publish\/pool\.json/.test(step)),
        undefined,
      );
    }
  });

  test('a pool file that returns to the suite that removes it, in many orders', async (t) => {
    const returner = into('sid', helloA, { name: 'returner' });
    const begin = () => race(due, [cleaner, returner], { patience: 200 });
    const both: Wanted = { ...wanted, returner: ['sid', 'hello_1.0_amd64.deb'] };
    assertSound(t, await exploreAll({ check, begin, admits, wanted: both }, 500));
  });

  test('a rerun brings back what was removed under a dead claim, in every order', async (t) => {
    const begin = () => race(due, [cleaner, deadReturner], { patience: 200, thaw: 'never' });
    const atEnd: Scenario['atEnd'] = async ({ objects, time, processes }) => {
      if (processes.every(({ held }) => held === undefined)) return [];
      const rerun = await run({ objects, time }, { ...deadReturner, name: 'rerunner' });
      if (rerun.error !== undefined) return [`the rerun failed: ${rerun.error}`];
      return (await check.findings(bodies(rerun.objects), true)).map(({ what }) => what);
    };
    assertSound(t, await exploreAll({ check, begin, mayHold: afterClaim, admits, atEnd }, 1000));
  });

  test('others give up a claim whose file is gone, and publish, in every order', async (t) => {
    const died = await run(due, deadReturner);
    const claim = died.requests.indexOf('PUT .apt-publish/forky.json') + 1;
    const claimed = await run(due, deadReturner, { kind: 'after', at: claim });
    // The cleaner has looked just before that claim.
    const { objects, time } = await run(due, cleaner);
    const isForky = (key: string) => key === '.apt-publish/forky.json' || key.startsWith('dists/forky/');
    const both = new Map([...objects, ...[...claimed.objects].filter(([key]) => isForky(key))]);
    const others = [into('forky', five, { name: 'alice' }), into('forky', two, { name: 'bob' })];
    const begin = () => race({ objects: both, time: time + day }, others, { patience: 200 });
    const all: Wanted = { alice: ['forky', 'five_1.0_amd64.deb'], bob: ['forky', 'two_1.0_amd64.deb'] };
    assertSound(t, await exploreAll({ check, begin, admits: ['claimed-pool', 'canonical'], wanted: all }, 1500));
  });

  test('a deletion is not sent after its time, however long the store asks to wait', async (t) => {
    const begin = () => race(due, [{ ...cleaner, through: slowDeletes }, deadReturner], { patience: 1000 });
    assertSound(t, await exploreSome({ check, begin, admits, wanted }, 1, 40));
  });

  test('what is condemned is known for as long as anybody may delete it', async () => {
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

  test('a file that two suites have listed is removed when neither does', async () => {
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
