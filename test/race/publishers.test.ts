import { after, describe, test } from 'node:test';
import { poolRecordKey } from '../../src/publish/layout.ts';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { exploreAll, exploreSome, type Scenario, type Wanted } from './exploration.ts';
import { bodies } from './object-model.ts';
import { history, type Publisher, race } from './publishers.ts';
import { assertSound, commutes, insideClaim, writesName } from './races.ts';

const keys = await fixture('ed25519');
const debs = new Debs();
after(() => debs[Symbol.dispose]());

const base = debs.add('base', { Package: 'base' });
const shared = debs.add('shared', { Package: 'shared' });
const own = (name: string, architecture = 'amd64') =>
  debs.add(`${name}-${architecture}`, { Package: name, Architecture: architecture });

function publisher(name: string, suite: string, paths: readonly string[], more: Partial<Publisher> = {}): Publisher {
  return { name, request: { suites: [suiteOf(suite, ...paths)] }, ...more };
}

/** Unsigned suites have fewer requests, so that all orders can be tried; their head is Release. */
const unsigned = new RepositoryCheck();
const signed = new RepositoryCheck(keys);
const plain = await history([publisher('first-publisher', 'sid', [base])]);
const authentic = await history([publisher('first-publisher', 'sid', [base], { keys })]);
const nothing = { objects: new Map(), time: plain.time };

const deb = (name: string) => `${name}_1.0_amd64.deb`;
const wanted: Wanted = { alice: ['sid', deb('alice')], bob: ['sid', deb('bob')], carol: ['sid', deb('carol')] };
/** Claims, the second look at the pool, and commits: a publisher that freezes there has written every name in time. */
const betweenNames: Scenario['mayHold'] = (request, name) =>
  name === 'alice' && (request.key === poolRecordKey || (insideClaim(request) && !writesName(request)));

describe('invariants 1, 2 and 4 hold when two publish into one suite', () => {
  const alice = publisher('alice', 'sid', [own('alice')]);
  const bob = publisher('bob', 'sid', [own('bob')]);
  const scenario: Scenario = { check: unsigned, begin: () => race(plain, [alice, bob]), isLocal: commutes, wanted };

  test('in every order of their requests', async (t) => {
    assertSound(t, await exploreAll(scenario, 2000));
  });

  test('in every order, when there is no suite yet', async (t) => {
    assertSound(t, await exploreAll({ ...scenario, begin: () => race(nothing, [alice, bob]) }, 2000));
  });

  test('in every order, when one of them dies after its claim', async (t) => {
    // A publisher that stands still for good is dead; that it goes on after all is another test.
    const begin = () => race(plain, [alice, bob], { patience: 200, thaw: 'never' });
    const mayHold: Scenario['mayHold'] = (request, name) => name === 'alice' && insideClaim(request);
    assertSound(t, await exploreAll({ ...scenario, begin, mayHold }, 3000));
  });

  test('in every order, when one of them sleeps through its limit between two writes of names', async (t) => {
    const begin = () => race(plain, [alice, bob], { patience: 200 });
    assertSound(t, await exploreAll({ ...scenario, begin, mayHold: betweenNames }, 3000));
  });

  test('at the end of every order, when one of them sleeps through its limit while it writes a name', async (t) => {
    const begin = () => race(plain, [alice, bob], { patience: 200 });
    const mayHold: Scenario['mayHold'] = (request, name) => name === 'alice' && writesName(request);
    // By design: it cannot tell when its write came, so it puts the name right, which may be old while it does.
    assertSound(t, await exploreAll({ ...scenario, begin, mayHold, admits: ['canonical'] }, 3000));
  });

  test('at the end of orders drawn by chance, when requests are under way for as long as they like', async (t) => {
    const begin = () => race(plain, [alice, bob], { patience: Number.POSITIVE_INFINITY });
    // By design, as above: whatever comes late is put right by whoever sent it.
    assertSound(t, await exploreSome({ ...scenario, begin, admits: ['canonical'] }, 1, 150));
  });

  test('in orders drawn by chance, many requests in flight, signed', async (t) => {
    const both = [alice, bob].map((each) => ({ ...each, keys, concurrency: 16 }));
    assertSound(t, await exploreSome({ check: signed, begin: () => race(authentic, both), wanted }, 1, 400));
  });

  test('in orders drawn by chance, one request in flight, signed', async (t) => {
    const begin = () =>
      race(
        authentic,
        [alice, bob].map((each) => ({ ...each, keys })),
        { patience: 200 },
      );
    assertSound(t, await exploreSome({ check: signed, begin, isLocal: commutes, wanted }, 1, 100));
  });
});

describe('invariants 1, 2 and 4 hold for more publishers', () => {
  const three = (['alice', 'bob', 'carol'] as const).map((name) =>
    publisher(name, 'sid', [own(name), own(name, 'arm64')], { keys, concurrency: 16 }),
  );
  const scenario = { check: signed, wanted };

  test('three into one suite, in orders drawn by chance', async (t) => {
    assertSound(t, await exploreSome({ ...scenario, begin: () => race(authentic, three) }, 1, 150));
  });

  test('three, one of whom dies after its claim while the others wait', async (t) => {
    const begin = () => race(authentic, three, { thaw: 'never' });
    const mayHold: Scenario['mayHold'] = (request, name) => name === 'alice' && insideClaim(request);
    assertSound(t, await exploreSome({ ...scenario, begin, mayHold }, 1, 150));
  });

  test('three, one of whom sleeps through its limit and wakes after the others', async (t) => {
    const begin = () => race(authentic, three, { thaw: 'last' });
    const mayHold: Scenario['mayHold'] = (request, name) => name === 'alice' && insideClaim(request);
    const atEnd: Scenario['atEnd'] = async (stepper) => {
      const next = await history([publisher('next', 'sid', [base], { keys })], stepper);
      return (await signed.findings(bodies(next.objects), true)).map(({ what }) => `after the next run, ${what}`);
    };
    // By design: what it had under way while it slept may be old until it has put it right, and Release until the next run.
    const admits: Scenario['admits'] = ['canonical'];
    assertSound(t, await exploreSome({ ...scenario, begin, mayHold, admits, leavesOldRelease: true, atEnd }, 1, 100));
  });

  test('two into two suites that share a pool file', async (t) => {
    const begin = () => race(plain, [publisher('alice', 'sid', [shared]), publisher('bob', 'forky', [shared])]);
    const both: Wanted = { alice: ['sid', deb('shared')], bob: ['forky', deb('shared')] };
    assertSound(t, await exploreAll({ check: unsigned, begin, wanted: both }, 2000));
  });
});
