import type { PackageChange } from '../timing/record.ts';
import type { SuiteRecord } from './suite-record.ts';

/**
 * Since when newer versions follow a version that is still listed, for retention by age. No index tells, so the record does: a publish with
 * `keep-days` enters what it sees for the first time, as of now. An entry that is lost lets a version stay longer, never shorter.
 */
type Superseded = SuiteRecord['superseded'];

/** Bytes of names in the record. A version whose entry does not fit begins anew with a later publish. */
const atMost = 64 * 1024;

/** One version of one package, in the record. */
export function versionName(item: {
  readonly component: string;
  readonly architecture: string;
  readonly package: string;
  readonly version: string;
}): string {
  return `${item.component} ${item.architecture} ${item.package} ${item.version}`;
}

/** Milliseconds since the epoch, by version name. */
export function supersededSince(superseded: Superseded): ReadonlyMap<string, number> {
  return new Map(
    (superseded ?? []).flatMap(({ since, versions }) => versions.map((name) => [name, Date.parse(since)] as const)),
  );
}

/**
 * What the next record says: `seen` are names of versions that newer ones follow in what is published now. A version that leaves goes; where
 * one was taken out by hand, or brought back, the others of its package begin anew, since an older one may be the newest now.
 */
export function nextSuperseded(
  before: Superseded,
  {
    superseded: seen,
    packages,
  }: { readonly superseded: readonly string[]; readonly packages: readonly PackageChange[] },
  now: number,
): Superseded {
  const removed = packages.filter(({ change }) => change === 'removed');
  const [left, taken] = [true, false].map((byRetention) =>
    removed.filter(({ reason }) => (reason === 'retention') === byRetention),
  );
  const gone = new Set(left?.map(versionName));
  const disturbed = taken?.map((item) => versionName({ ...item, version: '' })) ?? [];
  const stays = (name: string) => !gone.has(name) && !disturbed.some((begin) => name.startsWith(begin));
  const known = new Map([...supersededSince(before)].filter(([name]) => stays(name)));
  for (const name of seen) if (!known.has(name) && stays(name)) known.set(name, now);
  let total = 0;
  const kept = [...known]
    .sort(([a, since], [b, later]) => since - later || (a < b ? -1 : 1))
    .filter(([name]) => {
      total += name.length + 4;
      return total <= atMost;
    });
  if (kept.length === 0) return undefined;
  return [...Map.groupBy(kept, ([, since]) => since)].map(([since, versions]) => ({
    since: new Date(since).toISOString(),
    versions: versions.map(([name]) => name),
  }));
}
