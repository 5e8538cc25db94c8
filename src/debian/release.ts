import { Problem } from '../problem.ts';
import { type Field, fieldValue, parseStanzas, quoted, renderStanza, type Stanza } from './deb822.ts';

/** A suite's Release: who it is, and which indexes it has. */
export interface Release {
  /**
   * Every field that is no list of sums, each value one line; in any order, since rendering has its own. Fields that this
   * tool does not know (`Changelogs`, `X-…`) are kept.
   */
  readonly fields: Stanza;
  readonly files: readonly ReleaseFile[];
}

/** One listed file: an index in a stored form, or its uncompressed twin, which is listed without being stored. */
export interface ReleaseFile {
  /** Relative to the suite: `main/binary-amd64/Packages.gz`. */
  readonly path: string;
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Fields in the order in which they are written; unknown ones come after them. */
const knownFields = [
  'origin',
  'label',
  'suite',
  'version',
  'codename',
  'date',
  'valid-until',
  'acquire-by-hash',
  'no-support-for-architecture-all',
  'notautomatic',
  'butautomaticupgrades',
  'architectures',
  'components',
  'signed-by',
  'description',
];

/**
 * Lists of sums. SHA256 alone is read and written: a client picks the strongest list, and one more would need a by-hash tree
 * of its own (apt takes SHA512 where debootstrap takes SHA256).
 */
const sumFields = new Set(['md5sum', 'sha1', 'sha256', 'sha512']);

/** What apt reads at most (`Acquire::MaxReleaseFileSize`), bytes. */
const sizeLimit = 10_000_000;

/**
 * Reads a Release, or the text inside an InRelease. Files come sorted bytewise by path; folded values are unfolded.
 *
 * Throws a `Problem` naming `origin`: `release-too-large`, `release-empty`, `release-html` (an error page in its place),
 * `release-stanzas` (text after a blank line, which clients lose), `release-no-sha256`, `release-file` (a line of the list
 * that is no sum, size and relative path, or a path listed with two sums).
 */
export function parseRelease(text: string, origin: string): Release {
  const fault = wholeFault(text);
  if (fault !== undefined) throw unusable(origin, ...fault);
  const [stanza = [], ...others] = parseStanzas(text);
  if (others.length > 0)
    throw unusable(origin, 'release-stanzas', 'goes on after a blank line, where clients stop reading');
  const sums = fieldValue(stanza, 'SHA256');
  if (sums === undefined) throw unusable(origin, 'release-no-sha256', 'lists no SHA256 sums');
  return {
    fields: stanza
      .filter((field) => !sumFields.has(field.name.toLowerCase()))
      .map(({ name, value }) => ({ name, value: value.replaceAll(/\s*\n\s*/g, ' ').trim() })),
    files: parseFiles(sums, origin),
  };
}

/**
 * The text of a Release: known fields in a fixed order, unknown ones in theirs, the SHA256 list sorted bytewise by path. LF, no
 * blank at the end of a line (OpenPGP clear-signing does not cover those), no line that begins with `-` (clear-signing would
 * escape it, and debootstrap does not undo that), a newline at the end. Fields without a value are left out.
 *
 * Throws a `Problem` for what would break the file: `release-field` (a value of several lines, a name that is none),
 * `release-file` (blanks in a path, a path twice).
 */
export function renderRelease(release: Release): string {
  const fields = release.fields
    .filter((field) => !sumFields.has(field.name.toLowerCase()))
    .map(({ name, value }) => ({ name, value: value.trim() }))
    .filter((field) => field.value !== '')
    .toSorted((a, b) => rank(a) - rank(b));
  for (const field of fields) if (!isOneLine(field)) throw unfitField(field);
  return renderStanza([...fields, { name: 'SHA256', value: renderFiles(release.files) }]);
}

function rank(field: Field): number {
  const known = knownFields.indexOf(field.name.toLowerCase());
  return known === -1 ? knownFields.length : known;
}

function isOneLine({ name, value }: Field): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /^[A-Za-z0-9][!-9;-~]*$/.test(name) && !/[\u0000-\u001f\u007f]/.test(value);
}

function wholeFault(text: string): [code: string, what: string] | undefined {
  if (Buffer.byteLength(text) > sizeLimit) return ['release-too-large', 'has more than 10,000,000 bytes'];
  if (text.trim() === '') return ['release-empty', 'is empty'];
  if (text.trimStart().startsWith('<')) return ['release-html', 'is a web page, not a Release file'];
  return undefined;
}

function parseFiles(sums: string, origin: string): ReleaseFile[] {
  const files = new Map<string, ReleaseFile>();
  for (const line of sums.split('\n')) {
    if (line.trim() === '') continue;
    const [, sha256 = '', size = '', path = ''] = /^\s*([0-9a-f]{64})\s+(\d{1,15})\s+(\S+)\s*$/i.exec(line) ?? [];
    const file = { path, size: Number(size), sha256: sha256.toLowerCase() };
    const before = files.get(path);
    const differs = before !== undefined && (before.size !== file.size || before.sha256 !== file.sha256);
    // A path that leaves the suite would make this tool read, and later replace, objects that are not an index.
    if (path === '' || path.startsWith('/') || path.split('/').includes('..') || differs) {
      throw unusable(origin, 'release-file', `lists a file wrongly (${quoted(line.trim(), 120)})`);
    }
    files.set(path, file);
  }
  return [...files.values()].sort(byPath);
}

function renderFiles(files: readonly ReleaseFile[]): string {
  const sorted = files.toSorted(byPath);
  for (const [i, { path }] of sorted.entries()) {
    if (!/^[^\s/]\S*$/.test(path) || sorted[i - 1]?.path === path) throw unfitFile(path);
  }
  return sorted.map(({ path, size, sha256 }) => `\n ${sha256.toLowerCase()} ${size} ${path}`).join('');
}

function byPath(a: ReleaseFile, b: ReleaseFile): number {
  return Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));
}

function unusable(origin: string, code: string, what: string): Problem {
  return new Problem({
    code,
    title: 'A published Release file is unusable',
    what: `${origin} ${what}.`,
    advice:
      'Look at what stands under that name; restore it from a backup or publish the suite again with the tool that wrote it.',
  });
}

function unfitField({ name, value }: Field): Problem {
  return new Problem({
    code: 'release-field',
    title: 'A value does not fit into a Release file',
    what: `The Release field ${quoted(name)} cannot be ${quoted(value, 120)}.`,
    advice: 'Give it as one line without control characters.',
  });
}

function unfitFile(path: string): Problem {
  return new Problem({
    code: 'release-file',
    title: 'An index cannot be listed in Release',
    what: `The path ${quoted(path, 120)} is not relative, contains blanks, or is listed twice.`,
    advice: 'Use names of components and architectures without blanks, each once.',
  });
}
