import type { Finding } from '../publish/repository-check.ts';

/** What the suites count, in the order in which it is told. The later ones must be 0. */
const counted = [
  'points tried',
  'orders tried',
  'inputs tried',
  'straddles tried',
  'updates by clients',
  'downloads by clients',
  'runs watched',
  'states seen',
  'repositories judged',
  'reruns',
  'packages lost',
  'mixed views',
  'missing files',
  'heads gone back',
  'promises broken',
  'failures of clients',
  'secrets seen',
] as const;
type Counted = (typeof counted)[number];

const classes = {
  'by-hash': 'mixed views',
  canonical: 'mixed views',
  release: 'mixed views',
  immutable: 'mixed views',
  pool: 'missing files',
  'claimed-pool': 'missing files',
  head: 'heads gone back',
} as const satisfies Record<Finding['rule'], Counted>;

/**
 * What a test has tried and found. It travels as a line of words and numbers (`1 point tried`; `12 points tried, 0 packages lost`) in the diagnostics of a
 * test, so that people can read it there and the runner of a suite can add it up.
 */
export class ClosingCounts {
  readonly #counts = new Map<Counted, number>();

  add(what: Counted, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  /** One look at everything, and what was found that no scenario admits. */
  addJudged(found: readonly Finding[]): void {
    this.add('repositories judged');
    for (const what of new Set(Object.values(classes))) this.add(what, 0);
    for (const { rule } of found) this.add(classes[rule]);
  }

  /** Adds what another test has told; a line of other words is left alone. */
  addLine(line: string): void {
    for (const what of counted) {
      const told = new RegExp(`(?:^|, )(\\d+) ${what.replace(/s /, 's? ')}(?:,|$)`).exec(line);
      if (told !== null) this.add(what, Number(told[1]));
    }
  }

  toString(): string {
    return counted.flatMap((what) => (this.#counts.has(what) ? [`${this.#counts.get(what)} ${what}`] : [])).join(', ');
  }
}
