import { seededChance } from '../../src/perf/chance.ts';
import type { ComparisonRecord, MeasuredRun, ScenarioName } from '../../src/perf/comparison-record.ts';
import { orderOfRuns } from '../../src/perf/pairs.ts';

export const base = '7e2a2f3000000000000000000000000000000000';
export const head = '0123456789abcdef0123456789abcdef01234567';
export const pairing = 'pr7-100-1';

/** A run of a second, but for what is said. */
export function sampleRun(role: MeasuredRun['role'], more: Partial<MeasuredRun> = {}): MeasuredRun {
  return {
    role,
    outcome: 'ok',
    wallMs: 1000,
    phases: [
      { name: 'read', ms: 100 },
      { name: 'upload', ms: role === 'base' ? 300 : 380 },
    ],
    requests: [
      { verb: 'GET', count: 6 },
      { verb: 'PUT', count: 12 },
    ],
    bytesUp: 300_000,
    bytesDown: 80_000,
    retries: 0,
    repository: 'a'.repeat(64),
    ...more,
  };
}

/** Times of the head, in per cent above those of the base; one for each pair. `more` is the head's, `less` the base's. */
export function sampleScenario(
  name: ScenarioName,
  percents: readonly number[],
  more: Partial<MeasuredRun> = {},
  less: Partial<MeasuredRun> = {},
) {
  const order = orderOfRuns(12, seededChance(`${pairing} ${name}`)).slice(0, 2 * percents.length);
  const runs = order.map((role, index) => {
    const wallMs = role === 'base' ? 1000 : 1000 * (1 + (percents[index >> 1] ?? 0) / 100);
    return sampleRun(role, { wallMs, ...(role === 'head' ? more : less) });
  });
  return { name, runs };
}

export function sampleComparison(percents: readonly number[], more: Partial<ComparisonRecord> = {}): ComparisonRecord {
  return {
    schema: 'apt-publish/comparison/1',
    pairing,
    started: '2026-11-30T02:00:00.000Z',
    durationMs: 65_000,
    subject: { kind: 'commits', base, head },
    machine: { image: 'ubuntu24', cpu: 'AMD EPYC 7763 64-Core Processor', cores: 4, node: '24.21.0' },
    endpoint: { kind: 'emulator', roundTripMs: 20 },
    harness: 'b'.repeat(64),
    scenarios: [sampleScenario('incremental', percents)],
    ...more,
  };
}
