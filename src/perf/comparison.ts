import { faultOf, judgePrimary } from './assess.ts';
import type { ComparisonRecord, ScenarioName } from './comparison-record.ts';
import { type Bench, measure } from './measure.ts';
import type { NoiseSession } from './noise-band.ts';
import { looks } from './pairs.ts';
import { wantsMore } from './verdict.ts';

/** What a comparison is about and where it is made. */
export type ComparisonFacts = Pick<ComparisonRecord, 'subject' | 'machine' | 'harness'>;

/** A record without measurements, for these workloads; the first is what the verdict will be about. */
export function newComparison(
  bench: Bench,
  facts: ComparisonFacts,
  scenarios: readonly ScenarioName[],
): ComparisonRecord {
  return {
    schema: 'apt-publish/comparison/1',
    pairing: bench.pairing,
    started: new Date(bench.clock.now()).toISOString(),
    durationMs: 0,
    ...facts,
    endpoint: bench.ground.endpoint,
    scenarios: scenarios.map((name) => {
      const { mebibytes } = bench.workloads[name];
      return { name, ...(mebibytes === undefined ? {} : { mebibytes }), runs: [] };
    }),
  };
}

/**
 * The record with every workload measured until it has `pairs` pairs; beyond those of the first look only the one that is judged. Stops where
 * the record can no longer be compared.
 */
export async function measured(bench: Bench, record: ComparisonRecord, pairs: number): Promise<ComparisonRecord> {
  const began = bench.clock.monotonic();
  const scenarios = [...record.scenarios];
  for (const [index, { name, runs }] of record.scenarios.entries()) {
    if (index > 0 && pairs > looks[0]) break;
    if (runs.length >= 2 * pairs || runs.some(({ outcome }) => outcome === 'failed')) continue;
    scenarios[index] = await {
      ...record.scenarios[index],
      ...(await measure(bench, bench.workloads[name], pairs, runs)),
    };
  }
  return { ...record, scenarios, durationMs: record.durationMs + (bench.clock.monotonic() - began) };
}

/** How many pairs the comparison still wants: those of the first look, those of the second where the first found nothing, or no more. */
export function pairsWanted(record: ComparisonRecord, sessions: readonly NoiseSession[]): number | undefined {
  const { runs } = record.scenarios[0] ?? { runs: [] };
  if (runs.some(({ outcome }) => outcome === 'failed')) return undefined;
  if (runs.length < 2 * looks[0]) return looks[0];
  if (runs.length >= 2 * looks[1] || faultOf(record) !== undefined) return undefined;
  // Between the looks nobody looks.
  if (runs.length > 2 * looks[0]) return looks[1];
  return wantsMore(judgePrimary(record, sessions)) ? looks[1] : undefined;
}

/** A whole comparison of one workload, both looks. */
export async function compare(
  bench: Bench,
  facts: ComparisonFacts,
  scenario: ScenarioName,
  sessions: readonly NoiseSession[],
): Promise<ComparisonRecord> {
  let record = newComparison(bench, facts, [scenario]);
  for (let pairs = pairsWanted(record, sessions); pairs !== undefined; pairs = pairsWanted(record, sessions))
    record = await measured(bench, record, pairs);
  return record;
}
