import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseRunRecord } from '../../src/timing/parse-record.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import { committedBundle } from '../e2e/bundle.ts';
import type { Inputs } from '../e2e/runner.ts';
import { type Finished, startProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const bundle = await committedBundle();
after(() => bundle[Symbol.asyncDispose]());

/** The action as a runner downloads it. */
export const action = bundle.main;
/** Its sources as another run, for which every wait is over at once. */
export const rerunAction = join(import.meta.dirname, 'rerun-main.ts');

/** A process of the action that runs beside the test. Disposing of it ends it. */
export interface RunningStep extends AsyncDisposable {
  /** Waits until its log is as wanted; false when it has ended before. */
  until(wanted: (log: readonly string[]) => boolean): Promise<boolean>;
  signal(name: NodeJS.Signals): void;
  readonly finished: Promise<Finished>;
}

export interface StepSettings {
  readonly main: string;
  /** Where inputs find their files. */
  readonly workspace: string;
  readonly inputs: Inputs;
  /** SOURCE_DATE_EPOCH; the machine's clock when left out. */
  readonly date?: number;
  /** An existing folder for what the step leaves to later ones; one that goes away with the step when left out. */
  readonly outputs?: string;
}

/**
 * Starts a step with nothing but its inputs in its environment. Node keeps what it has compiled in `NODE_COMPILE_CACHE`: hundreds of processes
 * start here.
 */
export async function startStep({ main, workspace, inputs, date, outputs }: StepSettings): Promise<RunningStep> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = outputs === undefined ? stack.use(await temporaryFolder()) : { path: outputs };
  const [output, summary] = [join(folder, 'output'), join(folder, 'summary')] as const;
  await Promise.all([output, summary].map((path) => writeFile(path, '')));
  const variables = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const env = {
    ...Object.fromEntries(variables),
    RUNNER_TEMP: folder,
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    NODE_COMPILE_CACHE: join(workspace, '.compiled'),
    ...(date === undefined ? {} : { SOURCE_DATE_EPOCH: String(date) }),
  };
  const running = stack.use(await startProcess(bundle.node, [main], { cwd: workspace, env }));
  let ended = false;
  void running.finished.then(() => {
    ended = true;
  });
  const kept = stack.move();
  return {
    until: async (wanted) => {
      for (;;) {
        if (wanted(logLines(running.output().stdout))) return true;
        if (ended) return false;
        await sleep(1);
      }
    },
    signal: running.signal,
    finished: running.finished,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A step that runs to its end, well or not. */
export async function runStep(settings: StepSettings): Promise<Finished> {
  await using step = await startStep(settings);
  return await step.finished;
}

/** The run record that a step has left in the folder of its outputs. */
export async function recordIn(outputs: string): Promise<RunRecord> {
  const path = /^timings<<(\S+)\n(.*)\n\1$/m.exec(await readFile(join(outputs, 'output'), 'utf8'))?.[2];
  if (path === undefined) throw new Error('The step has left no run record.');
  return parseRunRecord(await readFile(path, 'utf8'));
}

/** Whole lines of a log that are no commands to the runner: one for each phase that has ended. */
function logLines(stdout: string): string[] {
  const whole = stdout.split('\n').slice(0, -1);
  return whole.filter((line) => line !== '' && !line.startsWith('::'));
}
