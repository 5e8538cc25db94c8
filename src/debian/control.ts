import { type Problem, throwProblems } from '../problem.ts';
import {
  type Document,
  fieldValue,
  parseStrictStanza,
  problemIn,
  quoted,
  requiredValue,
  type Stanza,
} from './deb822.ts';
import { fileNameFits } from './pool.ts';
import { versionFault } from './version.ts';

/** What names a binary package, and the source package whose pool folder it lies in. */
export interface BinaryIdentity {
  readonly package: string;
  readonly version: string;
  /** A real architecture or `all`. */
  readonly architecture: string;
  /** The package itself unless its control file names another source. */
  readonly source: string;
  readonly sourceVersion: string;
}

/**
 * Reads the control file of a binary package, strictly, without the fields that are the archive's to write: an index that took
 * `Filename` or `SHA256` from inside a package would let the package speak for other bytes.
 *
 * `origin` is the package's file, for messages. Throws `Problem`s `control-…`, all that the file gives cause for.
 */
export function parseControl(bytes: Uint8Array, origin: string): Stanza {
  const stanza = parseStrictStanza(bytes, controlOf(origin));
  const installed = stanza.filter((field) => statusFields.has(field.name.toLowerCase()));
  throwProblems(
    installed.map(({ name }) =>
      problemIn(
        controlOf(origin),
        'status-field',
        `has the field ${name}, with which dpkg refuses to install it`,
        'Remove it',
      ),
    ),
  );
  return stanza.filter((field) => !archiveFields.has(field.name.toLowerCase()));
}

/**
 * The identity that a control file states. Throws `Problem`s for fields that are missing (`control-field-missing`) or break the
 * grammar of Policy 5.6.1, 5.6.7, 5.6.8 and 5.6.12, which is what keeps pool names inside their folder.
 */
export function binaryIdentity(control: Stanza, origin: string): BinaryIdentity {
  const document = controlOf(origin);
  const problems: Problem[] = [];
  const name = requiredValue(control, 'Package', packageNameFault, document, problems);
  const version = requiredValue(control, 'Version', versionFault, document, problems);
  const architecture = requiredValue(control, 'Architecture', architectureFault, document, problems);
  const identity = { package: name, version, architecture };
  if (!fileNameFits(identity)) {
    const what = 'has a package name, version and architecture that make a file name of more than 255 bytes';
    problems.push(problemIn(document, 'name-too-long', what, 'Shorten the version'));
  }
  const stated = fieldValue(control, 'Source');
  const source = stated === undefined ? { name, version } : parseSource(stated, version);
  if (source === undefined) {
    const what = `has the Source ${quoted(stated ?? '')}, which is neither "name" nor "name (version)"`;
    problems.push(problemIn(document, 'source', what, 'Correct that field'));
  }
  throwProblems(problems);
  return { ...identity, source: source?.name ?? name, sourceVersion: source?.version ?? version };
}

/** Says in a few words what keeps this text from naming a package, source or binary (Policy 5.6.1); undefined if nothing does. */
export function packageNameFault(text: string): string | undefined {
  if (text.length < 2) return 'has fewer than two characters';
  const foreign = /[^a-z0-9+.-]/u.exec(text);
  if (foreign !== null) return `contains ${quoted(foreign[0])} (allowed are a-z, 0-9, "+", "-" and ".")`;
  if (!/^[a-z0-9]/.test(text)) return 'does not begin with a letter or digit';
  return undefined;
}

/**
 * Says in a few words what keeps this text from being the architecture of a binary package, `all` included; undefined if
 * nothing does. Wildcards (`any`, `linux-any`) and `source` are for source packages and .changes only (Policy 5.6.8).
 */
export function architectureFault(text: string): string | undefined {
  if (text.length < 2) return 'has fewer than two characters';
  const foreign = /[^a-z0-9-]/u.exec(text);
  if (foreign !== null) return `contains ${quoted(foreign[0])} (allowed are a-z, 0-9 and "-")`;
  if (text.startsWith('-')) return 'begins with a hyphen';
  if (text === 'source') return 'is not the architecture of a binary package';
  if (text.split('-').includes('any')) return 'is a wildcard';
  return undefined;
}

/** What dpkg keeps in its own database and does not accept from a package. */
const statusFields: ReadonlySet<string> = new Set(['status', 'config-version']);

/** What only the archive can know, or states in its own words. */
const archiveFields: ReadonlySet<string> = new Set([
  'filename',
  'size',
  'md5sum',
  'sha1',
  'sha256',
  'sha512',
  'description-md5',
]);

function controlOf(origin: string): Document {
  return {
    code: 'control',
    title: 'Control file',
    name: `The control file of ${origin}`,
    remedy: 'rebuild the package',
    limit: 1024 * 1024,
  };
}

function parseSource(value: string, binaryVersion: string): { name: string; version: string } | undefined {
  const [, name = '', version = binaryVersion] = /^([^ \t(]+)(?:[ \t]*\(([^ \t()]*)\))?$/.exec(value) ?? [];
  if (packageNameFault(name) !== undefined) return undefined;
  // The binary's own version has been judged already, and is empty here if it was found wanting.
  if (version !== binaryVersion && versionFault(version) !== undefined) return undefined;
  return { name, version };
}
