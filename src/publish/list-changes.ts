import type { Problem } from '../problem.ts';
import type { ByteReader, ScannedState } from '../store/source-file.ts';
import type { IndexContributor, PackageChange } from '../timing/record.ts';
import type { PhaseScope } from '../timing/recorder.ts';

/** A file that the pool must hold before the claim. */
export interface PoolFile {
  /** Key and `Filename` alike. */
  readonly key: string;
  readonly file: PoolContent;
}

/** The bytes of a pool file: a scanned file on the runner's disk, unless it says how else it is read. */
export interface PoolContent {
  /** For messages; on the disk, where it is. */
  readonly path: string;
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Of a file on the disk that is sent in parts. */
  readonly scanned?: ScannedState;
  /** Reads it from elsewhere, as part of a phase. */
  readonly open?: (scope: PhaseScope) => ByteReader;
  /** Set where the pool seems to hold it already, so that it is not fetched before that is known. */
  readonly seen?: boolean;
}

/** A name in the pool with the hash of its bytes, where an index told it. */
export interface PoolName {
  readonly filename: string;
  readonly sha256?: string | undefined;
}

/** A name that stands for other bytes than those that are to be published under it. */
export interface TakenName extends PoolName {
  /** Other suites that list it; none when an interrupted run has left it, or one that is not done yet. */
  readonly suites?: readonly string[];
}

/** The file list of one package, by the hash of its .deb; `paths` when this run has read it itself. */
export interface FileList {
  readonly location: string;
  readonly sha256: string;
  readonly paths?: readonly string[] | undefined;
}

/** What happens to one Contents index. What is both removed and added stays. */
export interface ContentsChange {
  readonly path: string;
  readonly add: readonly FileList[];
  readonly remove: readonly FileList[];
}

/** What a change of some lists comes to. */
export interface ListChanges {
  /** Uncompressed, by path without form; only those that differ from the published ones or are new. */
  readonly lists: Map<string, Uint8Array>;
  readonly poolFiles: PoolFile[];
  /** Pool files that the changed lists name anew, and that the pool holds already. */
  readonly referenced: string[];
  /** Pool files that the changed lists no longer hold. */
  readonly unlisted: PoolName[];
  /** Names (`superseded.ts`) of listed versions that newer ones follow, where retention goes by age. */
  readonly superseded: string[];
  readonly contents: ContentsChange[];
  /** Who brings most into each list and Contents index, by path without form. */
  readonly contributors: Map<string, readonly IndexContributor[]>;
  readonly packages: PackageChange[];
  readonly problems: Problem[];
  readonly warnings: string[];
}

export function noChanges(): ListChanges {
  return {
    lists: new Map(),
    poolFiles: [],
    referenced: [],
    unlisted: [],
    superseded: [],
    contents: [],
    contributors: new Map(),
    packages: [],
    problems: [],
    warnings: [],
  };
}

/** Everything a suite's change comes to, judged before anything is written. */
export type SuitePlan = { readonly [Part in keyof ListChanges]: Readonly<ListChanges[Part]> };

/** The changes of several lists as one plan. Contents changes are left out for a suite that has no Contents. */
export function gathered(changes: readonly ListChanges[], contents: boolean): SuitePlan {
  return {
    lists: new Map(changes.flatMap(({ lists }) => [...lists])),
    poolFiles: changes.flatMap(({ poolFiles }) => poolFiles),
    referenced: changes.flatMap(({ referenced }) => referenced),
    unlisted: changes.flatMap(({ unlisted }) => unlisted),
    superseded: changes.flatMap(({ superseded }) => superseded),
    contents: contents ? changes.flatMap((each) => each.contents) : [],
    contributors: new Map(changes.flatMap(({ contributors }) => [...contributors])),
    packages: changes.flatMap(({ packages }) => packages),
    problems: changes.flatMap(({ problems }) => problems),
    warnings: changes.flatMap(({ warnings }) => warnings),
  };
}
