import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { suiteOf } from '../publish/publishing.ts';
import { type Ran, run, type World } from './mortal-run.ts';
import { Readers } from './readers.ts';
import { debs, keys, publisher, scenarios, strangers, suitesOf, update } from './scenarios.ts';

after(() => debs[Symbol.dispose]());

/** Copies to canonical names, and the Release files beside them, which are written without a condition. */
const writesName = /^(?:COPY|PUT) dists\/(?!.*\/by-hash\/)(?!.*\/InRelease$)/;

describe('invariants 1, 2 and 4 hold when a run freezes while another publishes from beginning to end', () => {
  for (const scenario of scenarios) {
    const { title, world, request, admits = [] } = scenario;
    test(`at any request of ${title}`, async (t) => {
      const readers = new Readers();
      const suites = suitesOf(scenario);
      const alice = { name: 'publisher-alice', keys, request };
      const rival = publisher({ suites: suites.map((suite) => suiteOf(suite, strangers[0])) });
      const meanwhile = (now: World) => run(now, rival);
      const undisturbed = await run(world, alice);
      const right = await Promise.all([
        readers.packages(await meanwhile(undisturbed), suites),
        readers.packages(await run(await meanwhile(world), alice), suites),
      ]);
      for (const kind of ['answered', 'under way'] as const) {
        for (const [index, asked] of undisturbed.requests.entries()) {
          const where = `frozen, with its answer ${kind}, at request ${index + 1}, ${asked}`;
          const frozen = await run(world, alice, { kind, at: index + 1, meanwhile });
          assert.equal(frozen.error, undefined, where);
          await readers.assertSound(frozen.states.slice(0, frozen.statesUntilThaw), where, admits);
          // Whoever cannot tell whether its write came in time puts the name right, and while it does, the name may be old.
          const stale = writesName.test(asked) ? (['canonical'] as const) : [];
          await readers.assertSound(frozen.states.slice(frozen.statesUntilThaw - 1), where, [...admits, ...stale]);
          await readers.assertEnded(frozen, where);
          readers.assertPackages(await readers.packages(frozen, suites), right, where);
          readers.counts.add('points tried');
        }
      }
      t.diagnostic(`${readers.counts}`);
    });
  }
});

describe('by design, what a machine leaves that freezes in mid-request and never wakes', () => {
  const readers = new Readers();
  const list = 'dists/sid/main/binary-amd64/Packages.gz';
  const sid = (path: string) => publisher({ suites: [suiteOf('sid', path)] });

  async function frozenForGood(asked: string): Promise<Ran> {
    const alice = publisher(update.request);
    const { requests } = await run(update.world, alice);
    const at = requests.indexOf(asked) + 1;
    assert.ok(at > 0, asked);
    return run(update.world, alice, { kind: 'dead', at, meanwhile: (now) => run(now, sid(strangers[0])) });
  }

  test('is one canonical name that is old, by hash everything is right, and the next change of that index mends it', async () => {
    const left = await frozenForGood(`COPY ${list}`);
    await assert.rejects(readers.assertSound([left.objects], ''), (error) => {
      assert.ok(error instanceof assert.AssertionError);
      assert.deepEqual(error.actual, [
        {
          invariant: 1,
          rule: 'canonical',
          suite: 'sid',
          what: 'main/binary-amd64/Packages.gz of sid is not what the head says',
        },
      ]);
      return true;
    });
    const next = await run(left, sid(strangers[1]));
    assert.equal(next.error, undefined);
    await readers.assertEnded(next, 'the next publish');
  });

  test('is an old Release, which the next run mends that finds nothing else to do', async () => {
    const left = await frozenForGood('PUT dists/sid/Release');
    await readers.assertSound([left.objects], 'readers of InRelease see nothing of it');
    await assert.rejects(readers.assertEnded(left, ''), /Release of sid is not the text of its InRelease/);
    const next = await run(left, sid(strangers[0]));
    assert.equal(next.error, undefined);
    await readers.assertEnded(next, 'the next run');
  });

  test('is never an old head', async () => {
    const left = await frozenForGood('PUT dists/sid/InRelease');
    await readers.assertSound(left.states, 'InRelease');
    await readers.assertEnded(await run(left, sid(strangers[0])), 'the next run');
  });
});
