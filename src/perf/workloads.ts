import type { ScenarioName } from './comparison-record.ts';
import type { SamplePackage } from './sample-package.ts';

/** What a run publishes, and what is published where it does. */
export interface Workload {
  readonly name: ScenarioName;
  /** In the suite before the run, put there by the base; none for a run into an empty prefix. */
  readonly published: readonly SamplePackage[];
  readonly incoming: readonly SamplePackage[];
  /** What the run is told beyond what all runs are told. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** How large its one file is, where that can be chosen. */
  readonly mebibytes?: number;
}

export type Workloads = Readonly<Record<ScenarioName, Workload>>;

const small = 8 * 1024;
const archive = packages('archive', 1000, small);
/** A hundred packages in ten versions each. */
const aged = archive.map((_, index) => version('aged', Math.floor(index / 10), index % 10));

/** What the large workload publishes where nobody says otherwise. */
export const usualMebibytes = 2048;

/**
 * Every workload; `mebibytes` is the size of the large one's file. That takes neither disk nor memory on either side, but time: at 2 GiB a
 * client works for thirteen seconds, so that a machine with few or slow cores wants it smaller.
 */
export function workloads(mebibytes: number): Workloads {
  return {
    // What a release of one project is; most runs of most users.
    incremental: { name: 'incremental', published: archive, incoming: packages('newcomer', 1, 256 * 1024) },
    // A first publish: bound by requests.
    cold: { name: 'cold', published: [], incoming: packages('first', 200, small) },
    // Bound by bandwidth and hashing, in parts.
    large: { name: 'large', published: [], incoming: packages('large', 1, mebibytes * 1024 ** 2), mebibytes },
    // A rerun: what finding out that there is nothing to do costs.
    'no-op': { name: 'no-op', published: archive, incoming: archive.slice(0, 1) },
    // Retention: an eleventh version of every other package comes, and of each of them nine leave.
    prune: {
      name: 'prune',
      published: aged,
      incoming: Array.from({ length: 50 }, (_, index) => version('aged', 2 * index, 10)),
      inputs: { 'keep-versions': '2' },
    },
  };
}

function packages(name: string, count: number, size: number): SamplePackage[] {
  return Array.from({ length: count }, (_, index) => {
    return { name: numbered(name, index), version: `1.${index % 7}-1`, size };
  });
}

function version(name: string, index: number, minor: number): SamplePackage {
  return { name: numbered(name, index), version: `1.${minor}-1`, size: small };
}

function numbered(name: string, index: number): string {
  return `${name}-${String(index).padStart(4, '0')}`;
}
