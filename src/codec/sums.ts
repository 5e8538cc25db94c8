import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The sums of a file's bytes, lower-case hex. */
export interface Sums {
  readonly md5: string;
  readonly sha256: string;
  /** Of every `partSize` bytes, in order; empty when no such size was given. */
  readonly parts: readonly { readonly crc32: number; readonly sha256: string }[];
}

/** Takes the bytes of a file as they come. */
export class Summing {
  readonly #md5 = createHash('md5');
  readonly #sha256 = createHash('sha256');
  readonly #partSize: number;
  readonly #parts: { crc32: number; sha256: string }[] = [];
  #part: { left: number; crc32: number; sha256: Hash } | undefined;

  constructor(partSize?: number) {
    this.#partSize = partSize ?? 0;
  }

  update(bytes: Uint8Array): void {
    this.#md5.update(bytes);
    this.#sha256.update(bytes);
    if (this.#partSize === 0) return;
    for (let at = 0; at < bytes.length; ) {
      const part = this.#part ?? { left: this.#partSize, crc32: 0, sha256: createHash('sha256') };
      const piece = bytes.subarray(at, at + part.left);
      part.crc32 = crc32(piece, part.crc32);
      part.sha256.update(piece);
      part.left -= piece.length;
      this.#part = part;
      if (part.left === 0) this.#endPart();
      at += piece.length;
    }
  }

  end(): Sums {
    this.#endPart();
    return { md5: this.#md5.digest('hex'), sha256: this.#sha256.digest('hex'), parts: this.#parts };
  }

  #endPart(): void {
    if (this.#part === undefined) return;
    this.#parts.push({ crc32: this.#part.crc32, sha256: this.#part.sha256.digest('hex') });
    this.#part = undefined;
  }
}
