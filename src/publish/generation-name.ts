import { Problem } from '../problem.ts';
import { storedHead } from './next-record.ts';
import type { SuiteRecord } from './suite-record.ts';

/** How a user says which generation of a suite is meant. */
export type GenerationName =
  | { readonly kind: 'number'; readonly number: number }
  /** The one that was live then, milliseconds since the epoch. */
  | { readonly kind: 'moment'; readonly at: number }
  /** The one whose head has a SHA-256 that begins like this, lower-case hex. */
  | { readonly kind: 'hash'; readonly prefix: string };

/** A generation as the record knows it. */
export interface KnownGeneration {
  readonly number: number;
  readonly headSha256: string;
}

/** What is understood, for messages. */
export const generationGrammar =
  'a number (`12`), a moment (`2026-01-31T12:00:00Z`) or the first digits, at least 8, of the SHA-256 of an InRelease';

/** Reads one name; undefined when it is none. Up to seven digits are a number, and a moment says its time zone. */
export function parseGenerationName(text: string): GenerationName | undefined {
  if (/^\d{1,7}$/.test(text)) return { kind: 'number', number: Number(text) };
  if (/^[0-9a-f]{8,64}$/i.test(text)) return { kind: 'hash', prefix: text.toLowerCase() };
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : { kind: 'moment', at };
}

/** The generation that is meant, newest or kept. Throws `generation-unknown` with those that there are, and `generation-ambiguous`. */
export function findGeneration(record: SuiteRecord, name: GenerationName): KnownGeneration {
  const known = knownGenerations(record);
  if (name.kind === 'number') return known.find(({ number }) => number === name.number) ?? unknown(record, known);
  if (name.kind === 'moment') return liveAt(record, name.at) ?? unknown(record, known);
  const [found, another] = known.filter(({ headSha256 }) => headSha256.startsWith(name.prefix));
  if (found !== undefined && another !== undefined) throw ambiguous(record, name.prefix);
  return found ?? unknown(record, known);
}

function knownGenerations(record: SuiteRecord): KnownGeneration[] {
  return [newest(record), ...record.kept];
}

function newest(record: SuiteRecord): KnownGeneration {
  return { number: record.generation.number, headSha256: storedHead(record).sha256 };
}

/** A generation was live from the moment when the one before it was replaced; the oldest that is kept, from when it was made. */
function liveAt(record: SuiteRecord, at: number): KnownGeneration | undefined {
  const { kept, generation } = record;
  const oldest = kept.at(-1) ?? generation;
  const since = oldest.made?.at;
  if (since === undefined || at < Date.parse(since)) return undefined;
  return kept.findLast(({ until }) => at < Date.parse(until)) ?? newest(record);
}

function unknown({ suite }: SuiteRecord, known: readonly KnownGeneration[]): never {
  throw new Problem({
    code: 'generation-unknown',
    title: 'There is no such generation to go back to',
    what: `Suite ${suite} keeps no generation that fits \`to\`, only ${known.map(({ number }) => number).join(', ')}.`,
    advice: 'Run with `command: history` to see which they are.',
  });
}

function ambiguous({ suite }: SuiteRecord, prefix: string): Problem {
  return new Problem({
    code: 'generation-ambiguous',
    title: 'Two generations fit',
    what: `Suite ${suite} keeps more than one generation whose InRelease has a SHA-256 that begins with ${prefix}.`,
    advice: 'Write more digits, or the number of the generation.',
  });
}
