import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { isMissingFile } from './directory-errors.ts';

/** Files that are synchronised at once: enough for the disk to join them, few enough for the limit on open files. */
const atOnce = 16;

/** Knows what was written and may still be in the machine's memory only, and sees to it that it reaches the disk. */
export class DurableWrites {
  #pending = new Set<string>();
  #settling: Promise<void> = Promise.resolve();
  readonly #slots = pLimit(atOnce);

  /** A file that was put in its place; it is not waited for. */
  add(path: string): void {
    this.#pending.add(path);
    this.#pending.add(dirname(path));
  }

  /**
   * Resolves when this file or folder, and everything added before, is on disk. Calls at the same time join: while one group is
   * being written, the next gathers.
   */
  async settle(path: string): Promise<void> {
    this.#pending.add(path);
    // A group that failed has told its own callers, and left its paths for the next.
    this.#settling = this.#settling.catch(() => undefined).then(() => this.#flush());
    await this.#settling;
  }

  async #flush(): Promise<void> {
    const group = this.#pending;
    this.#pending = new Set();
    try {
      await this.#slots.map(group, synchronise);
    } catch (error) {
      for (const path of group) this.#pending.add(path);
      throw error;
    }
  }
}

/** fsync(2); of a folder too, which makes the names in it durable. What is gone by now needs nothing. */
async function synchronise(path: string): Promise<void> {
  try {
    await using file = await open(path);
    await file.sync();
  } catch (error) {
    if (!isMissingFile(error)) throw error;
  }
}
