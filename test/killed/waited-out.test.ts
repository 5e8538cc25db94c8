import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { folders, type Places, snapshotOf } from './places.ts';
import { differencesOf, momentOf } from './same-snapshot.ts';
import { fillWorkspace, placeWith, type Scenario, scenarioDate, scenarios, stateBefore } from './scenarios.ts';
import { action, runStep, startStep } from './step.ts';

/** Milliseconds that a claim is left alone for: session.ts. */
const claimLimit = 60_000;

test('a rerun of the action itself waits until the time of a dead run is over, and finishes its generation (invariant 3)', async (t) => {
  await using places = await folders();
  await using folder = await temporaryFolder();
  await fillWorkspace(folder.path);
  const [, scenario] = scenarios;
  assert.ok(scenario !== undefined);
  const { place, step, tries } = await diedInside(scenario, places, folder.path);

  const from = performance.now();
  const { code, stdout, stderr } = await runStep(step);
  const ms = performance.now() - from;
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.match(
    stdout.toString(),
    /Suite sid was left between claim and commit by another run; this run has finished generation 2/,
  );
  assert.ok(ms >= claimLimit, `it waited for ${ms} ms`);

  const undisturbed = await placeWith(places, await stateBefore(scenario, places, folder.path));
  await runStep({ ...step, inputs: { ...scenario.inputs, ...undisturbed.inputs } });
  const check = new RepositoryCheck(await fixture('ed25519'));
  const state = await snapshotOf(place);
  assert.deepEqual(await check.findings(state, true), []);
  assert.deepEqual(await differencesOf(check, state, await snapshotOf(undisturbed)), []);
  t.diagnostic(`the ${tries}th run died inside its claim; the rerun took ${(ms / 1000).toFixed(1)} s`);
});

/** Kills runs right after they say that they have claimed, until one dies before it has committed. */
async function diedInside(scenario: Scenario, places: Places, workspace: string) {
  const before = await stateBefore(scenario, places, workspace);
  for (let tries = 1; tries <= 100; tries += 1) {
    const place = await placeWith(places, before);
    const step = { main: action, workspace, inputs: { ...scenario.inputs, ...place.inputs }, date: scenarioDate };
    await using running = await startStep(step);
    await running.until((log) => log.some((line) => line.startsWith('claim ')));
    running.signal('SIGKILL');
    await running.finished;
    if (momentOf(before, await snapshotOf(place)) === 'between claim and commit') return { place, step, tries };
  }
  throw new Error('No run died between claim and commit.');
}
