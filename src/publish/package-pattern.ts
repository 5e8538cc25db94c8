import { compareVersions, versionFault } from '../debian/version.ts';

/** Which packages a command is about: `hello`, `lib*`, `hello (<< 2.0)`. */
export interface PackagePattern {
  /** With `*` and `?` as in a shell. */
  readonly name: string;
  readonly relation?: { readonly operator: Operator; readonly version: string };
}

/** Which packages of a suite a command is about. */
export interface Selection {
  /** At least one. */
  readonly patterns: readonly PackagePattern[];
  /** All components when absent. */
  readonly components?: readonly string[];
  /** All architectures when absent; `all` and `source` may be among them. */
  readonly architectures?: readonly string[];
}

/** As in the dependency fields of a package (Debian Policy 7.1). */
const operators = {
  '<<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '=': (order: number) => order === 0,
  '>=': (order: number) => order >= 0,
  '>>': (order: number) => order > 0,
} as const;
type Operator = keyof typeof operators;

/** What is understood, for messages. */
export const patternGrammar =
  '`NAME` or `NAME (RELATION VERSION)`, NAME with `*` and `?`, RELATION one of << <= = >= >>';

/** Reads one pattern; undefined when it is none. */
export function parsePattern(text: string): PackagePattern | undefined {
  const parts = /^([a-z0-9*?][a-z0-9+.*?-]*)(?:\s*\(\s*(<<|<=|=|>=|>>)\s*(\S+?)\s*\))?$/.exec(text.trim());
  const [, name, operator, version] = parts ?? [];
  if (name === undefined) return undefined;
  if (operator === undefined || version === undefined) return { name };
  if (!isOperator(operator) || versionFault(version) !== undefined) return undefined;
  return { name, relation: { operator, version } };
}

export function matches(pattern: PackagePattern, item: { package: string; version: string }): boolean {
  const { name, relation } = pattern;
  if (!nameExpression(name).test(item.package)) return false;
  return relation === undefined || operators[relation.operator](compareVersions(item.version, relation.version));
}

function isOperator(text: string): text is Operator {
  return text in operators;
}

function nameExpression(name: string): RegExp {
  const escaped = name.replaceAll(/[.+]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
  return new RegExp(`^${escaped}$`);
}
