import type { Form } from '../codec/codecs.ts';
import type { GenerationName } from './generation-name.ts';
import type { Selection } from './package-pattern.ts';

/** What a run can be asked to do. */
export const commandNames = [
  'publish',
  'republish',
  'remove',
  'promote',
  'rollback',
  'import',
  'history',
  'verify',
] as const;
export type CommandName = (typeof commandNames)[number];

/** One run, as it was asked for and found valid. Where to, and with which keys, is said beside it. */
export type CommandRequest =
  | PublishRequest
  | RepublishRequest
  | RemoveRequest
  | PromoteRequest
  | RollbackRequest
  | ImportRequest
  | HistoryRequest
  | VerifyRequest;

/** What every command is told. */
export interface CommandSettings {
  /** At least one; every name once. */
  readonly suites: readonly NamedSuite[];
  /** Canonical names in flight together; `auto` adapts, a number is obeyed exactly. */
  readonly renameConcurrency: number | 'auto';
  /** Uploads in flight together; `auto` adapts, a number is obeyed exactly. */
  readonly uploadConcurrency: number | 'auto';
}

/** Whether a run is to stop before its first write. */
export function isDryRun(request: CommandRequest): boolean {
  return request.command !== 'history' && request.command !== 'verify' && request.dryRun;
}

interface NamedSuite {
  /** The path below `dists/`. */
  readonly suite: string;
}

/** How a new generation of a suite is made, whatever command makes it. */
export interface GenerationSettings {
  readonly release: ReleaseInfo;
  /** Lets a field that apt clients pin (Origin, Label, Codename, NotAutomatic pair) differ from the published one. */
  readonly allowReleaseInfoChange: boolean;
  /** Forms in which every index is stored; at least one, in the order of `forms`. */
  readonly compression: readonly Form[];
  /** Whether a store that does not hold conditional writes is an error rather than a warning. */
  readonly requireConditionalWrites: boolean;
  /** Whether to stop before the first write. */
  readonly dryRun: boolean;
}

/** What every command is told that makes a new generation. */
export interface ChangeSettings extends CommandSettings, GenerationSettings {}

/** Puts packages into suites. */
export interface PublishRequest extends ChangeSettings {
  readonly command: 'publish';
  readonly suites: readonly SuiteRequest[];
  /** Whether to take over a suite that something else has made, or whose head something else has written. */
  readonly adopt: boolean;
  /** Architectures to serve; absent: those that are published plus those that come in. Never `all`, `any` or `source`. */
  readonly architectures?: readonly string[];
  /** Whether to keep Contents indexes. */
  readonly contents: boolean;
  /** What to do when a package is published with the same name, version and architecture but other bytes. */
  readonly onConflict: OnConflict;
  /** How many versions of each package that comes in stay listed, at least 1; absent: all. See `retention.ts`. */
  readonly keepVersions?: number;
  /** For how many days versions stay listed that newer ones have followed, at least 1; absent: by number alone. */
  readonly keepDays?: number;
}

/** Signs suites again, with a new Date. */
interface RepublishRequest extends ChangeSettings {
  readonly command: 'republish';
}

/** Takes packages out of suites. */
interface RemoveRequest extends ChangeSettings {
  readonly command: 'remove';
  readonly selection: Selection;
}

/** Lists packages of one suite in others too. */
export interface PromoteRequest extends ChangeSettings {
  readonly command: 'promote';
  /** The suite that has the packages. One of `suites` only when every component goes into another one. */
  readonly from: string;
  readonly selection: Selection;
  /** Components whose packages go into a component of another name. */
  readonly moves: readonly ComponentMove[];
  readonly onConflict: OnConflict;
}

interface ComponentMove {
  readonly from: string;
  readonly to: string;
}

/** Goes back to what suites were. */
interface RollbackRequest extends ChangeSettings {
  readonly command: 'rollback';
  readonly to: GenerationName;
}

/** Takes over suites of another repository, or suites of another tool that lie in the store already. */
export interface ImportRequest extends ChangeSettings {
  readonly command: 'import';
  /** The address of the other repository; absent: the suites lie in the store already, and stay where they are. */
  readonly from?: string;
  /** Absent: every one that a suite has. */
  readonly components?: readonly string[];
  /** Real ones, and `source`; absent: every one that a suite has. Packages for `all` come along with each. */
  readonly architectures?: readonly string[];
  readonly onConflict: OnConflict;
}

/** Looks for what is wrong with suites, and mends what can be mended. */
export interface VerifyRequest extends CommandSettings {
  readonly command: 'verify';
  /** Whether to read every byte of the pool files that are listed. */
  readonly deep: boolean;
  readonly repair: boolean;
  /** Where readers reach the repository over http; absent: only the store is looked at. */
  readonly publicUrl?: string;
}

/** Tells which generations suites can go back to. */
export interface HistoryRequest extends CommandSettings {
  readonly command: 'history';
}

export interface SuiteRequest extends NamedSuite {
  /** At least one; every component once. */
  readonly uploads: readonly Upload[];
}

interface Upload {
  readonly component: string;
  /** Paths of .deb, .udeb, .ddeb, .dsc and .changes files; sorted, every path once, at least one. */
  readonly paths: readonly string[];
}

/** Fields of the Release file that the user may set. An absent one stays as it is published. */
export interface ReleaseInfo {
  readonly origin?: string;
  readonly label?: string;
  readonly codename?: string;
  readonly description?: string;
  readonly version?: string;
  /** Valid-Until is this many seconds after Date. */
  readonly validForSeconds?: number;
  readonly notAutomatic?: boolean;
  readonly butAutomaticUpgrades?: boolean;
  /** Fingerprints as the Signed-By field of a Release file wants them: 40 upper-case hex digits, a trailing `!` allowed. */
  readonly signedBy?: readonly string[];
}

export const onConflicts = ['error', 'skip', 'replace'] as const;
export type OnConflict = (typeof onConflicts)[number];

/** How canonical names come to stand for what is staged: by a copy within the store, or by another write of the same bytes. */
export const renameMethods = ['copy', 'put'] as const;
export type RenameMethod = (typeof renameMethods)[number];
