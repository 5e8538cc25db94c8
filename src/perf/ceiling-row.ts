import type { CeilingResult, CeilingSide } from '../report/perf-ceiling.ts';
import { least, type StoreLimits } from './ceiling.ts';
import type { ComparisonRecord, MeasuredRun } from './comparison-record.ts';
import { median } from './signed-rank.ts';

/** Beyond it a client has nothing left to gain that anybody would notice. */
const near = 0.9;
/** Of its time, as one processor: beyond it a run waits for its own work. */
const busy = 0.85;

/** How near each side of the first workload came to what no client could beat; undefined where the store's limits were not measured. */
export function ceilingOf({ scenarios, ceiling, machine }: ComparisonRecord): CeilingResult | undefined {
  const runs = scenarios[0]?.runs ?? [];
  if (ceiling === undefined || runs.length === 0) return undefined;
  const side = (role: MeasuredRun['role']) =>
    sideOf(
      runs.filter((run) => run.role === role),
      ceiling,
      machine.cores,
    );
  return { base: side('base'), head: side('head'), ...ceiling };
}

/** What a reader should know who hopes for a faster client or a faster store. */
export function ceilingRemarks(record: ComparisonRecord): string[] {
  const found = ceilingOf(record);
  const runs = (record.scenarios[0]?.runs ?? []).filter(({ role }) => role === 'base');
  const share = runs.flatMap(({ cpuMs, wallMs }) => (cpuMs === undefined ? [] : [cpuMs / wallMs]));
  return [
    ...(found !== undefined && found.base.part >= near
      ? ['The base is near the ceiling: no change of the client can make it much faster.']
      : []),
    ...(share.length > 0 && median(share) > busy
      ? ['The base keeps a processor busy nearly all the time: a faster store or line would gain it little.']
      : []),
  ];
}

function sideOf(runs: readonly MeasuredRun[], store: StoreLimits, cores: number): CeilingSide {
  const middle = (of: (run: MeasuredRun) => number) => (runs.length === 0 ? 0 : median(runs.map(of)));
  const tookMs = middle(({ wallMs }) => wallMs);
  const { binds, ms, needs, efficiency } = least(
    {
      bytesUp: middle(({ bytesUp }) => bytesUp),
      requests: middle(({ requests }) => requests.reduce((sum, { count }) => sum + count, 0)),
      depth: middle(({ depth = 0 }) => depth),
      processorMs: middle(({ cpuMs = 0 }) => cpuMs) / cores,
      tookMs,
    },
    store,
  );
  return { part: efficiency, binds, leastMs: ms, tookMs, needs };
}
