/**
 * The secrets of this run. The runner masks them in what it shows; this masks them once more in what the action prints,
 * so that a defect's message stays clean where no runner is: a local run, a test, a file.
 */
export class Secrets {
  readonly #mask: (secret: string) => void;
  readonly #known = new Set<string>();

  /** `mask` is the runner's own: told of every secret once, as soon as it is known. */
  constructor(mask: (secret: string) => void) {
    this.#mask = mask;
  }

  /**
   * Remembers a secret whole, each of its lines, and each long word of a line: a log shows a multi-line secret line by line, and
   * keys that came through a CI variable have blanks or a written-out `\n` where their line breaks were.
   */
  add(secret: string): void {
    const lines = secret.split(/\r?\n|\\n/).map((line) => line.trim());
    const words = lines.flatMap((line) => line.split(/\s+/));
    const tellingLines = lines.filter((line) => line.length >= shortestLine && !publicLine.test(line));
    const tellingWords = words.filter((word) => word.length >= shortestWord);
    for (const part of [secret.trim(), ...tellingLines, ...tellingWords]) {
      if (part === '' || this.#known.has(part)) continue;
      this.#known.add(part);
      this.#mask(part);
    }
  }

  /** The text with `***` in place of every secret. */
  redact(text: string): string {
    const longestFirst = [...this.#known].sort((a, b) => b.length - a.length);
    return longestFirst.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text);
  }
}

/** A shorter line of a key is its checksum or its tail: it tells nothing, and masking `=` would garble every log. */
const shortestLine = 8;

/** Shorter words of a key's text ("Comment:", "key") are words of ordinary log lines too. */
const shortestWord = 24;

/** The frame of an armored key is the same for everybody, and masking it would garble advice about keys. */
const publicLine = /^-----[A-Z ]+-----$/;
