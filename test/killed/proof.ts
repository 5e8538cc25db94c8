import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { type Deaths, killOften } from './deaths.ts';
import type { Places } from './places.ts';
import { moments } from './same-snapshot.ts';
import { fillWorkspace, scenarios } from './scenarios.ts';

export interface DeathProof {
  readonly open: () => Promise<Places>;
  /** Of each scenario. */
  readonly kills: number;
  readonly seed: number;
  readonly skip: string | false;
}

/** The tests of one kind of store: the action's own process is killed at any moment. */
export function proveDeaths(store: string, { open, kills, seed, skip }: DeathProof): void {
  describe(`invariants 1, 2 and 3 hold when the action's process is killed that publishes into ${store}`, {
    skip,
  }, () => {
    const stack = new AsyncDisposableStack();
    let places: Places;
    let workspace: string;
    const all: Deaths[] = [];
    before(async () => {
      places = stack.use(await open());
      workspace = stack.use(await temporaryFolder()).path;
      await fillWorkspace(workspace);
    });
    after(() => stack.disposeAsync());

    for (const [index, scenario] of scenarios.entries()) {
      test(`in ${scenario.title}`, async (t) => {
        const keys = await fixture('ed25519');
        const deaths = await killOften(scenario, { places, workspace, keys, kills, seed: seed + index });
        all.push(deaths);
        t.diagnostic(told([deaths]));
      });
    }

    test('and it died before, between and after the two commits', (t) => {
      t.diagnostic(told(all));
      for (const moment of moments) assert.ok(countAt(all, moment) > 0, `no death with ${moment}`);
      assert.ok(sum(all, ({ takenOver }) => takenOver) > 0, 'no rerun has finished a claim of the dead');
    });
  });
}

function told(all: readonly Deaths[]): string {
  const parts = moments.map((moment) => `${countAt(all, moment)} with ${moment}`);
  const deaths = sum(all, ({ moments: at }) => [...at.values()].reduce((total, count) => total + count, 0));
  const takenOver = sum(all, (each) => each.takenOver);
  const escaped = sum(all, (each) => each.escaped);
  return `${deaths} deaths, ${parts.join(', ')}; ${takenOver} generations finished by the rerun; ${escaped} runs ended before the signal`;
}

const countAt = (all: readonly Deaths[], moment: (typeof moments)[number]): number =>
  sum(all, (deaths) => deaths.moments.get(moment) ?? 0);

function sum(all: readonly Deaths[], value: (deaths: Deaths) => number): number {
  return all.reduce((total, deaths) => total + value(deaths), 0);
}
