import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { Problem } from '../problem.ts';
import type { NoiseSession } from './noise-band.ts';

const text = v.pipe(v.string(), v.maxLength(400));
/** How the last control ended, that of builds which are known to be slower. */
const instrument = v.picklist(['untested', 'sound', 'suspect']);

const pool = v.strictObject({
  schema: v.literal('apt-publish/noise/1'),
  instrument,
  sessions: v.pipe(
    v.array(
      v.strictObject({
        key: v.strictObject({ scenario: text, machine: text, endpoint: v.picklist(['emulator', 's3']), harness: text }),
        started: v.pipe(v.string(), v.isoTimestamp()),
        differences: v.pipe(v.array(v.pipe(v.number(), v.finite())), v.maxLength(12)),
      }),
    ),
    v.maxLength(400),
  ),
});

/** Nights that a pool keeps: those that count, and some more to tell a stale band from none. */
const daysKept = 28;

/** What is known about the machines that measure, and about the measuring. */
export interface NoisePool {
  readonly instrument: v.InferOutput<typeof instrument>;
  readonly sessions: readonly NoiseSession[];
}

const nothingKnown: NoisePool = { instrument: 'untested', sessions: [] };

/** A pool's file; nothing is known when no file is named or it is not there, as before the first night. Throws `noise-pool-invalid`. */
export async function readPool(path: string | undefined): Promise<NoisePool> {
  if (path === undefined) return nothingKnown;
  const written = await readFile(path, 'utf8').catch(() => undefined);
  if (written === undefined) return nothingKnown;
  try {
    const { instrument, sessions } = v.parse(pool, JSON.parse(written));
    return { instrument, sessions };
  } catch (cause) {
    throw new Problem({
      code: 'noise-pool-invalid',
      title: 'The noise pool cannot be read',
      what: 'The file of measured noise is not what the nightly workflow writes.',
      advice: 'Delete the artifact `perf-noise` of the newest nightly run; the pool is measured anew within days.',
      cause,
    });
  }
}

/** The text of a pool's file with a session more and without those that have become too old. A control that did not run tells nothing new. */
export function poolWith(
  { sessions, instrument }: NoisePool,
  session: NoiseSession,
  control: 'success' | 'failure' | 'skipped',
): string {
  const now = Date.parse(session.started);
  const kept = sessions.filter(({ started }) => now - Date.parse(started) < daysKept * 86_400_000);
  const found = { success: 'sound', failure: 'suspect', skipped: instrument }[control];
  const text = { schema: 'apt-publish/noise/1', instrument: found, sessions: [...kept, session] };
  return `${JSON.stringify(text)}\n`;
}
