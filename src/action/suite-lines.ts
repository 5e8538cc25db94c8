import { Problem } from '../problem.ts';
import { hasControlCharacter, quoted } from './input-reader.ts';

/** One line of the input `suites`, read. */
export interface SuiteLine {
  readonly suite: string;
  /** Absent: the component that the input `component` names. */
  readonly component?: string;
  /** Absent: the files that the input `packages` names. Otherwise at least one glob. */
  readonly globs?: readonly string[];
}

/** How a line of `suites` is written. */
const grammar = 'NAME[/COMPONENT][: GLOB …]';

/**
 * Reads a line of `suites`. Without a colon the whole line is the suite's name, which may hold `/` (`bookworm/updates`). With one,
 * the part after the last `/` before the colon is the component: `bookworm/updates/main: out/*.deb`. Globs stand apart by blanks;
 * a file whose name has a blank is reached by `?`.
 */
export function parseSuiteLine(line: string): SuiteLine | Problem {
  const colon = line.indexOf(':');
  if (colon < 0) return checked(line, { suite: line });
  const name = line.slice(0, colon).trim();
  const globs = line
    .slice(colon + 1)
    .split(/\s+/)
    .filter((glob) => glob !== '');
  if (globs.length === 0) return lineProblem(line, 'has a colon and no file after it');
  const slash = name.lastIndexOf('/');
  if (slash < 0) return checked(line, { suite: name, globs });
  return checked(line, { suite: name.slice(0, slash), component: name.slice(slash + 1), globs });
}

/** The name of a suite by itself, or what is wrong with it, worded as `suiteNameFault` words it. */
export function parseSuiteName(text: string): string | { readonly fault: string } {
  const fault = suiteNameFault(text);
  return fault === undefined ? text : { fault };
}

/**
 * What is wrong with the name of a suite, in a few words that go on from "the suite "x" …"; undefined when nothing is. The name is a
 * path below `dists/` and part of URLs, of apt's one-line sources and of file names in apt's lists folder.
 */
function suiteNameFault(name: string): string | undefined {
  if (name === 'pool' || name.startsWith('pool/')) return 'is named like the folder of the packages, which is reserved';
  return pathFault(name);
}

/** What is wrong with the name of a component, as `suiteNameFault` says it. `main` and `updates/main` are names. */
export function componentNameFault(name: string): string | undefined {
  return pathFault(name);
}

function pathFault(name: string): string | undefined {
  if (name === '') return 'has no name';
  if (hasControlCharacter(name)) return 'has a control character in its name';
  if (/\s/u.test(name)) return 'has a blank in its name';
  if (name.startsWith('/') || name.endsWith('/')) return 'begins or ends with a slash';
  const parts = name.split('/');
  if (parts.includes('')) return 'has two slashes in a row';
  if (name.includes('..')) return 'has two dots in a row';
  if (parts.some((part) => part.startsWith('.'))) return 'has a part that begins with a dot';
  if (parts.some((part) => part.startsWith('-'))) return 'has a part that begins with a dash';
  if (parts.some((part) => reservedFolders.test(part))) return 'has a part named like a folder inside a suite';
  if (!/^[A-Za-z0-9._~+/-]+$/.test(name)) return 'has a character other than letters, digits and ._~+-/';
  return undefined;
}

/** A component of this name, or a suite's part below another suite, would share paths with that suite's own files. */
const reservedFolders = /^(?:by-hash|InRelease|Release|Release\.gpg|(?:binary|installer)-.*)$/;

function checked(line: string, read: SuiteLine): SuiteLine | Problem {
  const suiteFault = suiteNameFault(read.suite);
  if (suiteFault !== undefined) return lineProblem(line, `names a suite that ${suiteFault}`);
  const componentFault = read.component === undefined ? undefined : componentNameFault(read.component);
  if (componentFault !== undefined) return lineProblem(line, `names a component that ${componentFault}`);
  return read;
}

function lineProblem(line: string, fault: string): Problem {
  return new Problem({
    code: 'suite-line-invalid',
    title: 'A line of the input suites is not valid',
    what: `The line ${quoted(line)} of the input \`suites\` ${fault}.`,
    advice: `Write \`${grammar}\`, for example \`bookworm\` or \`bookworm/main: out/bookworm/*.deb\`.`,
  });
}
