/** A stretch of time with a beginning and an end, on any one clock. */
interface Stretch {
  readonly start: number;
  readonly end?: number | undefined;
}

/**
 * How many round trips lie one behind the other: the longest chain of requests of which each began after the one before had ended. With a
 * latency well above the time that a process takes to send what it has to send, that is the number of waves.
 */
export function waveCount(requests: readonly Stretch[]): number {
  let waves = 0;
  let busyUntil = Number.NEGATIVE_INFINITY;
  for (const { start, end = start } of requests.toSorted((a, b) => (a.end ?? a.start) - (b.end ?? b.start))) {
    if (start < busyUntil) continue;
    waves += 1;
    busyUntil = end;
  }
  return waves;
}

/** `3 GET, 12 PUT`: how often each verb comes, for messages. */
export function verbTally(requests: readonly { readonly verb: string }[]): string {
  const counts = new Map<string, number>();
  for (const { verb } of requests) counts.set(verb, (counts.get(verb) ?? 0) + 1);
  return Array.from(counts, ([verb, count]) => `${count} ${verb}`).join(', ');
}
