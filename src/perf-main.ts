import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { reportFailure } from './action/failure.ts';
import { githubRunner } from './action/runner.ts';
import { systemClock } from './action/system-clock.ts';
import { commandStage } from './perf/command-stage.ts';
import { followStage } from './perf/follow-stage.ts';
import { measureStage, type Surroundings, settingsStage } from './perf/measure-stage.ts';
import { poolStage, reportStage } from './perf/report-stage.ts';
import { StageInputs } from './perf/stage-inputs.ts';

/** The bundler copies what it sees a path of into the bundle, so it must not see one. */
function beside(file: string, ...steps: readonly string[]): string {
  return resolve(dirname(file), ...steps);
}

const runner = githubRunner();
const around: Surroundings = {
  clock: systemClock,
  runner,
  harness: { main: import.meta.filename, emulator: beside(import.meta.filename, 'emulator/index.js') },
  ownBundle: beside(import.meta.filename, '../index.js'),
  node: process.execPath,
  temporaryFolder: runner.variable('RUNNER_TEMP') ?? tmpdir(),
};

async function perform(inputs: StageInputs): Promise<void> {
  switch (inputs.stage()) {
    case 'command':
      return commandStage(inputs, systemClock, runner);
    case 'measure':
      return measureStage(inputs, around);
    case 'follow':
      return followStage(inputs, systemClock, runner);
    case 'report':
      return reportStage(inputs, systemClock, runner);
    case 'pool':
      return poolStage(inputs, runner);
    case 'settings':
      return settingsStage(inputs, around);
  }
}

try {
  await perform(new StageInputs(runner));
} catch (error) {
  reportFailure(error, runner);
}
