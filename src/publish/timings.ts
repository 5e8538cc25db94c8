import * as v from 'valibot';
import { limited } from '../store/limited.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { traced } from '../store/traced.ts';
import type { TimedRun } from '../timing/record.ts';
import { type PhaseName, phaseNames } from '../timing/span.ts';
import { suiteTimes } from '../timing/suite-times.ts';
import { ownAttributes } from './attributes.ts';
import { timesKey } from './layout.ts';
import { type CommandName, commandNames } from './request.ts';
import type { RunContext } from './run-context.ts';

/**
 * The times of the last runs that published a suite, `.apt-publish/timings/<suite>.times`: for people to see a run beside an earlier one.
 * Nothing depends on them, so they are written without a condition and outside of any claim, asked for once and never waited for twice;
 * of two runs that end together one may be missing, and a run whose times cannot be kept has published all the same.
 */
const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0));
const times = v.strictObject({
  schema: v.literal('apt-publish/timings/1'),
  /** Newest first. */
  runs: v.pipe(
    v.array(
      v.strictObject({
        command: v.picklist(commandNames),
        at: v.pipe(v.string(), v.isoTimestamp()),
        durationMs: milliseconds,
        phases: v.pipe(
          v.array(v.strictObject({ phase: v.picklist(phaseNames), ms: milliseconds })),
          v.maxLength(phaseNames.length),
        ),
      }),
    ),
    v.maxLength(30),
  ),
});

type KeptRun = v.InferOutput<typeof times>['runs'][number];

/** How many runs are remembered. */
const mostRuns = 30;

/** The times of runs, of each suite read once. No method throws. */
export interface Timings {
  /** Reads what was kept, beside other work. */
  begin(suite: string): Promise<void>;
  /** The newest run before this one that did the same. */
  before(suite: string, command: CommandName): Promise<TimedRun | undefined>;
  /** Adds this run as it stands. */
  keep(suite: string, command: CommandName): Promise<void>;
}

export function timings(run: RunContext): Timings {
  const known = new Map<string, Promise<readonly KeptRun[]>>();
  const earlier = (suite: string): Promise<readonly KeptRun[]> => {
    const reading = known.get(suite) ?? read(run, suite);
    known.set(suite, reading);
    return reading;
  };
  return {
    begin: async (suite) => {
      await earlier(suite);
    },
    before: async (suite, command) => {
      const found = (await earlier(suite)).find((each) => each.command === command);
      return found && { at: found.at, durationMs: found.durationMs, phases: found.phases };
    },
    keep: async (suite, command) => {
      if (run.keepTimings === true) await write(run, suite, command, await earlier(suite));
    },
  };
}

async function read(run: RunContext, suite: string): Promise<readonly KeptRun[]> {
  if (run.keepTimings !== true) return [];
  const object = await once(run, 'read', suite, (store) => store.get(timesKey(suite)));
  if (object?.found !== true) return [];
  const result = v.safeParse(times, parsed(object.body));
  return result.success ? result.output.runs : [];
}

async function write(run: RunContext, suite: string, command: CommandName, earlier: readonly KeptRun[]) {
  const { recorder, date } = run;
  const mine: KeptRun = {
    command,
    at: new Date(date).toISOString(),
    durationMs: Math.round(recorder.now()),
    phases: suiteTimes(recorder.phases, suite),
  };
  const kept = { schema: 'apt-publish/timings/1', runs: [mine, ...earlier].slice(0, mostRuns) };
  const body = Buffer.from(`${JSON.stringify(kept, undefined, 1)}\n`);
  await once(run, 'clean', suite, (store) => store.put(timesKey(suite), body, { ...ownAttributes, once: true }));
}

/** One attempt; undefined when it fails, of which the record of the run tells. */
function once<T>(
  run: RunContext,
  name: PhaseName,
  suite: string,
  ask: (store: ObjectStore) => Promise<T>,
): Promise<T | undefined> {
  return run.recorder.phase(name, suite, (scope) =>
    ask(limited(traced(run.store, scope), run.requests)).catch(() => undefined),
  );
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
