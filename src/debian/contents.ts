import { Problem } from '../problem.ts';

/**
 * Contents-ARCH: which package has which path. This tool writes one line a path, `path<tab>location[,location…]`. A tab, like
 * apt-ftparchive and reprepro: it sorts before every byte that a path may hold, so that sorting whole lines and sorting
 * paths is the same, a line can be found by bisection, and a merge touches only what changes.
 */

/** The paths that one package has. */
export interface PackagePaths {
  /** `section/package`, see `contentsLocation`. */
  readonly location: string;
  /** Files, links and devices, no directories; without a leading `./`. */
  readonly paths: readonly string[];
}

export interface ContentsChanges {
  readonly add: readonly PackagePaths[];
  /**
   * A line names no version: where two versions of a package are listed, only what none of those that stay has may go.
   * What is both removed and added stays, so it is enough to name the staying ones under `add` again.
   */
  readonly remove: readonly PackagePaths[];
}

const newline = 0x0a;
const tab = 0x09;
const blank = 0x20;

/** How far apart the first probes of a search are, in bytes: a few dozen lines. */
const firstStep = 4096;

/** The Contents of these packages, sorted bytewise by whole line (`LC_ALL=C sort`). */
export function renderContents(packages: readonly PackagePaths[]): Uint8Array {
  return applied(Buffer.alloc(0), { add: packages, remove: [] });
}

/**
 * The published Contents with these changes. Unchanged lines keep their bytes. A file that another tool has written (blanks
 * for the tab, a `FILE LOCATION` header, another order) is first brought into this tool's form, whole.
 *
 * Throws a `Problem` (`contents-line`) naming `origin` for a line without a location.
 */
export function mergeContents(old: Uint8Array, changes: ContentsChanges, origin: string): Uint8Array {
  return applied(inOwnForm(old, origin), changes);
}

function inOwnForm(contents: Uint8Array, origin: string): Buffer {
  const bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
  return isOwnForm(bytes) ? bytes : ownForm(bytes, origin);
}

function locationsOf(bytes: Buffer, line: { readonly start: number; readonly end: number }, path: string): string[] {
  return bytes.toString('latin1', line.start + path.length, line.end - 1).split(',');
}

/**
 * What of these packages one or another of these Contents says too: a file list that nobody has signed is worth no more than that.
 * Throws as `mergeContents` does.
 */
export function pathsHeld(
  contents: readonly Uint8Array[],
  packages: readonly PackagePaths[],
  origin: string,
): PackagePaths[] {
  if (packages.length === 0) return [];
  const signed = contents.map((bytes) => inOwnForm(bytes, origin));
  return packages.map(({ location, paths }) => {
    const word = lineText(location);
    const isHeld = (path: string) =>
      signed.some((bytes) => {
        const key = `${lineText(path)}\t`;
        const line = findLine(bytes, 0, key);
        return line.found && locationsOf(bytes, line, key).includes(word);
      });
    return { location, paths: paths.filter(isHeld) };
  });
}

/**
 * Changes are one sorted list of `path<tab>location<tab>change`: the same order as the lines of the file, and for one path and
 * location `-` after `+` would undo it, hence the digits: 0 removes, 1 adds.
 */
function applied(old: Buffer, { add, remove }: ContentsChanges): Buffer {
  const changes: string[] = [];
  pushChanges(changes, remove, '0');
  pushChanges(changes, add, '1');
  // By UTF-16 units, which are bytes here: see `lineText`.
  changes.sort();

  const pieces: Buffer[] = [];
  let copied = 0;
  let text = '';
  for (let i = 0, change = changes[0]; change !== undefined; ) {
    const path = change.slice(0, change.indexOf('\t') + 1);
    const line = findLine(old, copied, path);
    const locations = new Set(line.found ? locationsOf(old, line, path) : []);
    for (; change?.startsWith(path); change = changes[++i]) {
      const location = change.slice(path.length, -2);
      if (change.endsWith('1')) locations.add(location);
      else locations.delete(location);
    }
    if (line.start > copied) {
      pieces.push(Buffer.from(text, 'latin1'), old.subarray(copied, line.start));
      text = '';
    }
    if (locations.size > 0) text += `${path}${[...locations].sort().join(',')}\n`;
    copied = line.end;
  }
  return Buffer.concat([...pieces, Buffer.from(text, 'latin1'), old.subarray(copied)]);
}

function pushChanges(changes: string[], packages: readonly PackagePaths[], change: '0' | '1'): void {
  for (const { location, paths } of packages) {
    const ending = `\t${lineText(location).replaceAll(/[ ,]/g, '?')}\t${change}`;
    for (const path of paths) changes.push(lineText(path) + ending);
  }
}

/**
 * Text as it may stand in a line, one character a byte of its UTF-8, so that strings compare as their bytes do. Control
 * characters, which would end a line or a path early, become question marks.
 */
function lineText(text: string): string {
  // Nearly every path is of this kind; the test costs less than the conversion.
  if (/^[ -~]*$/.test(text)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return Buffer.from(text.replaceAll(/[\u0000-\u001f\u007f]/g, '?'), 'utf8').toString('latin1');
}

/**
 * The line of a path (given with its tab) at or after `from`, or the empty place where it belongs. Probes at growing
 * distances, then halves: many changes cost a walk along the file, few of them next to nothing.
 */
function findLine(old: Buffer, from: number, path: string): { found: boolean; start: number; end: number } {
  if (from === old.length) return { found: false, start: from, end: from };
  const key = Buffer.from(path, 'latin1');
  const order = (line: number) => old.compare(key, 0, key.length, line, Math.min(line + key.length, old.length));
  const lineAfter = (at: number) => old.indexOf(newline, at) + 1;

  // Lines before `low` sort before the path; the line at `high` does not, or there is none.
  let low = from;
  let high = from;
  for (let step = firstStep; high < old.length && order(high) < 0; step *= 2) {
    low = lineAfter(high);
    high = low + step < old.length ? lineAfter(low + step) : old.length;
  }
  while (low < high) {
    const middle = old.lastIndexOf(newline, Math.floor((low + high) / 2) - 1) + 1;
    if (order(middle) < 0) low = lineAfter(middle);
    else high = middle;
  }
  const found = low < old.length && order(low) === 0;
  return { found, start: low, end: found ? lineAfter(low) : low };
}

/** Whether every line is `path<tab>location` and paths ascend strictly: what `findLine` relies on. */
function isOwnForm(bytes: Buffer): boolean {
  if (headerEnd(bytes) > 0) return false;
  let last = { start: 0, end: 0 };
  for (let start = 0; start < bytes.length; ) {
    const pathEnd = bytes.indexOf(tab, start);
    const end = bytes.indexOf(newline, start);
    if (pathEnd <= start || end <= pathEnd + 1) return false;
    for (let at = pathEnd + 1; at < end; at += 1) if ((bytes[at] ?? 0) <= blank) return false;
    if (start > 0 && bytes.compare(bytes, last.start, last.end, start, pathEnd + 1) <= 0) return false;
    last = { start, end: pathEnd + 1 };
    start = end + 1;
  }
  return true;
}

/** A file of another tool in this tool's form. Not lazy and not small: once, when a suite is taken over. */
function ownForm(bytes: Buffer, origin: string): Buffer {
  return applied(Buffer.alloc(0), { add: contentsLines(bytes, origin), remove: [] });
}

/** Two Contents as one, in this tool's form: what a line of either says, the result says. Throws as `mergeContents` does. */
export function joinContents(one: Uint8Array, other: Uint8Array, origin: string): Uint8Array {
  const lines = Buffer.from(other.buffer, other.byteOffset, other.byteLength);
  return mergeContents(one, { add: contentsLines(lines, origin), remove: [] }, origin);
}

function contentsLines(bytes: Buffer, origin: string): PackagePaths[] {
  const packages: PackagePaths[] = [];
  for (let start = headerEnd(bytes); start < bytes.length; ) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    // The last blank-separated word is the location: paths may contain blanks, locations may not.
    const words = /^(.*[^ \t])[ \t]+([^ \t\r]+)[ \t\r]*$/s.exec(bytes.toString('utf8', start, end));
    const [, path = '', list = ''] = words ?? [];
    const locations = list.split(',').filter((location) => location !== '');
    if (locations.length === 0 && end > start) throw withoutLocation(origin, start);
    for (const location of locations) packages.push({ location, paths: [path] });
    start = end + 1;
  }
  return packages;
}

/** Where the lines begin: after `FILE LOCATION`, which old tools write below an explanation in prose, or at 0. */
function headerEnd(bytes: Buffer): number {
  const header = /^FILE[ \t]+LOCATION[ \t\r]*\n/m.exec(bytes.toString('latin1', 0, 64 * 1024));
  return header === null ? 0 : header.index + header[0].length;
}

function withoutLocation(origin: string, at: number): Problem {
  return new Problem({
    code: 'contents-line',
    title: 'A published Contents file is damaged',
    what: `The line at byte ${at} of ${origin} names no package.`,
    advice:
      'Delete that Contents file together with its entries in Release, or write it again with the tool that made it.',
  });
}
