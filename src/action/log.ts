import { bytes, duration } from '../report/units.ts';
import type { Clock } from '../timing/clock.ts';
import type { RecorderListener } from '../timing/recorder.ts';
import type { PhaseName, PhaseSpan, RequestSpan, Span } from '../timing/span.ts';
import { highestInFlight } from '../timing/stretches.ts';

/** How often the log may say how far a run is, and how long a phase must last to be mentioned before it ends: milliseconds. */
const interval = 2000;

/** A phase that is running: one of several, because phases overlap and several suites run side by side. */
interface Running {
  readonly name: PhaseName;
  readonly since: number;
  readonly total?: number;
  readonly done: number;
}

/**
 * Turns what a recorder tells into lines of the log: one line for each phase that ends (time, requests by verb, how many at a time,
 * what retries were made for, bytes), and at most one every two seconds about the phases that have been running for as long (done of
 * expected, rate, time left). A timer drives the latter, since a stalled request tells nothing. Log groups cannot hold this: phases
 * overlap, groups do not.
 */
export function progressLog(clock: Clock, info: (line: string) => void): RecorderListener {
  const running = new Map<number, Running>();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const line = progressLine([...running.values()], clock.monotonic());
    if (line !== undefined) info(line);
  };
  return {
    phaseStarted: ({ id, name }) => {
      running.set(id, { name, since: clock.monotonic(), done: 0 });
      // The report must not keep a process alive whose work is done.
      timer ??= setInterval(tell, interval).unref();
    },
    progress: ({ id, done, total }) => {
      const phase = running.get(id);
      if (phase !== undefined) running.set(id, { ...phase, done, ...(total === undefined ? {} : { total }) });
    },
    phaseEnded: (phase, spans) => {
      running.delete(phase.id);
      if (running.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      info(resultLine(phase, spans));
    },
  };
}

/** `upload 12 of 40, 3.1/s, about 9 s left; index 2 of 8, …`: phases of one name together; undefined when none has lasted long enough. */
function progressLine(running: readonly Running[], now: number): string | undefined {
  const long = running.filter(({ since }) => now - since >= interval);
  const names = [...new Set(long.map(({ name }) => name))];
  if (names.length === 0) return undefined;
  return names
    .map((name) =>
      progressOf(
        name,
        long.filter((phase) => phase.name === name),
        now,
      ),
    )
    .join('; ');
}

function progressOf(name: PhaseName, phases: readonly Running[], now: number): string {
  const elapsed = now - Math.min(...phases.map(({ since }) => since));
  const done = phases.reduce((sum, phase) => sum + phase.done, 0);
  const totals = phases.flatMap(({ total }) => total ?? []);
  // A total that some of the suites do not know yet would promise an end too early.
  const total = totals.length === phases.length ? totals.reduce((sum, count) => sum + count, 0) : undefined;
  const rate = done / (elapsed / 1000);
  const counted = total === undefined ? `${name} ${done} done` : `${name} ${done} of ${total}`;
  if (done === 0) return `${counted} after ${duration(elapsed)}`;
  const left = total === undefined || total < done ? '' : `, about ${duration(((total - done) / rate) * 1000)} left`;
  return `${counted}, ${rate.toFixed(1)}/s${left}`;
}

/** `stage bookworm: 1.2 s, 28 PUT, 2 GET, 16 in flight, 1 throttled, 3.4 MB up, 12 kB down`. */
function resultLine(phase: PhaseSpan, spans: readonly Span[]): string {
  const requests = spans.filter((span) => span.kind === 'request');
  const name = phase.suite === undefined ? phase.name : `${phase.name} ${phase.suite}`;
  const time = duration(phase.end - phase.start);
  const sent = requests.reduce((sum, { bytesUp }) => sum + bytesUp, 0);
  const received = requests.reduce((sum, { bytesDown }) => sum + bytesDown, 0);
  const together = highestInFlight(requests);
  const parts = [
    phase.outcome === 'ok' ? time : `failed after ${time}`,
    ...tally(requests.map(({ verb }) => verb)),
    ...(together > 1 ? [`${together} in flight`] : []),
    ...tally(requests.flatMap(trouble)),
    ...(sent === 0 ? [] : [`${bytes(sent)} up`]),
    ...(received === 0 ? [] : [`${bytes(received)} down`]),
  ];
  return `${name}: ${parts.join(', ')}`;
}

/** Answers that cost time: "not found" and "precondition failed" are ordinary ones. */
function trouble({ outcome }: RequestSpan): string[] {
  return ['ok', 'not-found', 'precondition-failed'].includes(outcome) ? [] : [outcome];
}

/** `28 PUT`, `2 GET`: how often each word comes, the most frequent first. */
function tally(words: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([word, count]) => `${count} ${word}`);
}
