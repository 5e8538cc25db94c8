import { listed, type ObjectStore } from '../store/object-store.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import type { Baseline } from './look.ts';
import { storedIndexes } from './next-record.ts';
import type { StoredIndex } from './suite-record.ts';

/**
 * By-hash objects of a suite that neither its newest generation nor a kept one names, and that no claim has condemned. The path of each
 * is that of its folder, so that `byHashKey` gives its key.
 */
export async function findOrphans(
  store: ObjectStore,
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
