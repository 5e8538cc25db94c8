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

const forms = ['.gz', '.xz', '.zst', '.bz2', '.lzma', '.lz4'];

/** Splits the name of a stored file into the index and the extension of its form; `''` for the uncompressed twin. */
export function splitForm(path: string): { index: string; extension: string } {
  const extension = forms.find((form) => path.endsWith(form)) ?? '';
  return { index: extension === '' ? path : path.slice(0, -extension.length), extension };
}

/** Whether an index names pool files: the cleaner looks for references in these. */
export function namesPoolFiles(index: string): boolean {
  return index.endsWith('/Packages') || index.endsWith('/Sources');
}
