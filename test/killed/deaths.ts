import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { Generator } from '../debian/generator.ts';
import { RepositoryCheck, type Snapshot } from '../publish/repository-check.ts';
import { type Place, type Places, snapshotOf } from './places.ts';
import { differencesOf, type Moment, momentOf } from './same-snapshot.ts';
import { placeWith, type Scenario, scenarioDate, stateBefore } from './scenarios.ts';
import { action, rerunAction, runStep, type StepSettings, startStep } from './step.ts';

export interface DeathSettings {
  readonly places: Places;
  readonly workspace: string;
  readonly keys: SigningKeys;
  readonly kills: number;
  readonly seed: number;
}

/** What a scenario's deaths came to. */
export interface Deaths {
  readonly moments: ReadonlyMap<Moment, number>;
  /** Runs that had ended before the signal came: no deaths. */
  readonly escaped: number;
  /** Reruns that finished a generation of the dead. */
  readonly takenOver: number;
}

/** When a process tells of its phases: milliseconds from each line of its log to the next, or to its end. */
type Pace = readonly number[];

/**
 * Kills the run of a scenario so often, each time in a repository of its own and at another moment: after a line of its log that is drawn, and
 * a stretch that is drawn from the time to the next line. Phases are hit alike so, however short they are.
 *
 * After each death the repository must be sound, and a rerun must end in the state of a run that nobody has killed.
 */
export async function killOften(scenario: Scenario, settings: DeathSettings): Promise<Deaths> {
  const { places, workspace, keys, kills, seed } = settings;
  const check = new RepositoryCheck(keys);
  const chance = new Generator(seed);
  const before = await stateBefore(scenario, places, workspace);
  const begin = async (main: string) => {
    const place = await placeWith(places, before);
    const inputs = { ...scenario.inputs, ...place.inputs };
    return { place, step: { main, workspace, inputs, date: scenarioDate } satisfies StepSettings };
  };
  const { pace, undisturbed } = await observe(begin);
  for (const state of [before, undisturbed]) assert.deepEqual(await check.findings(state, true), [], 'undisturbed');

  const moments = new Map<Moment, number>();
  let [deaths, escaped, takenOver] = [0, 0, 0];
  while (deaths < kills) {
    assert.ok(escaped <= 5 * kills, 'The runs end before they can be killed.');
    const { place, step } = await begin(action);
    const line = chance.below(pace.length);
    const rest = (chance.below(1000) / 1000) * Math.max(2, 1.5 * (pace[line] ?? 0));
    if (!(await diesAt(step, line + 1, rest))) {
      escaped += 1;
      continue;
    }
    deaths += 1;
    await sleep(places.settleMs);
    const left = await snapshotOf(place);
    const moment = momentOf(before, left);
    const where = `seed ${seed}, death ${deaths}: ${rest.toFixed(1)} ms after line ${line + 1}, ${moment}`;
    assert.deepEqual(await check.findings(left), [], where);
    assert.deepEqual(check.headsGoneBack(before, left), [], where);
    moments.set(moment, (moments.get(moment) ?? 0) + 1);

    const rerun = await runStep({ ...step, main: rerunAction });
    assert.equal(rerun.code, 0, `${where}\n${rerun.stdout}${rerun.stderr}`);
    if (rerun.stdout.includes('was left between claim and commit by another run')) takenOver += 1;
    const after = await snapshotOf(place);
    assert.deepEqual(await check.findings(after, true), [], where);
    assert.deepEqual(await differencesOf(check, after, undisturbed), [], where);
  }
  return { moments, escaped, takenOver };
}

/** Two runs to their end: what they leave, and how fast they are. The first one fills Node's compile cache. */
async function observe(
  begin: (main: string) => Promise<{ place: Place; step: StepSettings }>,
): Promise<{ pace: Pace; undisturbed: Snapshot }> {
  await runStep((await begin(action)).step);
  const { place, step } = await begin(action);
  await using running = await startStep(step);
  const times: number[] = [];
  await running.until((log) => {
    while (times.length < log.length) times.push(performance.now());
    return false;
  });
  const { code, stdout, stderr } = await running.finished;
  assert.equal(code, 0, `${stdout}${stderr}`);
  const ends = [...times.slice(1), performance.now()];
  return { pace: times.map((time, index) => (ends[index] ?? time) - time), undisturbed: await snapshotOf(place) };
}

/** Whether the step was killed, rather than ended by itself. */
async function diesAt(settings: StepSettings, lines: number, rest: number): Promise<boolean> {
  await using step = await startStep(settings);
  await step.until((log) => log.length >= lines);
  await sleep(rest);
  step.signal('SIGKILL');
  return (await step.finished).signal === 'SIGKILL';
}
