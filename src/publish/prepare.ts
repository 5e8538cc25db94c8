import { fieldValue, type Stanza } from '../debian/deb822.ts';
import type { Release, ReleaseFile } from '../debian/release.ts';
import type { SuitePlan, TakenName } from './list-changes.ts';
import { computedFields, releaseFields } from './next-release.ts';
import type { CommandName, GenerationSettings } from './request.ts';
import type { StoredIndex } from './suite-record.ts';
import type { SuiteState } from './suite-state.ts';

/** A suite read and planned: nothing has been written for it. */
export interface Prepared extends SuiteState {
  readonly command: CommandName;
  /** What the suite has when the plan is carried out. */
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  /** What was read of the published indexes, uncompressed, by path without form. */
  readonly indexes: ReadonlyMap<string, Uint8Array>;
  /** Contents of the suite that packages come from: it vouches for their file lists. */
  readonly vouching?: readonly Uint8Array[];
  readonly plan: SuitePlan;
  /** Fields of the Release to come, but for those that are computed when it is made. */
  readonly fields: Stanza;
  /** By-hash objects that nothing names, to be condemned with the expired ones. */
  readonly orphans: readonly StoredIndex[];
  /** What the Release lists besides indexes that are built now; absent: what the published one lists. */
  readonly listed?: readonly ReleaseFile[];
  /** Whether there is anything to publish. */
  readonly changed: boolean;
}

/**
 * Reads and plans one suite. A command is such a function; the transaction calls it again when somebody else's claim came first, so it
 * must not keep anything of the suite between two calls; or when names in the pool turned out to be `taken`: a command that chooses the
 * names of its files then chooses others.
 */
export type Prepare = (suite: string, taken: readonly TakenName[]) => Promise<Prepared>;

/** Puts a plan together with the state it is for. Throws when a field that clients pin would change unasked. */
export function prepared(
  state: SuiteState,
  settings: GenerationSettings,
  planned: Pick<Prepared, 'command' | 'components' | 'architectures' | 'indexes' | 'vouching' | 'plan'>,
): Prepared {
  const { suite, published, adopted, abandoned } = state;
  const { release: info, allowReleaseInfoChange } = settings;
  const fields = releaseFields({ suite, published: published?.release, info, allowReleaseInfoChange });
  const changed =
    published === undefined ||
    adopted !== undefined ||
    abandoned !== undefined ||
    planned.plan.lists.size > 0 ||
    fieldsDiffer(published.release, fields);
  return { ...state, ...planned, fields, orphans: [], changed };
}

function fieldsDiffer(published: Release, fields: Stanza): boolean {
  const wanted = fields.filter(({ name }) => !computedFields.has(name));
  const before = published.fields.filter(({ name }) => !computedFields.has(name));
  return wanted.length !== before.length || wanted.some(({ name, value }) => fieldValue(before, name) !== value);
}
