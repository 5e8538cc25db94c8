import { assess, noiseKey } from '../../src/perf/assess.ts';
import type { ComparisonRecord } from '../../src/perf/comparison-record.ts';
import { type PerfState, renderPerfComment } from '../../src/report/perf-comment.ts';
import { base, head, pairing, sampleComparison, sampleScenario } from '../perf/comparison-samples.ts';

/** A comment that answers `/apt-perf`. */
export interface ComparisonPage {
  readonly name: string;
  readonly markdown: string;
}

const sides = [
  { depth: 21, cpuMs: 540 },
  { depth: 21, cpuMs: 530 },
] as const;
const ceiling = { roundTripMs: 20.4, requests: 412, bytes: 96e6 };

/** What a comparison can come to: every verdict, with ceiling and all workloads, and what stands there before there is one. */
export function comparisonPages(): ComparisonPage[] {
  const names = ['cold', 'large', 'no-op', 'prune'] as const;
  const others = names.map((name) => ({
    ...sampleScenario(name, [1, -2, 3, 0, -1, 2]),
    ...(name === 'large' ? { mebibytes: 2048 } : {}),
  }));
  const measured = (percents: readonly number[]) =>
    sampleComparison([], { ceiling, scenarios: [sampleScenario('incremental', percents, ...sides), ...others] });
  const differentWork = sampleScenario('incremental', [9, 9, 9, 9, 9, 9], { repository: 'c'.repeat(64) });
  return [
    page('slower', done(measured([14, 15, 16, 15, 14, 16]))),
    page('faster', done(measured([-9, -8, -10, -9, -8, -9]))),
    page('within-noise', done(measured([1, -1, 2, -2, 1, -1]))),
    page('inconclusive', done(measured([-20, 30, 10, -15, 25, -5, -20, 30, 10, -15, 25, -5]))),
    page('not-comparable', done(sampleComparison([], { scenarios: [differentWork] }))),
    page('running', { state: 'running', runs: 4, of: 12 }),
    page('refused', { state: 'refused', what: 'The pull request is not open.', advice: 'Open it again.' }),
  ];
}

function done(record: ComparisonRecord): PerfState {
  const differences = [0.01, -0.015, 0.02, 0.005, -0.01, 0.015];
  const night = { key: noiseKey(record), started: '2026-11-29T02:00:00Z', differences };
  return { state: 'done', ...assess(record, Array(8).fill(night)) };
}

function page(name: string, state: PerfState): ComparisonPage {
  return { name: `compared-${name}`, markdown: renderPerfComment({ base, head, pairing }, state) };
}
