import { withoutEpoch } from './version.ts';

/**
 * The folder of a source package in the pool, without a slash at its end: `pool/main/h/hello`, `pool/main/libx/libxml2`.
 * Every tool of Debian's lays the pool out like this, though no client depends on it.
 */
export function poolFolder(component: string, source: string): string {
  const prefix = source.startsWith('lib') ? source.slice(0, 4) : source.slice(0, 1);
  return `pool/${component}/${prefix}/${source}`;
}

/** What a pool object is named for: fields found valid, never the name of the uploaded file. */
export interface PoolFile {
  readonly component: string;
  /** Name of the source package. */
  readonly source: string;
  readonly package: string;
  readonly version: string;
  /** `source` for a .dsc, whose name has no architecture. */
  readonly architecture: string;
  /** `deb`, `udeb`, `ddeb` or `dsc`, without a dot. */
  readonly extension: string;
}

/**
 * The ordinary name of a package in the pool, relative to the repository: `pool/main/h/hello/hello_2.10-3_amd64.deb`. The
 * epoch is left out, as everywhere in Debian, so `1:1.0` and `2:1.0` have one name: see `ownPoolName`.
 */
export function poolName(file: PoolFile): string {
  const stem = `${file.package}_${withoutEpoch(file.version)}`;
  const name = file.architecture === 'source' ? stem : `${stem}_${file.architecture}`;
  return `${poolFolder(file.component, file.source)}/${name}.${file.extension}`;
}

/**
 * The name for bytes whose ordinary name holds other bytes: `hello_2.10-3_amd64_1a2b3c4d.deb`, with the first eight hex
 * digits of their SHA-256. No ordinary name has that many underscores, since neither names nor versions nor architectures
 * may contain one. For a .deb, .udeb, .ddeb or .dsc; the other files of a source package are found by the name in its .dsc.
 */
export function ownPoolName(name: string, sha256: string): string {
  const dot = name.lastIndexOf('.');
  return `${name.slice(0, dot)}_${sha256.slice(0, 8)}${name.slice(dot)}`;
}

/**
 * Whether every file name made of these fields stays within the 255 bytes that file systems allow: in a directory store, and
 * in apt's cache, where the epoch is part of the name.
 */
export function fileNameFits(identity: { package: string; version: string; architecture: string }): boolean {
  const longest = `${identity.package}_${identity.version.replace(':', '%3a')}_${identity.architecture}_01234567.udeb`;
  return longest.length <= 255;
}
