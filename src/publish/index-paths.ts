import type { Compression } from '../codec/codecs.ts';

/** Names of indexes inside a suite, without the extension of a stored form, as the Release file lists them. */

/** `udeb` lists stand apart: apt would offer their packages to an installed system. */
export type PackagesKind = 'deb' | 'udeb';

export function packagesPath(component: string, architecture: string, kind: PackagesKind): string {
  return `${component}/${kind === 'udeb' ? 'debian-installer/' : ''}binary-${architecture}/Packages`;
}

export function sourcesPath(component: string): string {
  return `${component}/source/Sources`;
}

export function contentsPath(component: string, architecture: string): string {
  return `${component}/Contents-${architecture}`;
}

/** Whether this is such an index: it lies at the root of a suite where other tools have made it. */
export function isContents(index: string): boolean {
  return /(?:^|\/)Contents-[^/]+$/.test(index);
}

/** The forms that can be read, in the order in which that is cheap; the empty one is the uncompressed twin. */
export const readableForms: ReadonlyMap<string, Compression> = new Map([
  ['.gz', 'gz'],
  ['.zst', 'zst'],
  ['.xz', 'xz'],
  ['.bz2', 'bz2'],
  ['.lzma', 'lzma'],
  ['', 'none'],
]);
/** `.lz4` is known to be a form, and cannot be read. */
const extensions = [...readableForms.keys(), '.lz4'].filter((extension) => extension !== '');

/** Splits the name of a stored file into the index and the extension of its form; `''` for the uncompressed twin. */
export function splitForm(path: string): { index: string; extension: string } {
  const extension = extensions.find((form) => path.endsWith(form)) ?? '';
  return { index: extension === '' ? path : path.slice(0, -extension.length), extension };
}

/** How the bytes under this name are compressed; undefined for a form that cannot be read. */
export function compressionOf(path: string): Compression | undefined {
  return readableForms.get(splitForm(path).extension);
}

/** Whether an index names pool files: the cleaner looks for references in these. */
export function namesPoolFiles(index: string): boolean {
  return index.endsWith('/Packages') || index.endsWith('/Sources');
}
