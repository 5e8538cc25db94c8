import { Problem } from '../problem.ts';
import { fieldValue, parseStanzas, quoted, type Stanza } from './deb822.ts';
import { compareVersions } from './version.ts';

/**
 * Packages and Sources as what they are: long runs of bytes. A published index is never parsed and written again; one scan
 * finds where each stanza lies and what it is called, and a merge copies whole runs between the few places that change.
 */

/** What a stanza is known by and sorted by. For a source, `architecture` is what it can be built for and names nothing. */
export interface StanzaKey {
  readonly package: string;
  readonly version: string;
  /** Empty where the stanza has no such field. */
  readonly architecture: string;
}

/** One stanza of a scanned index. */
export interface IndexEntry extends StanzaKey {
  /** Offset of its first byte. */
  readonly start: number;
  /** Offset after its blank line; after its last byte where the index ends without one. */
  readonly end: number;
}

/** A stanza that joins an index. Its bytes may lack the final blank line, as the last stanza of a foreign index does. */
export interface ArrivingStanza extends StanzaKey {
  readonly bytes: Uint8Array;
}

export interface IndexChanges {
  /** In any order, each key once, and none that a carried entry has: the merge sorts, it does not judge. */
  readonly add: readonly ArrivingStanza[];
  /** Entries of this very scan: they are compared by identity. */
  readonly remove: ReadonlySet<IndexEntry>;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const blankLine = Buffer.from('\n\n');

/**
 * Finds the stanzas of an index without parsing or copying them. Any order, several blank lines in a row and a missing last
 * one are taken as they come; as in apt only an empty line ends a stanza.
 *
 * Throws a `Problem` naming `origin`: `index-stanza-incomplete` for a stanza without Package or Version, `index-line-ends`
 * for an index in CRLF, whose stanzas would all seem to be one.
 */
export function scanStanzas(index: Uint8Array, origin: string): IndexEntry[] {
  const bytes = bufferOf(index);
  // A carriage return is rare, so that looking for one is far quicker than looking at every line end.
  if (bytes.includes(carriageReturn) && bytes.includes('\n\r\n')) throw crlf(origin);
  const entries: IndexEntry[] = [];
  // A list has hardly more than one architecture: one string for all entries of it.
  let last = '';
  for (let start = afterNewlines(bytes, 0); start < bytes.length; ) {
    const blank = bytes.indexOf(blankLine, start);
    const end = blank === -1 ? bytes.length : blank + blankLine.length;
    const { package: name, version, architecture } = keyOf(bytes.subarray(start, end), start, origin);
    if (architecture !== last) last = architecture;
    entries.push({ package: name, version, architecture: last, start, end });
    start = afterNewlines(bytes, end);
  }
  return entries;
}

/** All fields of one stanza, parsed on demand. */
export function entryFields(index: Uint8Array, entry: IndexEntry): Stanza {
  return fieldsOf(bufferOf(index).subarray(entry.start, entry.end));
}

/**
 * The value of a one-line field of one stanza, found without parsing the others. Spelled as indexes spell it (`Filename`);
 * a stanza that spells it otherwise is parsed after all, since field names have no case (deb822(5)).
 */
export function entryValue(index: Uint8Array, entry: IndexEntry, name: string): string | undefined {
  return lineValue(bufferOf(index).subarray(entry.start, entry.end), name);
}

/**
 * The index without the removed entries and with the new stanzas in their places: by name (bytewise), then version (Debian's
 * order), then architecture. Carried stanzas keep their bytes and their order; in an index of foreign order a new one goes
 * before the first that is greater. Every stanza of the result ends in exactly one blank line, the last one too, since
 * debootstrap drops a last stanza without it. Linear in the size of the index.
 */
export function mergeEntries(index: Uint8Array, entries: readonly IndexEntry[], changes: IndexChanges): Uint8Array {
  const bytes = bufferOf(index);
  const arriving = changes.add.toSorted(compareKeys);
  const pieces: Uint8Array[] = [];
  let run = { start: 0, end: 0 };
  const endRun = () => {
    if (run.end > run.start) pieces.push(...closed(bytes.subarray(run.start, run.end)));
    run = { start: run.end, end: run.end };
  };

  let taken = 0;
  for (const entry of entries) {
    if (changes.remove.has(entry)) continue;
    for (let next = arriving[taken]; next !== undefined && compareKeys(next, entry) < 0; next = arriving[++taken]) {
      endRun();
      pieces.push(...closed(next.bytes));
    }
    if (entry.start !== run.end) {
      endRun();
      run = { start: entry.start, end: entry.end };
    } else {
      run.end = entry.end;
    }
  }
  endRun();
  for (const last of arriving.slice(taken)) pieces.push(...closed(last.bytes));
  return Buffer.concat(pieces);
}

/**
 * A total order, so that the bytes of an index do not depend on the order of its merges: versions that are equal in Debian's
 * order (`1.0`, `1.0-0`) are told apart by their text.
 */
function compareKeys(a: StanzaKey, b: StanzaKey): number {
  return (
    compareText(a.package, b.package) ||
    (a.version === b.version ? 0 : compareVersions(a.version, b.version) || compareText(a.version, b.version)) ||
    compareText(a.architecture, b.architecture)
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The same bytes, seen as a Buffer. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function afterNewlines(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === newline) at += 1;
  return at;
}

/** The stanza, followed by what it lacks of its blank line. */
function closed(stanza: Uint8Array): Uint8Array[] {
  if (stanza.at(-1) !== newline) return [stanza, blankLine];
  return stanza.at(-2) === newline ? [stanza] : [stanza, blankLine.subarray(1)];
}

function keyOf(stanza: Buffer, at: number, origin: string): StanzaKey {
  const name = lineValue(stanza, 'Package');
  if (name === undefined || name === '') throw incomplete(origin, at, 'Package');
  const version = lineValue(stanza, 'Version');
  if (version === undefined || version === '') throw incomplete(origin, at, 'Version', name);
  return { package: name, version, architecture: lineValue(stanza, 'Architecture') ?? '' };
}

function lineValue(stanza: Buffer, name: string): string | undefined {
  const label = `${name}:`;
  const first = stanza.toString('latin1', 0, label.length) === label;
  const line = first ? 0 : stanza.indexOf(`\n${label}`, 0, 'latin1') + 1;
  if (!first && line === 0) return fieldValue(fieldsOf(stanza), name)?.trim();
  const start = line + label.length;
  const end = stanza.indexOf(newline, start);
  return stanza.toString('utf8', start, end === -1 ? stanza.length : end).trim();
}

function fieldsOf(stanza: Buffer): Stanza {
  return parseStanzas(stanza.toString('utf8'))[0] ?? [];
}

function incomplete(origin: string, at: number, field: string, name?: string): Problem {
  const whose = name === undefined ? `The stanza at byte ${at}` : `The stanza of ${quoted(name)} at byte ${at}`;
  return new Problem({
    code: 'index-stanza-incomplete',
    title: 'A published index is damaged',
    what: `${whose} of ${origin} has no ${field}.`,
    advice: 'Publish that suite again with the tool that wrote it, or restore the file from a backup.',
  });
}

function crlf(origin: string): Problem {
  return new Problem({
    code: 'index-line-ends',
    title: 'A published index has DOS line ends',
    what: `${origin} separates its stanzas by CRLF, which apt does not read.`,
    advice: 'Publish that suite again with LF line ends before this action takes it over.',
  });
}
