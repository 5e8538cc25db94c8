import type { ObjectAttributes } from '../store/object-store.ts';

/**
 * Content-Type and Cache-Control by class of object. Names that are replaced are revalidated every time: a cache that keeps a
 * canonical name longer than the InRelease beside it brings "Hash Sum mismatch" back. Names that never change their bytes are
 * kept for good. `no-transform` because caches have been seen recompressing indexes.
 */
const replaced = 'no-cache, no-transform';
const immutable = 'public, max-age=31536000, immutable, no-transform';

const types: readonly (readonly [suffix: string, type: string])[] = [
  ['.deb', 'application/vnd.debian.binary-package'],
  ['.udeb', 'application/vnd.debian.binary-package'],
  ['.ddeb', 'application/vnd.debian.binary-package'],
  ['.gz', 'application/gzip'],
  ['.xz', 'application/x-xz'],
  ['.zst', 'application/zstd'],
  ['.bz2', 'application/x-bzip2'],
  ['.gpg', 'application/pgp-signature'],
  ['.asc', 'application/pgp-signature'],
  ['.json', 'application/json'],
  ['.dsc', 'text/plain; charset=utf-8'],
  ['Release', 'text/plain; charset=utf-8'],
];

function contentType(name: string): string {
  return types.find(([suffix]) => name.endsWith(suffix))?.[1] ?? 'application/octet-stream';
}

/** For InRelease, Release, Release.gpg and the canonical names of indexes. */
export function canonicalAttributes(path: string, sha256?: string): ObjectAttributes {
  return { contentType: contentType(path), cacheControl: replaced, ...(sha256 === undefined ? {} : { sha256 }) };
}

/** For pool files and by-hash objects; `name` gives the type, since a by-hash name has no extension. */
export function immutableAttributes(name: string, sha256: string): ObjectAttributes {
  return { contentType: contentType(name), cacheControl: immutable, sha256 };
}

/** For what this tool keeps for itself and nobody else should see from a cache. */
export const ownAttributes: ObjectAttributes = { contentType: 'application/json', cacheControl: 'no-store' };
