import * as v from 'valibot';
import { hedged } from '../store/hedged.ts';
import { limited } from '../store/limited.ts';
import { listed, type ObjectStore } from '../store/object-store.ts';
import { traced } from '../store/traced.ts';
import type { TimedRun } from '../timing/record.ts';
import { type PhaseName, phaseNames } from '../timing/span.ts';
import { suiteTimes } from '../timing/suite-times.ts';
import { ownAttributes } from './attributes.ts';
import { timesKey, timesPrefix } from './layout.ts';
import { type CommandName, commandNames } from './request.ts';
import type { RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/**
 * The times of the last runs on a suite, for people to look at. Nothing depends on them: they are written without a condition and outside of
 * any claim, in one attempt, and a run whose times cannot be kept has published all the same.
 *
 * Each run writes one object and reads none. Its place follows from the number of its generation, so that an old one is replaced and nothing is ever
 * deleted; a list in one object would have to be read before it is written, which is a request more for every publish.
 */
const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0));
const keptTimes = v.strictObject({
  schema: v.literal('apt-publish/timings/1'),
  command: v.picklist(commandNames),
  generation: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  at: v.pipe(v.string(), v.isoTimestamp()),
  durationMs: milliseconds,
  phases: v.pipe(
    v.array(v.strictObject({ phase: v.picklist(phaseNames), ms: milliseconds })),
    v.maxLength(phaseNames.length),
  ),
});

/** How many runs of each command are kept. A prime number: commands that take turns would share out the places of any other one unevenly. */
export const timedRuns = 11;

/** How long a run took, with what it has made. */
export interface KeptTimes extends TimedRun {
  readonly command: CommandName;
  /** Number of the generation. */
  readonly generation: number;
}

/** How long the last run of this command took; undefined when that is not known, for whatever reason. */
export async function timesBefore(run: RunContext, suite: string, command: CommandName): Promise<TimedRun | undefined> {
  if (run.keepTimings !== true) return undefined;
  const places = Array.from({ length: timedRuns }, (_, place) => timesKey(suite, command, place));
  const found = await once(run, 'read', suite, (store) => wave(places, (key) => timesAt(store, key)));
  const [last] = newestFirst(found ?? []).filter((times) => times.command === command);
  return last === undefined ? undefined : { at: last.at, durationMs: last.durationMs, phases: last.phases };
}

/** Of each generation how long making it took, as far as that is still kept: a request for each of the first `timedRuns`. */
export async function timesOf(
  run: RunContext,
  suite: string,
  generations: readonly { readonly number: number; readonly command: CommandName }[],
): Promise<ReadonlyMap<number, KeptTimes>> {
  if (run.keepTimings !== true) return new Map();
  const found = await once(run, 'read', suite, (store) =>
    wave(generations.slice(0, timedRuns), async ({ number, command }) => {
      const times = await timesAt(store, timesKey(suite, command, number % timedRuns));
      return times?.generation === number ? times : undefined;
    }),
  );
  return new Map((found ?? []).flatMap((times) => (times === undefined ? [] : [[times.generation, times]])));
}

/**
 * Keeps the times of this run as they are by now, with the number of the generation it has claimed, where times are to be kept. Never throws.
 * Written beside the commit, so that nothing waits for it: the times of commit and clean are not in it.
 */
export async function keepTimes(
  run: RunContext,
  suite: string,
  { command, generation }: Pick<KeptTimes, 'command' | 'generation'>,
): Promise<void> {
  const { recorder, date } = run;
  if (run.keepTimings !== true) return;
  const times: v.InferOutput<typeof keptTimes> = {
    schema: 'apt-publish/timings/1',
    command,
    generation,
    at: new Date(date).toISOString(),
    durationMs: Math.round(recorder.now()),
    phases: suiteTimes(recorder.phases, suite),
  };
  const body = Buffer.from(`${JSON.stringify(times, undefined, 1)}\n`);
  const key = timesKey(suite, command, generation % timedRuns);
  await once(run, 'commit', suite, (store) => store.put(key, body, { ...ownAttributes, once: true, overlaps: true }));
}

/** All times that are kept of a suite, the newest first. Errors of the store are thrown. */
export async function trendOf(store: ObjectStore, suite: string): Promise<readonly KeptTimes[]> {
  const keys: string[] = [];
  for await (const { key } of listed(store, timesPrefix(suite))) {
    if (/^[a-z]+\.\d+$/.test(key.slice(timesPrefix(suite).length))) keys.push(key);
  }
  return newestFirst(await wave(keys, (key) => timesAt(store, key)));
}

function newestFirst(found: readonly (KeptTimes | undefined)[]): KeptTimes[] {
  return found.flatMap((times) => times ?? []).sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** Garbage counts as nothing. */
async function timesAt(store: ObjectStore, key: string): Promise<KeptTimes | undefined> {
  const object = await store.get(key);
  const result = v.safeParse(keptTimes, object.found ? parsed(object.body) : undefined);
  if (!result.success) return undefined;
  const { schema: _, ...times } = result.output;
  return times;
}

/** One attempt, sent again only when it is late; undefined when it fails, of which the record of the run tells. */
function once<T>(
  run: RunContext,
  name: PhaseName,
  suite: string,
  ask: (store: ObjectStore) => Promise<T>,
): Promise<T | undefined> {
  return run.recorder.phase(name, suite, (scope) => {
    const attempts = traced(run.store, scope);
    const prompt = run.hedging === undefined ? attempts : hedged(attempts, run.hedging);
    return ask(limited(prompt, run.requests)).catch(() => undefined);
  });
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
