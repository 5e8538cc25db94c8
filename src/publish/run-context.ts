import type { PublicKeys, SigningKeys } from '../signing/keys.ts';
import { guarded } from '../store/guarded.ts';
import { type Hedging, hedged } from '../store/hedged.ts';
import { limited, type Slots } from '../store/limited.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { retried } from '../store/retried.ts';
import { traced } from '../store/traced.ts';
import type { Clock } from '../timing/clock.ts';
import type { PhaseScope, Recorder } from '../timing/recorder.ts';
import type { PhaseName } from '../timing/span.ts';
import type { RenameMethod } from './request.ts';

/** What one run brings along through all its phases and suites. Everything that is not a function of its inputs is in here. */
export interface RunContext {
  /** The adapter, one attempt per call; phases see it through `phase()` only. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly recorder: Recorder;
  /** Absent for an unsigned repository, and where `outside` is set. */
  readonly keys?: SigningKeys;
  /** Set in a dry run without keys to sign with or without keys of the store: it sees suites as their readers do. */
  readonly outside?: true;
  /** Set where the times of a run are kept in the store, for later dry runs to be seen beside. */
  readonly keepTimings?: true;
  /** Of the command import. */
  readonly origin?: ImportOrigin;
  /** Names this run in the records: nobody else's run has the same name, or it publishes the same bytes. */
  readonly run: string;
  /** Who publishes, in a few words on one line that anybody may read in the record; absent where nobody says. */
  readonly by?: string;
  /** Milliseconds since the epoch: what `Date` is made of. SOURCE_DATE_EPOCH, or the clock. */
  readonly date: number;
  /** Told how many requests are about to be made at once, while there is still other work to do. */
  readonly expectRequests?: (count: number) => void;
  readonly requests: Slots;
  readonly renames: Slots;
  /** Absent where nothing is to be sent a second time because it is late. */
  readonly hedging?: Hedging;
  /** Absent: found out by this run or an earlier one. */
  readonly renameMethod?: RenameMethod;
  /** How long a claim may be acted on before its holder asks again, milliseconds. */
  readonly claimLimit: number;
  readonly warn: (sentence: string) => void;
}

/** Where suites are imported from, and who vouches for them. */
export interface ImportOrigin {
  /** Another repository; absent: the suites lie in the run's own store. */
  readonly store?: ObjectStore;
  /** Keys that must have signed what is imported; absent where the user vouches for it. */
  readonly trusted?: PublicKeys;
}

/** The store and the scope of one stretch of one phase. */
export interface Phase {
  readonly scope: PhaseScope;
  /** Traced into this phase, hedged, limited and retried. */
  readonly store: ObjectStore;
}

/** Asked before every attempt at a write in a phase; the store that it gets is not guarded itself. */
export type PhaseGuard = { before(store: ObjectStore): Promise<void>; after?(): void };

/** Runs one stretch of a phase; every request made through its store is recorded as part of it. */
export function phase<T>(
  run: RunContext,
  name: PhaseName,
  suite: string | undefined,
  work: (phase: Phase) => Promise<T>,
  guard?: PhaseGuard,
): Promise<T> {
  return run.recorder.phase(name, suite, (scope) => {
    const retries = { clock: run.clock, random: run.random };
    const attempts = traced(run.store, scope);
    // Not limited either: a guard asks while its write holds a place.
    const before = () => guard?.before(retried(attempts, retries)) ?? Promise.resolve();
    const after = () => guard?.after?.();
    const checked = guard === undefined ? attempts : guarded(attempts, { before, after });
    // Hedges inside the limit, where a request is in flight, and outside of the guard, which is asked for each copy.
    const prompt = run.hedging === undefined ? checked : hedged(checked, run.hedging);
    // Retries outside the limit: whoever backs off leaves its place to others.
    const store = retried(limited(prompt, name === 'rename' ? run.renames : run.requests), retries);
    return work({ scope, store });
  });
}

/** Another repository, read as part of a phase: traced into it, limited and retried like the run's own store. */
export function originStore(run: RunContext, origin: ObjectStore, scope: PhaseScope): ObjectStore {
  return retried(limited(traced(origin, scope), run.requests), { clock: run.clock, random: run.random });
}
