/**
 * The action, but for two things: its waits pass at once, so that nothing is late by its clock, and it is another run than the one that it follows,
 * also when both have the same SOURCE_DATE_EPOCH. For reruns after a death, where the minute that a claim is given would pass in idleness.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { reportFailure } from '../../src/action/failure.ts';
import { readSettings } from '../../src/action/inputs.ts';
import { type Ending, reportRun } from '../../src/action/report-run.ts';
import { githubRunner } from '../../src/action/runner.ts';
import { startSession } from '../../src/action/session.ts';
import { systemClock } from '../../src/action/system-clock.ts';
import { perform } from '../../src/publish/commands.ts';
import type { Clock } from '../../src/timing/clock.ts';

let slept = 0;
const clock: Clock = {
  now: () => systemClock.now() + slept,
  monotonic: () => systemClock.monotonic() + slept,
  sleep: async (ms) => {
    slept += ms;
  },
};

const runner = githubRunner();
try {
  const { secrets } = runner;
  const settings = await readSettings({ source: runner, secrets, folder: '.', temporaryFolder: tmpdir() });
  const session = await startSession(settings, clock, runner);
  const { hedging: _, ...prompt } = session.run;
  const run = { ...prompt, run: randomUUID() };
  const ending = await perform(run, settings.request).then(
    (results): Ending => ({ results }),
    (error: unknown): Ending => ({ error }),
  );
  await reportRun(settings, session, ending, runner);
  if ('error' in ending) throw ending.error;
} catch (error) {
  reportFailure(error, runner);
}
