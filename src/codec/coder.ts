import type { Fault } from './faults.ts';
import type { FileToSum } from './file-sums.ts';

/** The codings that run in a worker, because Node has none of its own. */
export type CoderName = 'xz-encode' | 'xz-decode' | 'lzma-decode' | 'bz2-decode';

/**
 * One stream being encoded or decoded, in steps short enough that several coders can share a thread: a step takes in and
 * gives out a bounded amount, so it never runs longer than some tenths of a second.
 */
export interface Coder {
  /**
   * Goes on with the stream. `input` comes only when the step before said that it needs more; `last` says that nothing
   * follows it. Throws `DecoderFault`.
   */
  step(input: Uint8Array | undefined, last: boolean): Step;
  /** Gives back what the coder holds. Nothing is called afterwards. */
  release(): void;
}

export interface Step {
  readonly output: Uint8Array<ArrayBuffer>;
  /** True: call again without input. False: the step needs more input or, after the last, the stream is complete. */
  readonly more: boolean;
}

/** What the pool asks of a worker. Sessions are numbered by the pool. */
export type Request =
  | { readonly kind: 'open'; readonly session: number; readonly coder: CoderName | FileToSum }
  | {
      readonly kind: 'step';
      readonly session: number;
      readonly input: Uint8Array<ArrayBuffer> | undefined;
      readonly last: boolean;
    }
  | { readonly kind: 'close'; readonly session: number };

/** The answer to one `step`. */
export type Reply =
  | { readonly session: number; readonly step: Step }
  | { readonly session: number; readonly fault: Fault }
  /** A defect of ours, not of the input. */
  | { readonly session: number; readonly defect: unknown };

/** The bytes of several pieces in one array of their own. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
