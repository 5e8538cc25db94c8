/** One package in one version, as a dependency names it. */
export interface ExactRelation {
  readonly package: string;
  readonly version: string;
}

/**
 * The packages that a field of relations (Policy 7.1: Depends, Provides, Built-Using …) names in exactly one version: `hello (= 1.0)`.
 * Alternatives count like everything else, architecture qualifiers and restrictions are passed over.
 */
export function exactRelations(value: string): ExactRelation[] {
  const exact = /([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9-]+)?\s*\(\s*=\s*([^\s()]+)\s*\)/g;
  return Array.from(value.matchAll(exact), ([, name = '', version = '']) => ({ package: name, version }));
}

/** What a field Source (Policy 5.6.1) says; a package without one has the name and version of its source. */
export function sourceOf(binary: ExactRelation, field: string | undefined): ExactRelation {
  const [, name, version] = /^(\S+?)(?:\s*\(\s*(\S+?)\s*\))?$/.exec(field?.trim() ?? '') ?? [];
  return { package: name ?? binary.package, version: version ?? binary.version };
}
