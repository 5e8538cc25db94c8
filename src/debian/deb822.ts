import { isUtf8 } from 'node:buffer';

import { Problem, throwProblems } from '../problem.ts';

/** One field of a stanza. */
export interface Field {
  readonly name: string;
  /**
   * The text after `Name:` and at most one blank. Continuation lines keep their leading blank and are joined by `\n`; no
   * newline ends the value. A field whose first line is empty (`Files:`) has a value that begins with `\n`.
   */
  readonly value: string;
}

/** The fields of one paragraph, in the order of the file. */
export type Stanza = readonly Field[];

/**
 * Reads the stanzas of an index or a Release file that somebody has published. Order, spelling and number of fields are
 * not judged. Only an empty line ends a stanza: a line of blanks is a continuation line, as apt reads it.
 *
 * Throws a `Problem` (`stanza-malformed`) for a line that belongs to no field: dropping it would lose what it meant.
 */
export function parseStanzas(text: string): Stanza[] {
  const stanzas: Stanza[] = [];
  let fields: { name: string; value: string }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') {
      if (fields.length > 0) stanzas.push(fields);
      fields = [];
      continue;
    }
    const last = fields.at(-1);
    const colon = line.indexOf(':');
    if (isContinuation(line) && last !== undefined) last.value += `\n${line}`;
    else if (!isContinuation(line) && colon > 0)
      fields.push({ name: line.slice(0, colon), value: firstLine(line, colon) });
    else throw malformed(index + 1, line);
  }
  if (fields.length > 0) stanzas.push(fields);
  return stanzas;
}

/** The value of the first field of this name; names are compared without case (deb822(5)). */
export function fieldValue(stanza: Stanza, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return stanza.find((field) => field.name.toLowerCase() === wanted)?.value;
}

/** The stanza as text, each field ended by a newline. The empty line that ends a stanza is the caller's to write. */
export function renderStanza(stanza: Stanza): string {
  return stanza.map(renderField).join('');
}

function renderField({ name, value }: Field): string {
  const blank = value === '' || value.startsWith('\n') ? '' : ' ';
  return `${name}:${blank}${value}\n`;
}

function isContinuation(line: string): boolean {
  return line.startsWith(' ') || line.startsWith('\t');
}

function firstLine(line: string, colon: number): string {
  const start = colon + 1;
  return line.slice(line[start] === ' ' || line[start] === '\t' ? start + 1 : start);
}

function malformed(line: number, text: string): Problem {
  return new Problem({
    code: 'stanza-malformed',
    title: 'A published file cannot be read',
    what: `Line ${line} of a published index or Release file is neither a field nor part of one: ${quoted(text)}.`,
    advice: 'Publish that suite again with the tool that wrote it, or restore the file from a backup.',
  });
}

/**
 * Text from a file, fit for a message: one line, at most `length` characters of it, and what shows nothing but steers a terminal or
 * turns the text around it escaped.
 */
export function quoted(text: string, length = 60): string {
  return JSON.stringify(text.length > length ? `${text.slice(0, length)}…` : text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** What is being read strictly, in the words of its messages. */
export interface Document {
  /** First part of its problems' codes: `control`. */
  readonly code: string;
  /** First part of their titles: `Control file`. */
  readonly title: string;
  /** Begins their sentences: `The control file of hello_1.0_amd64.deb`. */
  readonly name: string;
  /** Ends their advice: `rebuild the package`. */
  readonly remedy: string;
  /** Bytes above which it is refused unread. */
  readonly limit: number;
}

/** A problem of a document. `what` goes on from the document's name; `fix` comes before its remedy. */
export function problemIn(document: Document, fault: string, what: string, fix: string): Problem {
  return new Problem({
    code: `${document.code}-${fault}`,
    title: `${document.title}: ${fault.replaceAll('-', ' ')}`,
    what: `${document.name} ${what}.`,
    advice: `${fix}, then ${document.remedy}.`,
  });
}

/**
 * The value of a field that a document must have. Where it is missing or `faultOf` finds fault with it, a problem is added to
 * `problems` (`…-field-missing`, or a code like `…-version` that ends in the field's name) and the value is the empty text.
 */
export function requiredValue(
  stanza: Stanza,
  name: string,
  faultOf: (value: string) => string | undefined,
  document: Document,
  problems: Problem[],
): string {
  const value = fieldValue(stanza, name) ?? '';
  if (value === '') {
    problems.push(problemIn(document, 'field-missing', `has no value for the field ${name}`, 'Add it'));
    return '';
  }
  const fault = faultOf(value);
  if (fault === undefined) return value;
  const what = `has the ${name} ${quoted(value)}, which ${fault}`;
  problems.push(problemIn(document, name.toLowerCase(), what, 'Correct that field'));
  return '';
}

/**
 * Reads the one stanza of a file that comes from outside, and refuses whatever dpkg, apt and the archive tools do not all
 * read alike. Field names that Debian defines get Debian's spelling, since text tools such as debootstrap look for it;
 * blanks around a value are dropped (Policy 5.1).
 *
 * `firstLine` is the number of the first line in the file, for messages. Throws one `Problem` for each kind of fault, all
 * together, with the code `<document.code>-<fault>`.
 */
export function parseStrictStanza(bytes: Uint8Array, document: Document, firstLine = 1): Stanza {
  if (bytes.length > document.limit) {
    const what = `has ${bytes.length} bytes, more than the ${document.limit} that are read`;
    throw problemIn(document, 'too-large', what, 'Shorten its fields');
  }
  const found: Findings = new Map();
  if (!isUtf8(bytes)) note(found, 'not-utf-8');
  // The decoder drops a byte order mark, so that it is reported once and not as part of the first field name as well.
  const text = new TextDecoder().decode(bytes);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) note(found, 'byte-order-mark');

  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else note(found, 'no-final-newline');
  const fields = readFields(lines, firstLine, found);
  if (fields.length === 0) note(found, 'empty');

  throwProblems([...found].map(([fault, { places, count }]) => faultProblem(document, fault, places, count)));
  return fields;
}

/** What can be wrong with a strict stanza: what a document does that has the fault, and how to cure it. */
const faults = {
  'not-utf-8': { does: 'is not UTF-8', fix: 'Save it as UTF-8' },
  'byte-order-mark': { does: 'begins with a byte order mark', fix: 'Save it without one' },
  'no-final-newline': { does: 'does not end in a newline', fix: 'End its last line with a newline' },
  empty: { does: 'has no field', fix: 'Write its fields' },
  'carriage-return': { does: 'has a carriage return', fix: 'Write it with plain line feeds' },
  'nul-byte': { does: 'has a NUL byte', fix: 'Remove it' },
  'control-character': { does: 'has a control character', fix: 'Remove it' },
  comment: { does: 'has a comment', fix: 'Remove the lines that begin with "#"' },
  'blank-line-first': { does: 'has an empty line before its first field', fix: 'Remove that line' },
  'blank-continuation': { does: 'has a line of blanks', fix: 'Write " ." for an empty line inside a field' },
  'continuation-first': { does: 'has a continuation line before any field', fix: 'Remove its leading blank' },
  'line-without-colon': { does: 'has a line that is no field', fix: 'Begin each field with its name and a colon' },
  'field-name': { does: 'has a field name that is not allowed', fix: 'Correct that name' },
  'field-twice': { does: 'has a field for the second time', fix: 'Keep one of the two' },
  'empty-last-field': { does: 'ends in a field without a value', fix: 'Remove that field' },
  'second-stanza': { does: 'has a second stanza', fix: 'Remove the empty line and what follows it' },
} as const satisfies Record<string, { does: string; fix: string }>;

type Fault = keyof typeof faults;

/** The kinds of fault found so far; of each the first few places and how many there are. */
type Findings = Map<Fault, { readonly places: string[]; count: number }>;

const placesShown = 3;

function note(found: Findings, fault: Fault, place?: string): void {
  const finding = found.get(fault) ?? { places: [], count: 0 };
  found.set(fault, finding);
  finding.count += 1;
  if (place !== undefined && finding.places.length < placesShown) finding.places.push(place);
}

function faultProblem(document: Document, fault: Fault, places: readonly string[], count: number): Problem {
  const { does, fix } = faults[fault];
  const rest = count > placesShown ? ` and ${count - placesShown} more` : '';
  const where = places.length === 0 ? '' : ` in ${places.join(', ')}${rest}`;
  return problemIn(document, fault, `${does}${where}`, fix);
}

/** At least two characters, as dpkg demands; the range is that of Policy 5.1. */
const fieldName = /^(?![#-])[!-9;-~]{2,}$/;

function readFields(lines: readonly string[], firstLine: number, found: Findings): Stanza {
  const fields = new Map<string, { name: string; lines: string[] }>();
  let current: string[] | undefined;
  let ended = false;
  for (const [index, raw] of lines.entries()) {
    const place = `line ${firstLine + index}`;
    noteCharacters(raw, place, found);
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line === '') {
      if (current === undefined) note(found, 'blank-line-first', place);
      else ended = true;
    } else if (ended) {
      note(found, 'second-stanza', place);
      break;
    } else if (line.startsWith('#')) note(found, 'comment', place);
    else if (!isContinuation(line)) {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(colon, 0));
      const key = name.toLowerCase();
      current = [trimBlanks(line.slice(colon + 1))];
      if (colon < 0) note(found, 'line-without-colon', `${place} (${quoted(line)})`);
      else if (!fieldName.test(name)) note(found, 'field-name', `${place} (${quoted(name)})`);
      else if (fields.has(key)) note(found, 'field-twice', `${place} (${quoted(name)})`);
      else fields.set(key, { name: spellings.get(key) ?? name, lines: current });
      // dpkg sees the file end before the value begins, and refuses to build or install such a package.
      if (current[0] === '' && index === lines.length - 1)
        note(found, 'empty-last-field', `${place} (${quoted(name)})`);
    } else if (trimBlanks(line) === '') note(found, 'blank-continuation', place);
    else if (current === undefined) note(found, 'continuation-first', place);
    else current.push(line);
  }
  return [...fields.values()].map(({ name, lines: value }) => ({ name, value: trimBlanks(value.join('\n')) }));
}

function noteCharacters(line: string, place: string, found: Findings): void {
  const kinds = new Set<Fault>();
  for (let index = 0; index < line.length; index += 1) {
    const code = line.charCodeAt(index);
    if (code === 0x00) kinds.add('nul-byte');
    else if (code === 0x0d) kinds.add('carriage-return');
    else if ((code < 0x20 && code !== 0x09) || code === 0x7f) kinds.add('control-character');
  }
  for (const kind of kinds) note(found, kind, place);
}

/** `trim()` would take other white space too, and a pattern takes quadratic time on a long run of blanks. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Fields of deb-control(5), dsc(5) and deb-changes(5), by their lower-case names. */
const spellings: ReadonlyMap<string, string> = new Map(
  [
    'Package Source Version Architecture Maintainer Uploaders Original-Maintainer Description Homepage Section Priority',
    'Essential Protected Important Build-Essential Multi-Arch Package-Type Installed-Size Origin Bugs',
    'Depends Pre-Depends Recommends Suggests Enhances Breaks Conflicts Replaces Provides Built-Using Static-Built-Using',
    'Build-Depends Build-Depends-Indep Build-Depends-Arch Build-Conflicts Build-Conflicts-Indep Build-Conflicts-Arch',
    'Tag Task Kernel-Version Subarchitecture Installer-Menu-Item Build-Ids Auto-Built-Package Phased-Update-Percentage',
    'Format Binary Standards-Version Testsuite Testsuite-Triggers Package-List Dgit Vcs-Browser Vcs-Arch Vcs-Bzr Vcs-Cvs',
    'Vcs-Darcs Vcs-Git Vcs-Hg Vcs-Mtn Vcs-Svn Date Distribution Urgency Closes Changes Changed-By Binary-Only',
    'Files Checksums-Sha1 Checksums-Sha256 Checksums-Sha512',
  ]
    .flatMap((line) => line.split(' '))
    .map((name) => [name.toLowerCase(), name]),
);
