import { Problem } from '../problem.ts';
import type { CommandName, SuiteRequest } from '../publish/request.ts';
import { findFiles, type GlobOrigin } from './files.ts';
import { type InputReader, quoted } from './input-reader.ts';
import { componentNameFault, parseSuiteLine, type SuiteLine } from './suite-lines.ts';

/**
 * Reads `suites`, `component` and `packages`, and finds the files: what goes into which component of which suite. Several lines may name
 * one suite; files that two lines send to one component count once.
 */
export async function readSuites(reader: InputReader, folder: string): Promise<SuiteRequest[]> {
  const component = readComponent(reader);
  const globs = reader.lines('packages');
  const lines = readLines(reader);
  checkUse(reader, lines, globs);
  const everywhere = await filesOf(reader, globs, folder, { input: 'packages', lead: '' });
  const suites = new Map<string, Map<string, Set<string>>>();
  for (const line of lines) {
    const part = line.component ?? component;
    const origin: GlobOrigin = { input: 'suites', lead: `${line.suite}/${part}: ` };
    const paths = line.globs === undefined ? everywhere : await filesOf(reader, line.globs, folder, origin);
    const parts = entry(suites, line.suite, () => new Map<string, Set<string>>());
    const chosen = entry(parts, part, () => new Set<string>());
    for (const path of paths) chosen.add(path);
  }
  const requests = Array.from(suites, ([suite, parts]) => ({
    suite,
    uploads: Array.from(parts, ([name, paths]) => ({ component: name, paths: [...paths].sort() })),
  }));
  checkOverlap(reader, requests);
  return requests;
}

/** Reads `suites` for a command that is about suites as a whole and takes no files: names, each once. */
export function readSuiteNames(reader: InputReader, command: CommandName): string[] {
  const lines = readLines(reader);
  for (const { suite, globs } of lines.filter((line) => line.globs !== undefined)) {
    reader.fault('suites', {
      what: `names files (${quoted(globs?.join(' ') ?? '')}) for the suite ${quoted(suite)}, and \`command: ${command}\` takes none.`,
      advice: 'Write names of suites only, one a line.',
    });
  }
  return [...new Set(lines.map(({ suite }) => suite))];
}

function readComponent(reader: InputReader): string {
  const component = reader.text('component') ?? 'main';
  const fault = componentNameFault(component);
  if (fault === undefined) return component;
  reader.fault('component', {
    what: `is ${quoted(component)}, which ${fault}.`,
    advice: 'Write a name such as `main`, `contrib` or `updates/main`.',
  });
  return 'main';
}

function readLines(reader: InputReader): SuiteLine[] {
  const lines = reader.lines('suites');
  if (lines.length === 0) {
    reader.fault('suites', {
      what: 'is missing.',
      advice: 'Name at least one suite, one a line, for example `suites: bookworm`.',
    });
  }
  return lines.flatMap((line) => {
    const read = parseSuiteLine(line);
    if (!(read instanceof Problem)) return read;
    reader.problem(read);
    return [];
  });
}

/** Every suite must get files, and every file a suite: leaving one out by oversight looks like success. */
function checkUse(reader: InputReader, lines: readonly SuiteLine[], globs: readonly string[]): void {
  const bare = lines.find((line) => line.globs === undefined);
  if (bare !== undefined && globs.length === 0) {
    reader.fault('packages', {
      what: `is missing, and the suite ${quoted(bare.suite)} has no files of its own.`,
      advice: 'Name the files to publish:\npackages: |\n  dist/*.deb',
    });
  }
  if (bare === undefined && lines.length > 0 && globs.length > 0) {
    reader.fault('packages', {
      what: 'goes nowhere, because every line of `suites` names files of its own.',
      advice: 'Remove `packages`, or add the name of a suite to `suites` on a line without a colon.',
    });
  }
}

async function filesOf(
  reader: InputReader,
  globs: readonly string[],
  folder: string,
  origin: GlobOrigin,
): Promise<string[]> {
  const found = [];
  for (const pattern of globs) found.push(await findFiles(pattern, folder, origin));
  for (const { problem } of found) if (problem !== undefined) reader.problem(problem);
  return found.flatMap(({ paths }) => paths);
}

/** A suite below another one may not lie where a component of the other keeps its indexes. */
function checkOverlap(reader: InputReader, requests: readonly SuiteRequest[]): void {
  for (const { suite, uploads } of requests) {
    for (const { component } of uploads) {
      const folder = `${suite}/${component}`;
      const inside = requests.find((other) => other.suite === folder || other.suite.startsWith(`${folder}/`));
      if (inside === undefined) continue;
      reader.fault('suites', {
        what: `has the suite ${quoted(inside.suite)}, which lies inside the component ${quoted(component)} of the suite ${quoted(suite)}.`,
        advice: 'Give one of them another name.',
      });
    }
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
}
