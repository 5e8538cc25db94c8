import { joined } from './coder.ts';
import { corrupt, endsEarly } from './faults.ts';

/** Bits of a growing input, most significant first. Reading past its end throws `DecoderFault`. */
export class BitReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #bit = 0;

  /** Whole and begun bytes not yet read. */
  get left(): number {
    return this.#bytes.length - (this.#bit >> 3);
  }

  append(pieces: readonly Uint8Array[]): void {
    this.#bytes = joined([this.#bytes.subarray(this.#bit >> 3), ...pieces]);
    this.#bit &= 7;
  }

  /** `count` from 1 to 24. */
  bits(count: number): number {
    const at = this.#bit >> 3;
    const bytes = this.#bytes;
    if (this.#bit + count > bytes.length * 8) throw corrupt(endsEarly);
    const word =
      (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>>
      0;
    const value = (word << (this.#bit & 7)) >>> (32 - count);
    this.#bit += count;
    return value;
  }

  /** 32 bits, unsigned. */
  word(): number {
    return this.bits(16) * 65_536 + this.bits(16);
  }

  /** Streams begin on whole bytes. */
  align(): void {
    this.#bit = (this.#bit + 7) & ~7;
  }
}
