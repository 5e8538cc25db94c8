import type { PartBody } from './object-store.ts';
import { bytesPart } from './part-body.ts';
import {
  type ByteReader,
  CheckedReader,
  fileChanged,
  openOnDisk,
  type ScannedState,
  type SourceFile,
} from './source-file.ts';

/** Cuts a file into parts. Disposed of when all of them were sent. */
export interface PartReader extends AsyncDisposable {
  /** So many parts may be in hand together: bounds the memory. */
  readonly inHand: number;
  /** The next part, of `length` bytes. Throws when there are fewer. */
  next(length: number): Promise<PartBody>;
  /** Throws when the parts together are not what was promised. */
  checkEnd(): void;
}

/**
 * Parts that are read when they are sent, piece by piece. What was scanned is not hashed again, which takes as long as to send it within one
 * machine: after the last byte of every part the file is looked at whether it is still the same, and the hash of the part goes with it for the
 * store to compare.
 */
export async function scannedParts(file: SourceFile, { stamp, parts }: ScannedState): Promise<PartReader> {
  const disk = await openOnDisk(file);
  let number = 0;
  let begin = 0;
  return {
    inHand: 16,
    next: async (length) => {
      const [offset, sha256] = [begin, parts[number]];
      if (sha256 === undefined) throw fileChanged(file);
      number += 1;
      begin += length;
      const read = async (position: number, room: Buffer) => {
        const left = length - position;
        const bytesRead = await disk.read(room.subarray(0, left), offset + position);
        if (bytesRead === left && (await disk.stamp()) !== stamp) throw fileChanged(file);
        return room.subarray(0, bytesRead);
      };
      return { length, sha256, read };
    },
    checkEnd: () => {},
    [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose](),
  };
}

/** Parts of what can only be read once: each is in memory until it has been sent. Checked against `sha256` at the end. */
export function heldParts(source: ByteReader, size: number, sha256: string | undefined): PartReader {
  const reader = new CheckedReader(source, size, sha256);
  return {
    inHand: 4,
    next: async (length) => bytesPart(await reader.next(length)),
    checkEnd: () => reader.checkEnd(),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
