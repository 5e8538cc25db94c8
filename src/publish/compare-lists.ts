import { entryFile } from '../debian/packages.ts';
import { scanStanzas } from '../debian/stanza-index.ts';
import type { PackageChange } from '../timing/record.ts';
import { type ListChanges, noChanges, type PoolName } from './list-changes.ts';
import { keyOf } from './package-list.ts';
import { sourceFiles } from './source-list.ts';

/** Lists of packages and sources, uncompressed, by path without form. */
type Lists = ReadonlyMap<string, Uint8Array>;

interface ListedPackage extends Pick<PackageChange, 'package' | 'version' | 'architecture' | 'component' | 'size'> {
  readonly files: readonly PoolName[];
}

/**
 * What goes and what comes when the lists of a suite are replaced by others as a whole. Both sides have every list of the components that
 * they are about, since a package for `all` has left only when no list holds it.
 */
export function compareLists(suite: string, before: Lists, after: Lists): ListChanges {
  const changes = noChanges();
  const [old, now] = [packagesIn(suite, before), packagesIn(suite, after)];
  for (const [key, item] of now) {
    const was = old.get(key);
    if (was !== undefined && sumsOf(was) === sumsOf(item)) continue;
    changes.packages.push(changeOf(was === undefined ? 'added' : 'replaced', item));
  }
  for (const [key, item] of old) if (!now.has(key)) changes.packages.push(changeOf('removed', item));
  const [oldFiles, nowFiles] = [filesOf(old), filesOf(now)];
  changes.referenced.push(...[...nowFiles.keys()].filter((filename) => !oldFiles.has(filename)));
  changes.unlisted.push(...[...oldFiles.values()].filter(({ filename }) => !nowFiles.has(filename)));
  return changes;
}

/** By what names a package; one for `all` once, however many lists it stands in. */
function packagesIn(suite: string, lists: Lists): Map<string, ListedPackage> {
  const found = new Map<string, ListedPackage>();
  for (const [path, bytes] of lists) {
    const [, component, folder] = /^(.+?)\/(source|(?:debian-installer\/)?binary-[^/]+)\/[^/]+$/.exec(path) ?? [];
    if (component === undefined || folder === undefined) continue;
    const origin = `${path} of suite ${suite}`;
    for (const entry of scanStanzas(bytes, origin)) {
      const { package: name, version } = entry;
      if (folder === 'source') {
        const files = sourceFiles(bytes, entry);
        const item = { package: name, version, architecture: 'source', component, size: 0, files };
        found.set(`${component} source ${keyOf(item)}`, item);
        continue;
      }
      const { filename, sha256, size } = entryFile(bytes, entry, origin);
      const { architecture } = entry;
      const item = { package: name, version, architecture, component, size, files: [{ filename, sha256 }] };
      found.set(`${component} ${folder.replace(/binary-.*/, '')} ${keyOf(item)}`, item);
    }
  }
  return found;
}

function changeOf(change: PackageChange['change'], { files: _, ...item }: ListedPackage): PackageChange {
  return { change, ...item };
}

function sumsOf({ files }: ListedPackage): string {
  return files.map(({ filename, sha256 }) => sha256 ?? filename).join();
}

function filesOf(packages: ReadonlyMap<string, ListedPackage>): Map<string, PoolName> {
  return new Map([...packages.values()].flatMap(({ files }) => files.map((file) => [file.filename, file] as const)));
}
