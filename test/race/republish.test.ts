import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { run } from '../crash/mortal-run.ts';
import { changeSettings, Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { exploreAll, exploreSome, type Scenario } from './exploration.ts';
import { bodies } from './object-model.ts';
import { day, history, type Publisher, race, runToEnd } from './publishers.ts';
import { assertSound, insideClaim } from './races.ts';

const debs = new Debs();
after(() => debs[Symbol.dispose]());
const check = new RepositoryCheck();
const publisher = (name: string, suite = 'sid'): Publisher => ({
  name,
  request: { suites: [suiteOf(suite, debs.add(name, { Package: name }))] },
});
const republisher = (name: string): Publisher => ({
  name,
  request: { command: 'republish', suites: [{ suite: 'sid' }], ...changeSettings },
});

const alice = publisher('alice');
const base = await history([publisher('base')]);
/** Exactly what alice is about to stage was staged before, by a run of hers that died before its claim. */
const staged = await (async () => {
  const { requests } = await run(base, alice);
  const claim = requests.indexOf('PUT .apt-publish/sid.json') + 1;
  const { objects, time } = await run(base, alice, { kind: 'before', at: claim });
  return { objects, time: time + day };
})();
const wanted = { alice: ['sid', 'alice_1.0_amd64.deb'] } as const;

function orphans(
  { objects }: { readonly objects: ReadonlyMap<string, unknown> },
  known: ReadonlySet<string>,
): string[] {
  return [...objects.keys()].filter((key) => key.includes('/by-hash/') && !known.has(key));
}

describe('invariants 1, 2 and 4 hold when a republish sweeps orphans', () => {
  const begin = (from = base) => race(from, [alice, republisher('republisher')], { patience: 200 });

  test('beside a publisher whose staged indexes look like orphans, in every order', async (t) => {
    assertSound(t, await exploreAll({ check, begin: () => begin(), wanted }, 3000));
  });

  test('that another publisher is about to stage again, in every order', async (t) => {
    assertSound(t, await exploreAll({ check, begin: () => begin(staged), wanted }, 3000));
  });

  test('and stands still or dies while it does, in orders drawn by chance', async (t) => {
    const mayHold: Scenario['mayHold'] = (request, name) =>
      name === 'republisher' && (request.verb === 'LIST' || request.verb === 'DELETE' || insideClaim(request));
    const scenario = { check, mayHold, wanted, admits: ['canonical'] } as const;
    const from = (thaw: 'any' | 'never') => () => race(staged, [alice, republisher('republisher')], { thaw });
    assertSound(t, await exploreSome({ ...scenario, begin: from('never') }, 1, 100));
    assertSound(t, await exploreSome({ ...scenario, begin: from('any') }, 1, 100));
  });
});

test('two claims after a sweep, no orphan is left', async () => {
  const stepper = race(staged, [republisher('sweeper')]);
  await runToEnd(stepper);
  const { objects } = await history([publisher('later')], { objects: stepper.objects, time: stepper.time + day });
  assert.notDeepEqual(orphans(staged, await check.explained(bodies(staged.objects))), []);
  assert.deepEqual(orphans({ objects }, await check.explained(bodies(objects))), []);
});
