import type { ScenarioName } from './comparison-record.ts';
import type { SamplePackage } from './sample-package.ts';

/** What a run publishes, and what is published where it does. */
export interface Workload {
  readonly name: ScenarioName;
  /** In the suite before the run, put there by the base; none for a run into an empty prefix. */
  readonly published: readonly SamplePackage[];
  readonly incoming: readonly SamplePackage[];
}

const small = 8 * 1024;
const archive = packages('archive', 1000, small);

const all: readonly Workload[] = [
  // What a release of one project is; most runs of most users.
  { name: 'incremental', published: archive, incoming: packages('newcomer', 1, 256 * 1024) },
  // A first publish: bound by requests.
  { name: 'cold', published: [], incoming: packages('first', 200, small) },
  // Bound by bandwidth and hashing, in parts.
  { name: 'large', published: [], incoming: packages('large', 1, 2 * 1024 ** 3) },
  // A rerun: what finding out that there is nothing to do costs.
  { name: 'no-op', published: archive, incoming: archive.slice(0, 1) },
];

/** Throws for a name that is none, which is a defect: names are checked where they come in. */
export function workload(name: ScenarioName): Workload {
  const found = all.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`There is no workload ${name}.`);
  return found;
}

function packages(name: string, count: number, size: number): SamplePackage[] {
  return Array.from({ length: count }, (_, index) => {
    const number = String(index).padStart(4, '0');
    return { name: `${name}-${number}`, version: `1.${index % 7}-1`, size };
  });
}
