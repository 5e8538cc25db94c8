import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportFailure } from './action/failure.ts';
import { githubRunner } from './action/runner.ts';
import { systemClock } from './action/system-clock.ts';
import { commandStage } from './perf/command-stage.ts';
import { followStage } from './perf/follow-stage.ts';
import { measureStage, type Surroundings, settingsStage } from './perf/measure-stage.ts';
import { poolStage, reportStage } from './perf/report-stage.ts';
import { StageInputs } from './perf/stage-inputs.ts';
import { workloads } from './perf/workloads.ts';

const runner = githubRunner();
// Not by `import.meta.dirname`: the bundler copies every file that it sees a path of into the bundle.
const own = import.meta.filename;
const folder = own.slice(0, own.lastIndexOf('/'));
const around: Surroundings = {
  clock: systemClock,
  runner,
  harness: { main: own, emulator: join(folder, 'emulator', 'index.js') },
  ownBundle: join(folder, '..', 'index.js'),
  node: process.execPath,
  workloads,
  workspace: process.cwd(),
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
