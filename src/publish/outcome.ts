import { fieldValue } from '../debian/deb822.ts';
import type { Release } from '../debian/release.ts';
import type { SuiteOutcome } from '../timing/record.ts';
import type { BuiltIndex } from './build-indexes.ts';
import { digest } from './digest.ts';
import type { Verification } from './finding.ts';
import type { HistoryEntry } from './history.ts';
import { splitForm } from './index-paths.ts';
import type { Prepared } from './prepare.ts';
import type { SignedGeneration } from './sign.ts';
import type { Conditions } from './suite-record.ts';

/** What a run has done to one suite, and what a reader of that suite has to know. */
export interface SuiteResult {
  readonly outcome: SuiteOutcome;
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  readonly hasSources: boolean;
  /** Of the head as it is now; absent while the suite has none (a dry run). */
  readonly headSha256?: string;
  /** What the store does with conditions, where this run knows. */
  readonly conditions?: Conditions['kind'];
  /** Of the command history: the generations that the suite has, newest first. */
  readonly history?: readonly HistoryEntry[];
  /** Of the command verify. */
  readonly verification?: Verification;
}

/** A suite that this run has published. */
export function publishedResult(
  prepared: Prepared,
  { built, release, head }: SignedGeneration & { readonly built: readonly BuiltIndex[] },
  { number, conditions }: { number: number; conditions: Conditions },
): SuiteResult {
  return {
    outcome: changedOutcome(prepared, built, number),
    ...readersView(release),
    headSha256: digest(head),
    conditions: conditions.kind,
  };
}

/** A suite that this run would publish. */
export function dryResult(prepared: Prepared, built: readonly BuiltIndex[]): SuiteResult {
  const { published, components, architectures, plan } = prepared;
  const before = published?.record.generation;
  return {
    outcome: changedOutcome(prepared, built, before?.number ?? 0),
    components,
    architectures,
    hasSources:
      [...plan.lists.keys()].some(isSources) || (published !== undefined && readersView(published.release).hasSources),
    ...(before === undefined ? {} : { headSha256: digest(before.head) }),
  };
}

/** A suite that already holds everything that came in. */
export function unchangedResult({ suite, published }: Pick<Prepared, 'suite' | 'published'>): SuiteResult {
  const generation = published?.record.generation;
  const outcome = { suite, changed: false, generation: generation?.number ?? 0, packages: [], indexes: [] };
  if (published === undefined) return { outcome, components: [], architectures: [], hasSources: false };
  const { record, release } = published;
  return {
    outcome,
    ...readersView(release),
    headSha256: digest(record.generation.head),
    conditions: record.conditions.kind,
  };
}

function readersView(release: Release): Pick<SuiteResult, 'components' | 'architectures' | 'hasSources'> {
  const words = (name: string) => (fieldValue(release.fields, name) ?? '').split(' ').filter(Boolean);
  return {
    components: words('Components'),
    architectures: words('Architectures'),
    hasSources: release.files.some(({ path }) => isSources(path)),
  };
}

function isSources(index: string): boolean {
  return index.endsWith('/source/Sources');
}

function changedOutcome(prepared: Prepared, built: readonly BuiltIndex[], generation: number): SuiteOutcome {
  const before = new Map((prepared.published?.release.files ?? []).map((file) => [file.path, file]));
  const written = (path: string, size: number) => {
    const previousSize = before.get(path)?.size;
    return { path, size, ...(previousSize === undefined ? {} : { previousSize }) };
  };
  const fresh = built.flatMap(({ path: index, stored }) => {
    const contributors = prepared.plan.contributors.get(index) ?? [];
    const told = contributors.length === 0 ? {} : { contributors };
    return stored.map(({ path, bytes }) => ({ ...written(path, bytes.length), ...told }));
  });
  const restored = (prepared.listed ?? [])
    .filter(({ path, sha256 }) => splitForm(path).extension !== '' && before.get(path)?.sha256 !== sha256)
    .map(({ path, size }) => written(path, size));
  const { suite, plan } = prepared;
  return { suite, changed: true, generation, packages: plan.packages, indexes: [...fresh, ...restored] };
}
