/** A stretch of time: of a phase, a request, a piece of work. Milliseconds of one clock. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The same time as stretches that do not touch, in order. */
export function union(stretches: readonly Stretch[]): Stretch[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

/** How long they last together, one after another. */
export function totalLength(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** How long each lasts, in ascending order. */
export function durations(stretches: readonly Stretch[]): number[] {
  return stretches.map(({ start, end }) => end - start).sort((a, b) => a - b);
}

/** The smallest value that at least `part` of the values do not exceed: always one that was measured. */
export function nearestRank(ascending: readonly number[], part: number): number | undefined {
  return ascending[Math.max(0, Math.ceil(part * ascending.length) - 1)];
}

/** Every moment at which the number of stretches that are going on changes, with that number from then on. */
export function inFlight(stretches: readonly Stretch[]): { readonly at: number; readonly count: number }[] {
  // At one moment ends come before starts: a request that follows another on the same connection is not beside it.
  const changes = stretches.flatMap(({ start, end }) => [
    { at: start, by: 1 },
    { at: end, by: -1 },
  ]);
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let count = 0;
  return changes.map(({ at, by }) => {
    count += by;
    return { at, count };
  });
}

export function highestInFlight(stretches: readonly Stretch[]): number {
  return inFlight(stretches).reduce((highest, { count }) => Math.max(highest, count), 0);
}

/**
 * Stretches sorted into waves: the first one holds what began before anything had ended, and so on. There are as many as the longest
 * chain of stretches each of which began after the one before it had ended (interval scheduling: always taking the one that
 * ends first among those that can follow gives the longest chain). In order of time; none is empty.
 */
export function waves<S extends Stretch>(stretches: readonly S[]): S[][] {
  const ends: number[] = [];
  let free = Number.NEGATIVE_INFINITY;
  for (const { start, end } of [...stretches].sort((a, b) => a.end - b.end || a.start - b.start)) {
    if (start < free) continue;
    ends.push(end);
    free = end;
  }
  const found: S[][] = ends.map(() => []);
  let current = 0;
  for (const stretch of [...stretches].sort((a, b) => a.start - b.start)) {
    while (current < ends.length - 1 && (ends[current] ?? 0) <= stretch.start) current += 1;
    found[current]?.push(stretch);
  }
  // A link of no length has the moment of the next one.
  return found.filter((wave) => wave.length > 0);
}
