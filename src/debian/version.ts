import { quoted } from './deb822.ts';

/**
 * Orders two versions as dpkg does (Policy 5.6.12, deb-version(7)): negative when `a` is the older, positive when it is the
 * newer, 0 when neither is. Versions of different text may be equal in order (`1.0`, `0:1.00-0`), so a version's text, not
 * its place, is what names it. Text that is no version is ordered too, by the same rules.
 */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const left = split(a);
  const right = split(b);
  return (
    compareRuns(left.epoch, right.epoch) ||
    compareRuns(left.upstream, right.upstream) ||
    compareRuns(left.revision, right.revision)
  );
}

/**
 * Says in a few words what keeps this text from being a version: `contains "_"`; undefined when it is one. Stricter than
 * dpkg in two points: no colon after the epoch, which Policy 5.6.12 rules out since it cannot be in a file name, and no `..`.
 */
export function versionFault(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > longestVersion) return `is longer than ${longestVersion} characters`;
  const { epoch, upstream, revision } = split(text);
  if (text.startsWith(':')) return 'has an empty epoch';
  if (!/^[0-9]*$/.test(epoch)) return 'has an epoch that is not a number';
  if (Number(epoch) > largestEpoch) return `has an epoch above ${largestEpoch}`;
  if (upstream.includes(':')) return 'has a colon after the epoch';
  const foreign = /[^A-Za-z0-9.+~-]/u.exec(upstream + revision);
  if (foreign !== null) return `contains ${quoted(foreign[0])}`;
  if (text.endsWith(':')) return 'has nothing after its epoch';
  if (upstream === '') return 'has nothing before its revision';
  if (text.endsWith('-')) return 'has nothing after its last hyphen';
  if (text.includes('..')) return 'contains ".."';
  return undefined;
}

/** The version as file names have it: without the epoch and its colon. */
export function withoutEpoch(version: string): string {
  return version.slice(version.indexOf(':') + 1);
}

/** Debian's longest is 94 characters long; a file name, which holds more than the version, has room for 255. */
const longestVersion = 256;

/** dpkg keeps the epoch in an `int`. */
const largestEpoch = 2_147_483_647;

interface Parts {
  readonly epoch: string;
  readonly upstream: string;
  readonly revision: string;
}

/** An absent epoch or revision comes out as the empty text, which sorts like 0. */
function split(version: string): Parts {
  const start = version.indexOf(':') + 1;
  const hyphen = version.lastIndexOf('-');
  const end = hyphen < start ? version.length : hyphen;
  return {
    epoch: version.slice(0, Math.max(start - 1, 0)),
    upstream: version.slice(start, end),
    revision: version.slice(end + 1),
  };
}

/** Compares runs of non-digits and runs of digits in turns, like verrevcmp() of dpkg. */
function compareRuns(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a, i)) || (j < b.length && !isDigit(b, j))) {
      const difference = weight(a, i) - weight(b, j);
      if (difference !== 0) return difference;
      i += 1;
      j += 1;
    }
    while (a[i] === '0') i += 1;
    while (b[j] === '0') j += 1;
    // Without leading zeros the longer number is the larger one, and the first different digit decides between equal lengths.
    let firstDifference = 0;
    while (isDigit(a, i) && isDigit(b, j)) {
      if (firstDifference === 0) firstDifference = a.charCodeAt(i) - b.charCodeAt(j);
      i += 1;
      j += 1;
    }
    if (isDigit(a, i)) return 1;
    if (isDigit(b, j)) return -1;
    if (firstDifference !== 0) return firstDifference;
  }
  return 0;
}

function isDigit(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0x30 && code <= 0x39;
}

/** `~` sorts before the end of a run, that before letters, and letters before everything else. */
function weight(text: string, index: number): number {
  if (index >= text.length || isDigit(text, index)) return 0;
  const code = text.charCodeAt(index);
  if (code === 0x7e) return -1;
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetter ? code : code + 256;
}
