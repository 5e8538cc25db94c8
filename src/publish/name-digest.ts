import { Problem } from '../problem.ts';
import { digest } from './digest.ts';
import { listedFiles } from './listed-files.ts';

/**
 * The digest of a list of packages: four bytes of the SHA-256 of each pool file that it names, in no order that matters. A file whose four bytes are not
 * in it is not named by that list, for certain; one whose bytes are there may be. So a cleaner need not read the lists that a file
 * never was in: of a thousand names, one file in four million looks as if it were among them.
 */

const bytesEach = 4;
/** A list that is larger names more than a record would hold digests of. Bytes. */
const largestList = 8 * 2 ** 20;

/** The digest of an uncompressed list; undefined where it would be too large, or the list cannot be read. */
export function nameDigest(list: Uint8Array, index: string): Uint8Array | undefined {
  if (list.length > largestList) return undefined;
  try {
    const names = new Set(listedFiles(list, index, index).map(({ filename }) => filename));
    return Buffer.concat([...names].map((name) => print(name)));
  } catch (error) {
    // Another tool may have written it. Whoever has to read it says what is wrong.
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** Pool files that are sought in digests. */
export class SoughtNames {
  readonly #prints: ReadonlySet<number>;

  constructor(filenames: readonly string[]) {
    this.#prints = new Set(filenames.map((name) => print(name).readUInt32BE()));
  }

  /** Whether a list with this digest, as a record holds it, may name one of them. Without a digest anything is possible. */
  mayBeIn(named: string | undefined): boolean {
    if (named === undefined) return true;
    const bytes = Buffer.from(named, 'base64');
    if (bytes.length % bytesEach !== 0) return true;
    for (let at = 0; at < bytes.length; at += bytesEach) if (this.#prints.has(bytes.readUInt32BE(at))) return true;
    return false;
  }
}

function print(filename: string): Buffer {
  return Buffer.from(digest(filename).slice(0, 2 * bytesEach), 'hex');
}
