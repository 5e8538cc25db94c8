import { listed } from '../store/object-store.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import { gathered } from './list-changes.ts';
import type { Baseline } from './look.ts';
import { storedIndexes } from './next-record.ts';
import { type Prepare, prepared } from './prepare.ts';
import { missingSuite } from './prepare-remove.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';
import { readSuite } from './suite-state.ts';

/**
 * A republish signs again, with a new Date and Valid-Until and with the keys of this run; no index changes. It is also where by-hash
 * objects are found that a publisher staged and never claimed: they are condemned like expired ones, since whoever has just
 * staged one will lose its claim to this one, and see them condemned.
 */
export function prepareRepublish(run: RunContext, settings: GenerationSettings): Prepare {
  return async (suite) => {
    const state = await readSuite(run, suite, false);
    const { published, has } = state;
    if (published === undefined) throw missingSuite(suite);
    const orphans = await phase(run, 'read', suite, ({ store }) =>
      findOrphans(store, suite, published, has.components),
    );
    const ready = prepared(state, settings, {
      ...has,
      command: 'republish',
      indexes: new Map(),
      plan: gathered([], false),
    });
    return { ...ready, orphans, changed: true };
  };
}

/** By-hash objects of a suite that neither its newest generation nor a kept one names. */
async function findOrphans(
  store: Parameters<typeof listed>[0],
  suite: string,
  { record, release }: Baseline,
  components: readonly string[],
): Promise<StoredIndex[]> {
  const named = [...storedIndexes(release), ...record.kept.flatMap(({ dropped }) => dropped), ...record.condemned];
  const known = new Set(named.map(({ path, sha256 }) => byHashKey(suite, path, sha256)));
  const prefix = canonicalKey(suite, '');
  const orphans: StoredIndex[] = [];
  for await (const { key } of listed(store, prefix)) {
    const parts = /^((?:.+\/)?)by-hash\/SHA256\/([0-9a-f]{64})$/.exec(key.slice(prefix.length));
    const [, folder, sha256] = parts ?? [];
    if (folder === undefined || sha256 === undefined || known.has(key) || !isOwn(folder, components)) continue;
    orphans.push({ path: `${folder}by-hash`, sha256 });
  }
  return orphans;
}

/**
 * A suite may lie below this one, as stable/updates below stable: its own are the folder of the heads, which has no name here, and folders of
 * its own components.
 */
function isOwn(folder: string, components: readonly string[]): boolean {
  const layout = /^(?:(?:binary-[^/]+|source|debian-installer\/binary-[^/]+)\/)?$/;
  return (
    folder === '' ||
    components.some(
      (component) => folder.startsWith(`${component}/`) && layout.test(folder.slice(component.length + 1)),
    )
  );
}
