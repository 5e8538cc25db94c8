import { Problem } from '../problem.ts';
import { type Field, fieldValue, quoted, renderStanza, type Stanza } from './deb822.ts';
import { entryValue, type IndexEntry } from './stanza-index.ts';

/** One binary package as Packages lists it. */
export interface ListedBinary {
  /** The fields of its control file, already found valid. */
  readonly control: Stanza;
  /** Relative to the base URI, unencoded: `pool/main/h/hello/hello_1.0_amd64.deb`. */
  readonly filename: string;
  readonly size: number;
  /** Hex; written in lower case, since apt takes upper case for a mismatch. */
  readonly md5: string;
  readonly sha256: string;
}

/** Where a listed package lies, and what its bytes are. */
export interface ListedFile {
  readonly filename: string;
  readonly size: number;
  /** Lower-case hex; absent in an index that lists weaker sums only. */
  readonly sha256: string | undefined;
}

/**
 * What an archive says about a file, never the package itself: apt-ftparchive, dpkg-scanpackages, reprepro and aptly replace
 * these too. `Description-md5` goes as well: it promises a text in Translation-en, and here the whole text is in place.
 */
const archiveFields = new Set(['filename', 'size', 'md5sum', 'sha1', 'sha256', 'sha512', 'status', 'description-md5']);

/**
 * The stanza of a binary package, with the blank line that ends it. Order of fields: Package, the rest as in the control
 * file, what the archive says (Filename, Size, MD5sum, SHA256), and the Description with its full text at the end. apt reads
 * any order; a fixed one makes differences readable.
 */
export function packagesStanza(listed: ListedBinary): Uint8Array {
  const own = listed.control.filter((field) => !archiveFields.has(field.name.toLowerCase()));
  const ordinary = own.filter((field) => !isNamed(field, 'package') && !isNamed(field, 'description'));
  const stanza: Stanza = [
    ...own.filter((field) => isNamed(field, 'package')),
    ...ordinary,
    { name: 'Filename', value: listed.filename },
    { name: 'Size', value: String(listed.size) },
    { name: 'MD5sum', value: listed.md5.toLowerCase() },
    { name: 'SHA256', value: listed.sha256.toLowerCase() },
    ...own.filter((field) => isNamed(field, 'description')),
  ];
  return Buffer.from(`${renderStanza(stanza)}\n`);
}

/**
 * The file that an entry of a published Packages stands for. `origin` names the index in the `Problem`
 * (`index-entry-without-file`) that a missing Filename or a Size that is no number makes.
 */
export function entryFile(index: Uint8Array, entry: IndexEntry, origin: string): ListedFile {
  const filename = entryValue(index, entry, 'Filename') ?? '';
  const size = entryValue(index, entry, 'Size') ?? '';
  if (filename === '' || !/^\d{1,15}$/.test(size))
    throw withoutFile(entry, filename === '' ? 'Filename' : 'Size', origin);
  return { filename, size: Number(size), sha256: entryValue(index, entry, 'SHA256')?.toLowerCase() };
}

/** Where Contents files a package: `section/package`, or the bare name of a package without a section. */
export function contentsLocation(stanza: Stanza): string {
  const name = fieldValue(stanza, 'Package') ?? '';
  const section = fieldValue(stanza, 'Section')?.trim() ?? '';
  return section === '' ? name : `${section}/${name}`;
}

function isNamed(field: Field, lowerCaseName: string): boolean {
  return field.name.toLowerCase() === lowerCaseName;
}

function withoutFile(entry: IndexEntry, field: string, origin: string): Problem {
  const name = quoted(`${entry.package} ${entry.version} (${entry.architecture})`).slice(1, -1);
  return new Problem({
    code: 'index-entry-without-file',
    title: 'A published index is damaged',
    what: `${origin} lists ${name} without a usable ${field}.`,
    advice: 'Publish that package again with the tool that wrote the index, or restore the index from a backup.',
  });
}
