import { readFileSync } from 'node:fs';

/** A change of one source file: `from` stands there exactly once. */
interface Edit {
  /** Below `src/`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export type SuiteName = 'crash' | 'race' | 'vendors' | 'hostile' | 'clients';

/** Where a fault must be seen, and as what. */
export interface Sight {
  readonly suites: readonly SuiteName[];
  /** Names of those files of tests that are run, where the whole suite would take long to come to what sees it; all when absent. */
  readonly files?: readonly string[];
  /** What is found then. */
  readonly shows: RegExp;
}

/** A rule of this project, and how to break it. */
export interface SeededFault {
  readonly name: string;
  /** What is wrong then, in a few words. */
  readonly breaks: string;
  /** Suites that must fail, each named once. */
  readonly seenBy: readonly Sight[];
  readonly edits: readonly Edit[];
}

const sources = new URL('../../src/', import.meta.url);

/** Where this suite must see the fault; undefined when it need not. */
export function sightIn(suite: SuiteName, { seenBy }: SeededFault): Sight | undefined {
  return seenBy.find(({ suites }) => suites.includes(suite));
}

/** The address of a source file as it is loaded. */
export function addressOf({ file }: Edit): string {
  return new URL(file, sources).href;
}

/** A source file with the edits of a fault that are for it. Throws when one does not fit: then the source has moved on. */
export function withFault({ name, edits }: SeededFault, address: string, source: string): string {
  return edits
    .filter((edit) => addressOf(edit) === address)
    .reduce((text, { file, from, to }) => {
      if (text.split(from).length !== 2) throw new Error(`The fault ${name} does not fit src/${file} any more.`);
      return text.replace(from, () => to);
    }, source);
}

/** Throws when the fault does not fit the sources any more. */
export function requireFits(fault: SeededFault): void {
  for (const address of new Set(fault.edits.map(addressOf))) {
    withFault(fault, address, readFileSync(new URL(address), 'utf8'));
  }
}
