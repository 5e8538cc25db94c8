import { publicKeys } from '../signing/verify.ts';
import { look } from './look.ts';
import { storedHead } from './next-record.ts';
import { type SuiteResult, unchangedResult } from './outcome.ts';
import { missingSuite } from './prepare-remove.ts';
import { phase, type RunContext } from './run-context.ts';
import type { Making, SuiteRecord } from './suite-record.ts';
import { timesOf } from './timings.ts';
import { wave } from './wave.ts';

/** One generation that a suite can go back to, or has. */
export interface HistoryEntry {
  readonly number: number;
  /** `claimed` is not what clients see yet: a run is at work, or was stopped and the next one will finish it. */
  readonly state: 'claimed' | 'live' | 'kept';
  /** Of its InRelease. */
  readonly headSha256: string;
  /** How it came about; absent where another tool has made it. */
  readonly made?: Making;
  /** ISO 8601: when another one took its place. */
  readonly replaced?: string;
  /** How long the run took that made it; of the last runs alone. */
  readonly durationMs?: number;
}

/** Tells the generations of every suite, newest first. It writes nothing, not even what a stopped run has left to finish. */
export function history(run: RunContext, suites: readonly string[]): Promise<SuiteResult[]> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  return wave(suites, async (suite) => {
    const sight = await phase(run, 'read', suite, ({ store }) => look(store, suite, trusted, false));
    if (sight.state !== 'settled' && sight.state !== 'apart') throw missingSuite(suite);
    const { published } = sight;
    const entries = entriesOf(published.record, sight.state === 'settled');
    const made = entries.flatMap(({ number, made }) => (made === undefined ? [] : [{ number, command: made.command }]));
    const times = await timesOf(run, suite, made);
    return {
      ...unchangedResult({ suite, published }),
      history: entries.map((entry) => {
        const durationMs = times.get(entry.number)?.durationMs;
        return durationMs === undefined ? entry : { ...entry, durationMs };
      }),
    };
  });
}

function entriesOf(record: SuiteRecord, settled: boolean): HistoryEntry[] {
  const { generation, kept } = record;
  const newest: HistoryEntry = {
    number: generation.number,
    state: settled ? 'live' : 'claimed',
    headSha256: storedHead(record).sha256,
    ...madeOf(generation),
  };
  return [
    newest,
    ...kept.map((each, index): HistoryEntry => {
      const { number, headSha256, until } = each;
      if (index === 0 && !settled) return { number, state: 'live', headSha256, ...madeOf(each) };
      return { number, state: 'kept', headSha256, ...madeOf(each), replaced: until };
    }),
  ];
}

function madeOf({ made }: { readonly made?: Making | undefined }): { readonly made?: Making } {
  return made === undefined ? {} : { made };
}
