import { type Field, fieldValue, renderStanza, type Stanza } from './deb822.ts';

/** One source package as Sources lists it. */
export interface ListedSource {
  /** The fields of its .dsc, signature stripped, already found valid. */
  readonly control: Stanza;
  /** Its pool folder, relative to the base URI, unencoded, without a final slash. */
  readonly directory: string;
  /** Every file of it, the .dsc too, in the order in which they are to be listed. */
  readonly files: readonly SourceFile[];
}

interface SourceFile {
  /** Without a folder. */
  readonly name: string;
  readonly size: number;
  readonly md5: string;
  readonly sha256: string;
}

/**
 * Fields of a .dsc that the archive writes instead: they lack the .dsc itself. The sums that are not written again would no
 * longer cover every file, so they go.
 */
const replacedFields = new Set([
  'source',
  'package',
  'directory',
  'files',
  'checksums-md5',
  'checksums-sha1',
  'checksums-sha256',
  'checksums-sha512',
]);

/**
 * The stanza of a source package, with the blank line that ends it. `Source` becomes `Package` and comes first, the rest
 * keeps the order of the .dsc, then Directory, Files (MD5: what older tools read) and Checksums-Sha256 (what apt demands).
 */
export function sourcesStanza(listed: ListedSource): Uint8Array {
  const stanza: Stanza = [
    { name: 'Package', value: fieldValue(listed.control, 'Source') ?? '' },
    ...listed.control.filter((field) => !replacedFields.has(field.name.toLowerCase())),
    { name: 'Directory', value: listed.directory },
    sums('Files', listed.files, (file) => file.md5),
    sums('Checksums-Sha256', listed.files, (file) => file.sha256),
  ];
  return Buffer.from(`${renderStanza(stanza)}\n`);
}

function sums(name: string, files: readonly SourceFile[], sum: (file: SourceFile) => string): Field {
  return { name, value: files.map((file) => `\n ${sum(file).toLowerCase()} ${file.size} ${file.name}`).join('') };
}
