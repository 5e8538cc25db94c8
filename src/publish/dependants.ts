import { fieldValue, parseStanzas, type Stanza } from '../debian/deb822.ts';
import { type ExactRelation, exactRelations, sourceOf } from '../debian/relations.ts';
import { entryFields, type IndexEntry } from '../debian/stanza-index.ts';
import { compareVersions } from '../debian/version.ts';
import type { PackageList } from './package-list.ts';

/** A package that wants others in exactly one version. */
interface Dependant {
  /** Of the list that it stands in. */
  readonly architecture: string;
  /** Absent for a package that joins the list now. */
  readonly entry?: IndexEntry;
  readonly wants: readonly ExactRelation[];
}

/** A stanza of a list, whether it is published or joins now. */
interface Listed {
  readonly list: PackageList;
  readonly entry?: IndexEntry;
  readonly bytes: Buffer;
  readonly package: string;
  readonly version: string;
}

/** Without these a package is not installed, or not as its maintainer means it. */
const wanting = ['Pre-Depends', 'Depends', 'Recommends'];
/** Whose sources a binary has to be accompanied by, besides its own (Policy 7.8). */
const builtWith = ['Built-Using', 'Static-Built-Using'];

/** Who in these lists wants one of these packages in exactly one version. Only stanzas in which their names occur are parsed. */
export function dependantsOf(
  packages: readonly { readonly list: PackageList; readonly entry: IndexEntry }[],
  lists: readonly PackageList[],
): Dependant[] {
  const names = new Set(packages.flatMap(({ list, entry }) => identities(list, entry).map((own) => own.package)));
  return stanzasWith([...names], lists).flatMap(({ list, entry, bytes }) => {
    const wants = relations(fieldsOf(bytes), wanting).filter((relation) => names.has(relation.package));
    if (wants.length === 0) return [];
    return [{ architecture: list.architecture, wants, ...(entry === undefined ? {} : { entry }) }];
  });
}

/** Whether one of these relations is about this package, under its name or as something that it provides. */
export function isNamed(list: PackageList, entry: IndexEntry, relations: readonly ExactRelation[]): boolean {
  return identities(list, entry).some((own) =>
    relations.some((other) => other.package === own.package && compareVersions(other.version, own.version) === 0),
  );
}

/** The versions of one source package that what these lists go on to hold was built from. */
export function requiredSources(name: string, lists: readonly PackageList[]): ExactRelation[] {
  return stanzasWith([name], lists).flatMap((binary) => {
    const fields = fieldsOf(binary.bytes);
    const own = sourceOf(binary, fieldValue(fields, 'Source'));
    return [own, ...relations(fields, builtWith)].filter((source) => source.package === name);
  });
}

function stanzasWith(names: readonly string[], lists: readonly PackageList[]): Listed[] {
  return lists.flatMap((list) => {
    const published = list.entries
      .filter((entry) => !list.remove.has(entry))
      .map((entry) => ({ ...entry, list, entry, bytes: view(list.bytes.subarray(entry.start, entry.end)) }));
    const arriving = list.add.map((item) => ({ ...item, list, bytes: view(item.bytes) }));
    return [...published, ...arriving].filter(({ bytes }) => names.some((name) => bytes.includes(name)));
  });
}

function identities(list: PackageList, entry: IndexEntry): ExactRelation[] {
  return [entry, ...relations(entryFields(list.bytes, entry), ['Provides'])];
}

function relations(fields: Stanza, names: readonly string[]): ExactRelation[] {
  return names.flatMap((name) => exactRelations(fieldValue(fields, name) ?? ''));
}

function fieldsOf(stanza: Buffer): Stanza {
  return parseStanzas(stanza.toString())[0] ?? [];
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
