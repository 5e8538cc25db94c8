import { glob, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { Problem } from '../problem.ts';
import { quoted } from './input-reader.ts';

/** Names that a repository can hold something of. */
const packageFile = /\.(?:deb|udeb|ddeb|dsc|changes)$/;

/** Where a glob was written, for messages: in `packages`, or in a line of `suites`. */
export interface GlobOrigin {
  readonly input: 'packages' | 'suites';
  /** What to write in front of globs there: nothing in `packages`, `bookworm/main: ` in `suites`. */
  readonly lead: string;
}

/** The files that one glob stands for, and what is wrong with it. */
export interface FoundFiles {
  /** Relative to `folder` joined with it, or absolute as the glob is. */
  readonly paths: readonly string[];
  readonly problem?: Problem;
}

/**
 * The files that a glob matches below `folder`, symbolic links followed, folders left out; sorted by code unit, every path once.
 * A glob that matches nothing, or something that is no package, is a problem: what looks like a success would publish less, or
 * more, than was meant.
 */
export async function findFiles(pattern: string, folder: string, origin: GlobOrigin): Promise<FoundFiles> {
  const matches = new Set<string>();
  for await (const match of glob(pattern, { cwd: folder }))
    matches.add(isAbsolute(match) ? match : join(folder, match));
  const files: string[] = [];
  for (const match of [...matches].sort()) if (await isFile(match)) files.push(match);
  if (files.length === 0) return { paths: [], problem: nothingMatches(pattern, matches.size, origin) };
  const strangers = files.filter((file) => !packageFile.test(file));
  const [stranger] = strangers;
  if (stranger === undefined) return { paths: files };
  return { paths: [], problem: strangerMatches(pattern, stranger, strangers.length, origin) };
}

/** A dangling link is not a file; any other fault of the file system is for the reader of the file to meet and to name. */
async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

function nothingMatches(pattern: string, folders: number, origin: GlobOrigin): Problem {
  const onlyFolders = folders > 0;
  const advice = onlyFolders
    ? 'Name the files in it:'
    : 'See that an earlier step of this job builds or downloads the packages, and name them relative to the workspace:';
  return new Problem({
    code: onlyFolders ? 'glob-matches-folder' : 'glob-matches-nothing',
    title: onlyFolders ? 'A glob matches only folders' : 'A glob matches no file',
    what: `The glob ${quoted(pattern)} of the input \`${origin.input}\` matches ${onlyFolders ? 'only folders' : 'no file'}.`,
    advice: `${advice}\n${example(onlyFolders ? `${pattern.replace(/\/+$/, '')}/*.deb` : 'dist/*.deb', origin)}`,
  });
}

function strangerMatches(pattern: string, stranger: string, count: number, origin: GlobOrigin): Problem {
  const others = count === 1 ? '' : ` and ${count - 1} more`;
  return new Problem({
    code: 'glob-matches-stranger',
    title: 'A glob matches a file that is no package',
    what: `The glob ${quoted(pattern)} of the input \`${origin.input}\` matches ${quoted(stranger)}${others}, which ${count === 1 ? 'is' : 'are'} no .deb, .udeb, .ddeb, .dsc or .changes.`,
    advice: `Write a glob that matches packages only:\n${example(`${pattern}.deb`, origin)}`,
  });
}

/** The YAML to write. */
function example(pattern: string, { input, lead }: GlobOrigin): string {
  return `${input}: |\n  ${lead}${pattern}`;
}
