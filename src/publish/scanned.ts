import type { Stanza } from '../debian/deb822.ts';
import type { ScannedState } from '../store/source-file.ts';

/** What one reading of an input file has found out. Nothing reads an input again but the upload of its bytes. */
export type Scanned = ScannedBinary | ScannedSource;

/** A file on disk with what indexes say about it. */
export interface ScannedFile {
  /** Path on the machine, as the input named it: for messages and for the upload. */
  readonly path: string;
  readonly size: number;
  /** Lower-case hex. */
  readonly md5: string;
  readonly sha256: string;
  /** Of a file that is sent in parts. */
  readonly scanned?: ScannedState;
}

export interface ScannedBinary {
  readonly kind: 'deb' | 'udeb' | 'ddeb';
  readonly file: ScannedFile;
  readonly package: string;
  readonly version: string;
  /** A real architecture or `all`. */
  readonly architecture: string;
  /** Name of the source package: the pool folder is named for it. */
  readonly source: string;
  /** The fields of `control`, in file order, already found valid. */
  readonly control: Stanza;
  /** Paths of files, symlinks, hard links and devices in data.tar, without a leading `./`; only when asked for. */
  readonly contents?: readonly string[];
}

export interface ScannedSource {
  readonly kind: 'source';
  /** The .dsc itself first, then every file it names. */
  readonly files: readonly ScannedFile[];
  readonly package: string;
  readonly version: string;
  /** The fields of the .dsc, signature stripped, already found valid. */
  readonly control: Stanza;
}
