import type { Form } from '../codec/codecs.ts';

/** How a new generation of a suite is made, whatever command makes it. */
export interface GenerationSettings {
  readonly release: ReleaseInfo;
  /** Lets a field that apt clients pin (Origin, Label, Codename, NotAutomatic pair) differ from the published one. */
  readonly allowReleaseInfoChange: boolean;
  /** Forms in which every index is stored; at least one, in the order of `forms`. */
  readonly compression: readonly Form[];
  /** Whether a store that does not hold conditional writes is an error rather than a warning. */
  readonly requireConditionalWrites: boolean;
}

/** What one run is asked to publish, already found valid. Where to, and with which keys, is said beside it. */
export interface PublishRequest extends GenerationSettings {
  /** At least one; every name once. */
  readonly suites: readonly SuiteRequest[];
  /** Whether to take over a suite that something else has made, or whose head something else has written. */
  readonly adopt: boolean;
  /** Architectures to serve; absent: those that are published plus those that come in. Never `all`, `any` or `source`. */
  readonly architectures?: readonly string[];
  /** Whether to keep Contents indexes. */
  readonly contents: boolean;
  /** What to do when a package is published with the same name, version and architecture but other bytes. */
  readonly onConflict: OnConflict;
  /** Canonical names in flight together; `auto` adapts, a number is obeyed exactly. */
  readonly renameConcurrency: number | 'auto';
  /** Uploads in flight together; `auto` adapts, a number is obeyed exactly. */
  readonly uploadConcurrency: number | 'auto';
  /** Whether to stop before the first write. */
  readonly dryRun: boolean;
}

export interface SuiteRequest {
  /** The path below `dists/`. */
  readonly suite: string;
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
type OnConflict = (typeof onConflicts)[number];
