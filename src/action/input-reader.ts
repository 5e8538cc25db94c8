import { Problem } from '../problem.ts';
import type { Secrets } from './secrets.ts';

/** Where inputs come from: the runner, or a test. */
export interface InputSource {
  /** The value of an input without surrounding blanks; empty when it is not given. */
  input(name: string): string;
  /** A variable of the environment. */
  variable(name: string): string | undefined;
}

/** A fault of an input, worded after its name: `is "maybe", which is neither true nor false.` */
export interface InputFault {
  readonly what: string;
  readonly advice: string;
}

/**
 * Reads single inputs and gathers their faults, so that one run tells the user about all of them. A faulty input reads as if it
 * were not given; whoever has read everything throws `faults` before using any value.
 */
export class InputReader {
  readonly faults: Problem[] = [];
  readonly #source: InputSource;
  readonly #secrets: Secrets;

  constructor(source: InputSource, secrets: Secrets) {
    this.#source = source;
    this.#secrets = secrets;
  }

  /** Notes a fault of an input, or of a variable: those are the names in capitals. */
  fault(name: string, { what, advice }: InputFault): undefined {
    const kind = /^[A-Z0-9_]+$/.test(name) ? 'variable' : 'input';
    this.faults.push(
      new Problem({
        code: `${kind}-invalid`,
        title: `The ${kind} ${name} is not valid`,
        what: `The ${kind} \`${name}\` ${what}`,
        advice,
      }),
    );
  }

  /** Notes a fault that was found, in its own words, by the part that knows the input's grammar. */
  problem(problem: Problem): void {
    this.faults.push(problem);
  }

  text(name: string): string | undefined {
    return present(this.#source.input(name));
  }

  variable(name: string): string | undefined {
    return present(this.#source.variable(name)?.trim());
  }

  /** The input, or the first of these variables that is set, with the name of the one it was: faults are of that one. */
  textOrVariable(input: string, variables: readonly string[]): { name: string; value: string } | undefined {
    const value = this.text(input);
    if (value !== undefined) return { name: input, value };
    for (const name of variables) {
      const value = this.variable(name);
      if (value !== undefined) return { name, value };
    }
    return undefined;
  }

  secret(name: string): string | undefined {
    return this.#masked(this.text(name));
  }

  secretVariable(name: string): string | undefined {
    return this.#masked(this.variable(name));
  }

  /** A value that must fit on one line of a Release file. */
  line(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || !hasControlCharacter(value)) return value;
    return this.fault(name, {
      what: 'has a line break or another control character in it.',
      advice: 'Write it on one line.',
    });
  }

  /** Every line that is not blank, without surrounding blanks. */
  lines(name: string): string[] {
    return (this.text(name) ?? '').split('\n').flatMap((line) => present(line.trim()) ?? []);
  }

  /** Words apart by blanks, commas or lines; every word once. */
  words(name: string): string[] {
    return [...new Set((this.text(name) ?? '').split(/[\s,]+/).filter((word) => word !== ''))];
  }

  /** `true` or `false` in the spellings of YAML 1.2's core schema; any other spelling is a fault, never false. */
  boolean(name: string): boolean | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (['true', 'True', 'TRUE'].includes(value)) return true;
    if (['false', 'False', 'FALSE'].includes(value)) return false;
    return this.fault(name, {
      what: `is ${quoted(value)}, which is neither \`true\` nor \`false\`.`,
      advice: `Write \`${name}: true\` or \`${name}: false\`.`,
    });
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    const chosen = choices.find((choice) => choice === value);
    if (value === undefined || chosen !== undefined) return chosen;
    return this.fault(name, {
      what: `is ${quoted(value)}, which it does not know.`,
      advice: `Write one of ${choices.map((choice) => `\`${choice}\``).join(', ')}.`,
    });
  }

  /** How many requests may be in flight: a whole number from 1 to 512, or `auto`. */
  concurrency(name: string): number | 'auto' | undefined {
    const value = this.text(name);
    if (value === undefined || value === 'auto') return value;
    const count = /^\d{1,3}$/.test(value) ? Number(value) : 0;
    if (count >= 1 && count <= mostInFlight) return count;
    return this.fault(name, {
      what: `is ${quoted(value)}, which is no whole number from 1 to ${mostInFlight}.`,
      advice: `Write a number such as \`${name}: 16\`, or \`${name}: auto\`.`,
    });
  }

  #masked(value: string | undefined): string | undefined {
    if (value !== undefined) this.#secrets.add(value);
    return value;
  }
}

/** A value as a message shows it: on one line and of bounded length, whatever was given. */
export function quoted(value: string): string {
  const printable = Array.from(value, (character) => (hasControlCharacter(character) ? '\u{fffd}' : character));
  return printable.length > mostShown ? `"${printable.slice(0, mostShown).join('')}…"` : `"${printable.join('')}"`;
}

/** Whether a text holds a C0 or C1 control character, or a line separator of Unicode: a line break in any sense. */
export function hasControlCharacter(text: string): boolean {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

const mostInFlight = 512;
const mostShown = 200;

function present(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** The object without its undefined properties: an optional property is there or not, never there and undefined. */
export function given<T extends object>(properties: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(properties).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
