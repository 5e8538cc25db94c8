import * as v from 'valibot';
import { limited } from '../store/limited.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { traced } from '../store/traced.ts';
import type { TimedRun } from '../timing/record.ts';
import { type PhaseName, phaseNames } from '../timing/span.ts';
import { suiteTimes } from '../timing/suite-times.ts';
import { ownAttributes } from './attributes.ts';
import { timesKey } from './layout.ts';
import type { CommandName } from './request.ts';
import type { RunContext } from './run-context.ts';

/**
 * The times of the last run of a command on a suite, for people to see a dry run beside. Nothing depends on them: they are written
 * without a condition and outside of any claim, in one attempt, and a run whose times cannot be kept has published all the same. Only the
 * last run is kept, since a list would have to be read before it is written: a request more for every publish.
 */
const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0));
const keptTimes = v.strictObject({
  schema: v.literal('apt-publish/timings/1'),
  at: v.pipe(v.string(), v.isoTimestamp()),
  durationMs: milliseconds,
  phases: v.pipe(
    v.array(v.strictObject({ phase: v.picklist(phaseNames), ms: milliseconds })),
    v.maxLength(phaseNames.length),
  ),
});

/** How long the last run of this command took; undefined when that is not known, for whatever reason. */
export async function timesBefore(run: RunContext, suite: string, command: CommandName): Promise<TimedRun | undefined> {
  if (run.keepTimings !== true) return undefined;
  const object = await once(run, 'read', suite, (store) => store.get(timesKey(suite, command)));
  const result = v.safeParse(keptTimes, object?.found === true ? parsed(object.body) : undefined);
  if (!result.success) return undefined;
  const { schema: _, ...before } = result.output;
  return before;
}

/** Keeps the times of this run as they are by now, where times are to be kept. Never throws. */
export async function keepTimes(run: RunContext, suite: string, command: CommandName): Promise<void> {
  const { recorder, date } = run;
  if (run.keepTimings !== true) return;
  const times: v.InferOutput<typeof keptTimes> = {
    schema: 'apt-publish/timings/1',
    at: new Date(date).toISOString(),
    durationMs: Math.round(recorder.now()),
    phases: suiteTimes(recorder.phases, suite),
  };
  const body = Buffer.from(`${JSON.stringify(times, undefined, 1)}\n`);
  await once(run, 'clean', suite, (store) =>
    store.put(timesKey(suite, command), body, { ...ownAttributes, once: true }),
  );
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
