import { createHash, type Hash } from 'node:crypto';

/** The sums of a file's bytes, lower-case hex. */
export interface Sums {
  readonly md5: string;
  readonly sha256: string;
  /** SHA-256 of every `partSize` bytes, in order; empty when no such size was given. */
  readonly parts: readonly string[];
}

/** Takes the bytes of a file as they come. */
export class Summing {
  readonly #md5 = createHash('md5');
  readonly #sha256 = createHash('sha256');
  readonly #partSize: number;
  readonly #parts: string[] = [];
  #part: { left: number; readonly sha256: Hash } | undefined;

  constructor(partSize?: number) {
    this.#partSize = partSize ?? 0;
  }

  update(bytes: Uint8Array): void {
    this.#md5.update(bytes);
    this.#sha256.update(bytes);
    if (this.#partSize === 0) return;
    for (let at = 0; at < bytes.length; ) {
      const part = this.#part ?? { left: this.#partSize, sha256: createHash('sha256') };
      const piece = bytes.subarray(at, at + part.left);
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
    this.#parts.push(this.#part.sha256.digest('hex'));
    this.#part = undefined;
  }
}
