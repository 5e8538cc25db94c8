import { Problem, type ProblemDetails } from '../problem.ts';
import type { SuiteResult } from './outcome.ts';
import type { StoredIndex } from './suite-record.ts';

/**
 * What is the matter. Clients or the next publisher meet the first six:
 * `head`: record and head of a suite are not there, not signed, or not each other's. `by-hash`: an index, or the head of a kept
 * generation, cannot be read by its hash; `canonical`: nor by its name. `release`: Release or Release.gpg do not fit the head. `pool`: a listed
 * file is missing or has other bytes. `served`: readers get something else than the store holds.
 * `caching`: readers get what they should, and caches keep it too long or not long enough. `unfinished`: a generation is claimed and not
 * committed. `orphan`: an object that nothing names.
 */
type FindingKind =
  | 'head'
  | 'by-hash'
  | 'canonical'
  | 'release'
  | 'pool'
  | 'served'
  | 'caching'
  | 'unfinished'
  | 'orphan';

const notices: ReadonlySet<FindingKind> = new Set(['caching', 'unfinished', 'orphan']);

/** Something that verifying a repository has found. */
export interface Finding {
  readonly kind: FindingKind;
  /** Absent for what is no suite's own: the pool. */
  readonly suite?: string;
  /** Relative to the repository. */
  readonly key: string;
  /** A sentence about the object. */
  readonly what: string;
  /** What should be there, where that is an index. */
  readonly index?: StoredIndex;
  /** Whether this run has put it right. */
  readonly repaired?: true;
}

/** What verifying one suite came to; what was found in the pool at large stands in that of the first suite. */
export interface Verification {
  readonly findings: readonly Finding[];
  readonly checked: Checked;
}

/** How much was looked at. */
interface Checked {
  /** By-hash objects. */
  readonly indexes: number;
  /** Pool files that the suite lists, in the newest generation or a kept one. */
  readonly poolFiles: number;
}

/** Whether it is anybody's trouble now. */
export function isBroken({ kind, repaired }: Finding): boolean {
  return repaired !== true && !notices.has(kind);
}

/** Sentences that the one problem of a run can hold. */
const told = 3;

/** What a run ends with that has verified a repository and found it broken: it has done what it was asked for, and fails. */
export class BrokenRepository extends Problem {
  readonly results: readonly SuiteResult[];

  constructor(details: ProblemDetails, results: readonly SuiteResult[]) {
    super(details);
    this.results = results;
  }
}

/** Throws `BrokenRepository` when something is broken, and still is. */
export function throwBroken(results: readonly SuiteResult[]): void {
  const broken = results.flatMap(({ verification }) => verification?.findings ?? []).filter(isBroken);
  if (broken.length === 0) return;
  const first = broken.slice(0, told).map(({ key, what }) => `${key}: ${what}`);
  const more = broken.length - first.length;
  const counts = [...Map.groupBy(broken, ({ kind }) => kind)].map(([kind, some]) => `${some.length} ${kind}`);
  throw new BrokenRepository(
    {
      code: 'repository-broken',
      title: 'The repository is not whole',
      what: `Verifying found what readers or publishers stumble over (${counts.join(', ')}): ${first.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`,
      advice:
        'Names and by-hash objects are mended with `repair: true`; publish the packages again whose pool files are gone, and find out what else writes into this repository.',
    },
    results,
  );
}
