import { type Problem, throwProblems } from '../problem.ts';
import { architectureFault } from './control.ts';
import { type Document, quoted, requiredValue } from './deb822.ts';
import { type ListedFile, listedFiles, parseSignedStanza } from './dsc.ts';

/** A file of an upload. */
interface ChangedFile extends ListedFile {
  /** With its component unless that is main: `non-free/libs`. */
  readonly section: string;
  readonly priority: string;
}

/** An upload as its .changes describes it. */
export interface Changes {
  /** The suite it is meant for. */
  readonly distribution: string;
  /** What is in it: architectures, `all`, `source`. */
  readonly architectures: readonly string[];
  /** In the order of `Files`. */
  readonly files: readonly ChangedFile[];
}

/**
 * Reads a .changes file of format 1.8 (deb-changes(5)), strictly. A clear-signature is taken off and not verified, as with a
 * .dsc. The files it names lie beside it; whether their bytes are those it lists is for the caller to find out.
 *
 * `origin` is the file, for messages. Throws `Problem`s `changes-…`, all that the file gives cause for.
 */
export function parseChanges(bytes: Uint8Array, origin: string): Changes {
  const document: Document = {
    code: 'changes',
    title: 'Upload',
    name: origin,
    remedy: 'make the .changes file again',
    limit: 4 * 1024 * 1024,
  };
  const stanza = parseSignedStanza(bytes, document);
  const problems: Problem[] = [];
  requiredValue(stanza, 'Format', formatFault, document, problems);
  const distribution = requiredValue(stanza, 'Distribution', distributionFault, document, problems);
  const architecture = requiredValue(stanza, 'Architecture', architecturesFault, document, problems);
  const files = listedFiles(stanza, 2, document, problems).map(({ file, between: [section = '', priority = ''] }) => ({
    ...file,
    section,
    priority,
  }));
  throwProblems(problems);
  return { distribution, architectures: words(architecture), files };
}

function formatFault(format: string): string | undefined {
  return format === '1.8' ? undefined : 'is not the format that is understood, 1.8';
}

/** A suite is a path below `dists`, so it may have slashes but no way out. */
function distributionFault(distribution: string): string | undefined {
  if (/[ \t\n]/.test(distribution)) return 'is more than one suite';
  const foreign = /[^A-Za-z0-9+.~_/-]/u.exec(distribution);
  if (foreign !== null) return `contains ${quoted(foreign[0])}`;
  if (distribution.split('/').some((part) => !/^[A-Za-z0-9]/.test(part))) return 'is no path of a suite';
  return undefined;
}

function architecturesFault(architectures: string): string | undefined {
  for (const architecture of words(architectures)) {
    const fault = architecture === 'source' ? undefined : architectureFault(architecture);
    if (fault !== undefined) return `names ${quoted(architecture)}, which ${fault}`;
  }
  return undefined;
}

function words(value: string): string[] {
  return value.split(/[ \t\n]+/);
}
