import { Buffer } from 'node:buffer';

import { type Problem, throwProblems } from '../problem.ts';
import { packageNameFault } from './control.ts';
import {
  type Document,
  parseStrictStanza,
  problemIn,
  quoted,
  requiredValue,
  type Stanza,
  trimBlanks,
} from './deb822.ts';
import { versionFault } from './version.ts';

/** A file that a .dsc or a .changes names, beside itself. */
export interface ListedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex. */
  readonly md5: string;
  readonly sha256: string;
}

/** A source package as its .dsc describes it. */
export interface SourcePackage {
  /** The fields of the .dsc without its signature and without the fields that are the archive's to write. */
  readonly stanza: Stanza;
  readonly package: string;
  readonly version: string;
  /** In the order of `Files`; the .dsc itself is not among them. */
  readonly files: readonly ListedFile[];
}

/**
 * Reads a .dsc (dsc(5)), strictly. A clear-signature is taken off and not verified: that would need the key of whoever built
 * the package, and what is published is signed with the repository's key anyway.
 *
 * `origin` is the path of the file. Its name goes into Sources as it is, so it must be as plain as the names in the .dsc. Throws
 * `Problem`s `dsc-…`, all that the file gives cause for.
 */
export function parseDsc(bytes: Uint8Array, origin: string): SourcePackage {
  const document: Document = {
    code: 'dsc',
    title: 'Source package',
    name: origin,
    remedy: 'build the source package again',
    limit: 4 * 1024 * 1024,
  };
  const stanza = parseSignedStanza(bytes, document);
  const problems: Problem[] = [];
  const ownName = origin.slice(origin.lastIndexOf('/') + 1);
  const ownFault = fileNameFault(ownName);
  if (ownFault !== undefined) {
    const what = `has the file name ${quoted(ownName)}, which ${ownFault}`;
    problems.push(problemIn(document, 'file-name', what, 'Name it SOURCE_VERSION.dsc'));
  }
  const name = requiredValue(stanza, 'Source', packageNameFault, document, problems);
  const version = requiredValue(stanza, 'Version', versionFault, document, problems);
  const files = listedFiles(stanza, 0, document, problems).map(({ file }) => file);
  for (const file of files) {
    const fault = name === '' ? undefined : sourceFileFault(file.name, name);
    if (fault === undefined) continue;
    problems.push(
      problemIn(document, 'foreign-file', `names the file ${quoted(file.name)}, which ${fault}`, 'Remove it'),
    );
  }
  throwProblems(problems);
  return {
    stanza: stanza.filter((field) => !archiveFields.has(field.name.toLowerCase())),
    package: name,
    version,
    files,
  };
}

/** In a Sources index `Package` takes the place of `Source`, and `Directory` says where the files lie. */
const archiveFields: ReadonlySet<string> = new Set(['package', 'directory']);

/** dpkg-source(1) unpacks nothing else; and a pool folder also holds the binaries of its source, under names of their own. */
function sourceFileFault(file: string, source: string): string | undefined {
  if (!file.startsWith(`${source}_`)) return `does not begin with "${source}_"`;
  if (/\.(?:dsc|changes|[ud]?deb)$/.test(file)) return 'is no part of a source package';
  return undefined;
}

/** Reads the one stanza of a file that may be clear-signed (RFC 9580, section 7), and refuses text outside the signature. */
export function parseSignedStanza(bytes: Uint8Array, document: Document): Stanza {
  if (bytes.length > document.limit || !startsWith(bytes, beginMessage)) return parseStrictStanza(bytes, document);
  const broken = (what: string) => problemIn(document, 'signature', what, 'Sign it again or not at all');
  // One character a byte: the stanza inside is judged by its bytes, as one that is not signed.
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const start = lines.indexOf('') + 1;
  const end = lines.indexOf('-----BEGIN PGP SIGNATURE-----', start);
  const after = lines.indexOf('-----END PGP SIGNATURE-----', end) + 1;
  if (start === 0 || end === -1 || after === 0)
    throw broken('begins like a clear-signed file but does not go on like one');
  if (lines.slice(after).some((line) => line !== ''))
    throw broken('has text after its signature, which nobody has signed');
  const text = lines.slice(start, end).map((line) => (line.startsWith('- ') ? line.slice(2) : line));
  return parseStrictStanza(Buffer.from(text.map((line) => `${line}\n`).join(''), 'latin1'), document, start + 1);
}

const beginMessage = '-----BEGIN PGP SIGNED MESSAGE-----\n';

function startsWith(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.subarray(0, text.length)).toString('latin1') === text;
}

/** A file with what stands between its size and its name in `Files`. */
interface DescribedFile {
  readonly file: ListedFile;
  readonly between: readonly string[];
}

/**
 * The files that `Files` and every `Checksums-…` field name, which must all name the same files with the same sizes. Names
 * are such as need no quoting anywhere: no folder, no leading dot, nothing that a URL would have to encode but `+` and `~`.
 *
 * `columns` is how many columns `Files` has between size and name. What is wrong is added to `problems`.
 */
export function listedFiles(stanza: Stanza, columns: number, document: Document, problems: Problem[]): DescribedFile[] {
  const files = readList(stanza, 'Files', columns, document, problems);
  const sha256 = readList(stanza, 'Checksums-Sha256', 0, document, problems);
  if (files === undefined || sha256 === undefined) return [];
  for (const { name: field } of stanza.filter(({ name }) => /^checksums-/i.test(name))) {
    const list = field === 'Checksums-Sha256' ? sha256 : readList(stanza, field, 0, document, problems);
    const difference = list === undefined ? undefined : listsDiffer(files, field, list, document);
    if (difference !== undefined) problems.push(difference);
  }
  return [...files].map(([name, { size, hash, between }]) => ({
    file: { name, size, md5: hash, sha256: sha256.get(name)?.hash ?? '' },
    between,
  }));
}

/** A line of `Files` or `Checksums-…` without its name. */
interface ListLine {
  readonly hash: string;
  readonly size: number;
  readonly between: readonly string[];
}

/** Hex digits of the hashes that the fields hold. */
const hashLengths: ReadonlyMap<string, number> = new Map([
  ['files', 32],
  ['checksums-sha1', 40],
  ['checksums-sha256', 64],
  ['checksums-sha512', 128],
]);

/** The lines of a list by the names in them, which are judged once, in `Files`; undefined, with a problem, when the field is missing or a line is malformed. */
function readList(
  stanza: Stanza,
  field: string,
  columns: number,
  document: Document,
  problems: Problem[],
): Map<string, ListLine> | undefined {
  const [first, ...rest] = requiredValue(stanza, field, () => undefined, document, problems).split('\n');
  if (first === '' && rest.length === 0) return undefined;
  const lines = new Map<string, ListLine>();
  for (const line of first === '' ? rest : [first ?? '', ...rest]) {
    const words = trimBlanks(line).split(/[ \t]+/);
    const [hash = '', size = '', ...between] = words;
    const name = between.pop();
    const isHash = /^[0-9a-f]+$/.test(hash) && hash.length === (hashLengths.get(field.toLowerCase()) ?? hash.length);
    if (name === undefined || between.length !== columns || !isHash || !/^[0-9]{1,15}$/.test(size)) {
      const what = `has the line ${quoted(trimBlanks(line))} in ${field}, which is not "hash size${' column'.repeat(columns)} name"`;
      problems.push(problemIn(document, 'file-list', what, 'Correct that line'));
      return undefined;
    }
    const fault = lines.has(name) ? 'is there already' : field === 'Files' ? fileNameFault(name) : undefined;
    if (fault !== undefined) {
      const what = `names the file ${quoted(name)} in ${field}, which ${fault}`;
      problems.push(problemIn(document, 'file-name', what, 'Name each file once, by a plain name'));
    }
    lines.set(name, { hash, size: Number(size), between });
  }
  return lines;
}

function fileNameFault(name: string): string | undefined {
  const foreign = /[^A-Za-z0-9+.~_-]/u.exec(name);
  if (foreign !== null) return `contains ${quoted(foreign[0])}`;
  if (!/^[A-Za-z0-9]/.test(name)) return 'does not begin with a letter or digit';
  if (name.length > 255) return 'is longer than 255 characters';
  return undefined;
}

/** One problem for all files that the two lists do not agree on: they tend to differ in many if in any. */
function listsDiffer(
  files: ReadonlyMap<string, ListLine>,
  field: string,
  list: ReadonlyMap<string, ListLine>,
  document: Document,
): Problem | undefined {
  const names = [...new Set([...files.keys(), ...list.keys()])];
  const [first, ...others] = names.filter((name) => files.get(name)?.size !== list.get(name)?.size);
  if (first === undefined) return undefined;
  const says = (line: ListLine | undefined) => (line === undefined ? 'not at all' : `with ${line.size} bytes`);
  const more = others.length === 0 ? '' : `, and differs in ${others.length} more`;
  const what = `lists ${quoted(first)} ${says(files.get(first))} in Files and ${says(list.get(first))} in ${field}${more}`;
  return problemIn(document, 'lists-differ', what, 'Make the lists agree');
}
