import type { CountRow, PerfResult, PhaseRow, RunRow, WallRow } from '../report/perf-comment.ts';
import { phaseNames } from '../timing/span.ts';
import { ceilingOf, ceilingRemarks } from './ceiling-row.ts';
import { seededChance } from './chance.ts';
import type { ComparisonRecord, MeasuredRun, MeasuredScenario } from './comparison-record.ts';
import { detectable, type NoiseKey, type NoiseSession, noiseBand } from './noise-band.ts';
import { differences, looks, orderOfRuns, type Pair } from './pairs.ts';
import { hodgesLehmann, holm, median, signedRankInterval, signedRankP } from './signed-rank.ts';
import { couldHide, type Judgement, type JudgementFlag, judge, practicalFloor } from './verdict.ts';

/**
 * What a comparison says, worked out from its measurements and from the noise that was measured on such machines. Pure: whoever has the record can
 * check the verdict, and whoever has written it cannot choose one.
 */
export function assess(record: ComparisonRecord, sessions: readonly NoiseSession[]): PerfResult {
  const fault = faultOf(record);
  const primary = fault === undefined ? judgePrimary(record, sessions) : undefined;
  const ceiling = fault === undefined ? ceilingOf(record) : undefined;
  const remarks = fault === undefined ? remarksOn(record, primary) : [fault];
  return {
    ...provenance(record),
    verdict: primary?.verdict ?? 'not comparable',
    remarks,
    walls: primary === undefined ? [] : wallRows(record, primary),
    counts: fault === undefined ? record.scenarios.flatMap(countRows) : [],
    phases: fault === undefined ? phaseRows(record) : [],
    noise: primary === undefined ? 'No number was judged.' : noiseWords(primary),
    ...(ceiling === undefined ? {} : { ceiling }),
    ...(primary === undefined ? {} : sizes(primary)),
  };
}

/** The judgement on the wall time of the first workload; throws for a record that `faultOf` finds a fault in. */
export function judgePrimary(record: ComparisonRecord, sessions: readonly NoiseSession[]): Judgement {
  const pairs = pairsOf(record.scenarios[0], ({ wallMs }) => wallMs);
  const noise = noiseBand(sessions, noiseKey(record), pairs.length, Date.parse(record.started));
  return judge(pairs, noise, practicalFloor[record.endpoint.kind]);
}

/** Why its numbers must not be compared; undefined when they may. */
export function faultOf(record: ComparisonRecord): string | undefined {
  for (const { name, runs } of record.scenarios) {
    if (runs.length === 0) return `There are no measurements of ${name}.`;
    const failed = runs.find(({ outcome }) => outcome === 'failed');
    if (failed !== undefined) return `A run of the ${failed.role} did not end well in ${name}; its log says why.`;
    const order = orderOfRuns(looks[1], seededChance(`${record.pairing} ${name}`)).slice(0, runs.length);
    if (runs.length % 2 !== 0 || order.join() !== runs.map(({ role }) => role).join())
      return `The runs of ${name} are not in the order that the name of the pairing stands for.`;
    if (new Set(runs.map(({ repository }) => repository)).size > 1)
      return `Base and head did not publish the same repository in ${name}, so their times are of different work.`;
    const parts = (['base', 'head'] as const).map((role) => retriedPart(runs.filter((run) => run.role === role)));
    if (parts.some((part) => part > mostRetried))
      return `The store failed too many requests in ${name} to compare times.`;
  }
  return undefined;
}

/** Of all requests; beyond it what was measured is the store's patience. */
const mostRetried = 0.005;

function retriedPart(runs: readonly MeasuredRun[]): number {
  const sum = (of: (run: MeasuredRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  return sum(({ retries }) => retries) / Math.max(1, sum(requestsOf));
}

/** What the noise of a pairing depends on. The kind of processor counts, not its stepping. */
export function noiseKey({ scenarios, machine, endpoint, harness }: ComparisonRecord): NoiseKey {
  const at = endpoint.kind === 'emulator' ? `, ${endpoint.roundTripMs} ms` : '';
  return {
    scenario: scenarioWords(scenarios[0]),
    machine: `${machine.image}, ${machine.cpu}, ${machine.cores} cores, node ${machine.node}${at}`,
    endpoint: endpoint.kind,
    harness,
  };
}

/** The large workload is another one with another size. */
function scenarioWords(scenario: MeasuredScenario | undefined): string {
  const { name = '', mebibytes } = scenario ?? {};
  return mebibytes === undefined ? name : `${name}, ${mebibytes} MiB`;
}

/** A pairing of a build with itself, as a part of the pool; undefined when it went wrong. */
export function noiseSession(record: ComparisonRecord): NoiseSession | undefined {
  if (faultOf(record) !== undefined) return undefined;
  const pairs = pairsOf(record.scenarios[0], ({ wallMs }) => wallMs);
  // Uncorrected: an effect of position that is not always there is noise, too.
  const { values } = differences(pairs, Number.POSITIVE_INFINITY);
  return { key: noiseKey(record), started: record.started, differences: values };
}

function pairsOf(scenario: MeasuredScenario | undefined, of: (run: MeasuredRun) => number): Pair[] {
  const runs = scenario?.runs ?? [];
  return runs.flatMap((first, index): Pair[] => {
    const second = index % 2 === 0 ? runs[index + 1] : undefined;
    if (second === undefined) return [];
    const [base, head] = first.role === 'base' ? [first, second] : [second, first];
    return [{ base: of(base), head: of(head), first: first.role }];
  });
}

function wallRows(record: ComparisonRecord, primary: Judgement): WallRow[] {
  const measured = record.scenarios.map((scenario) => {
    const pairs = pairsOf(scenario, ({ wallMs }) => wallMs);
    return { scenario, pairs, values: differences(pairs, primary.noise.band).values };
  });
  const significant = holm(measured.slice(1).map(({ values }) => signedRankP(values)));
  return measured.map(({ scenario, pairs, values }, index) => {
    const estimate = index === 0 ? primary.estimate : hodgesLehmann(values);
    const interval = index === 0 ? primary.interval : signedRankInterval(values);
    const direction = estimate > 0 ? 'longer' : 'shorter';
    return {
      workload: scenarioWords(scenario),
      base: median(pairs.map(({ base }) => base)),
      head: median(pairs.map(({ head }) => head)),
      change: estimate,
      middle: median(values),
      ...(interval === undefined ? {} : { interval }),
      ...(index === 0 ? { band: primary.noise.band } : {}),
      verdict: index === 0 ? primary.verdict : significant[index - 1] === true ? direction : 'no difference shown',
    };
  });
}

function countRows(scenario: MeasuredScenario): CountRow[] {
  const middle = (role: 'base' | 'head', of: (run: MeasuredRun) => number) =>
    Math.round(median(scenario.runs.filter((run) => run.role === role).map(of)));
  const row = (unit: CountRow['unit'], of: (run: MeasuredRun) => number) => {
    return { workload: scenario.name, unit, base: middle('base', of), head: middle('head', of) };
  };
  return [
    row('requests', requestsOf),
    row('bytes sent', ({ bytesUp }) => bytesUp),
    row('bytes received', ({ bytesDown }) => bytesDown),
  ];
}

function phaseRows({ scenarios }: ComparisonRecord): PhaseRow[] {
  const [primary] = scenarios;
  const runs = primary?.runs ?? [];
  return phaseNames.flatMap((name) => {
    if (!runs.every(({ phases }) => phases.some((phase) => phase.name === name))) return [];
    const time = ({ phases }: MeasuredRun) => phases.find((phase) => phase.name === name)?.ms ?? 0;
    return [{ name, differenceMs: median(pairsOf(primary, time).map(({ base, head }) => head - base)) }];
  });
}

function remarksOn(record: ComparisonRecord, judgement: Judgement | undefined): string[] {
  const flags = judgement?.flags.map((flag) => flagWords[flag]) ?? [];
  const [primary] = record.scenarios;
  const retried = record.scenarios.some(({ runs }) => runs.some(({ retries }) => retries > 0));
  const changed = !sameMix(primary?.runs ?? []);
  return [
    ...flags,
    ...(retried ? ['Some requests had to be repeated; the times include that.'] : []),
    ...ceilingRemarks(record),
    ...(changed ? ['Base and head send different requests: see the counts.'] : []),
    ...(record.endpoint.kind === 'emulator'
      ? ['Measured against an emulator: real stores are slower and less even.']
      : []),
  ];
}

const flagWords: Record<JudgementFlag, string> = {
  few_pairs: 'Fewer than six pairs: no verdict is possible.',
  default_band: 'The noise of such a machine has not been measured yet; a wide band stands in for it.',
  stale_band: 'The noise of such a machine was last measured more than two weeks ago; a wide band stands in for it.',
  position_effect: 'Whoever ran second had an advantage or a handicap; it has been taken out of the change.',
  drift: 'The machine became slower or faster during the session by more than the noise band.',
  unstable: 'Estimate and median of the pairs disagree about the direction.',
};

function sameMix(runs: readonly MeasuredRun[]): boolean {
  const mix = (role: MeasuredRun['role']) =>
    runs
      .filter((run) => run.role === role)
      .map(({ requests }) => JSON.stringify(requests))
      .sort()[0];
  return mix('base') === mix('head');
}

function sizes(judgement: Judgement): Pick<PerfResult, 'detectable' | 'couldHide'> {
  const { noise, values, estimate, pairs, threshold } = judgement;
  // Where noise was not measured before, how these pairs scatter is the best guess.
  const scatter = noise.differences.length > 0 ? noise.differences : values.map((value) => value - estimate);
  const least = detectable(scatter, pairs, threshold);
  const hidden = couldHide(judgement);
  return least === undefined || hidden === undefined ? {} : { detectable: least, couldHide: hidden };
}

function noiseWords({ noise, pairs }: Judgement): string {
  if (noise.source !== 'measured') return 'Noise band: the default one, as none was measured for this machine.';
  return `Noise band: 99 % of ${pairs}-pair comparisons of one build with itself, from ${noise.differences.length} pairs of ${noise.sessions} nights.`;
}

function provenance(
  record: ComparisonRecord,
): Pick<PerfResult, 'pairs' | 'order' | 'machine' | 'endpoint' | 'durationMs' | 'runs'> {
  const { machine, endpoint, durationMs, scenarios } = record;
  const roles = (scenarios[0]?.runs ?? []).map(({ role }) => (role === 'base' ? 'A' : 'B')).join('');
  return {
    pairs: Math.floor(roles.length / 2),
    order: roles.match(/.{1,4}/g)?.join(' ') ?? '',
    machine: `${machine.image}, ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`,
    endpoint: endpoint.kind === 'emulator' ? `emulator, ${endpoint.roundTripMs} ms round trip` : 'S3',
    durationMs,
    runs: scenarios.flatMap(({ name, runs }): RunRow[] =>
      runs.map((run) => {
        const { role, outcome, wallMs, retries } = run;
        return { workload: name, role, outcome, wallMs, requests: requestsOf(run), retries };
      }),
    ),
  };
}

function requestsOf({ requests }: MeasuredRun): number {
  return requests.reduce((sum, { count }) => sum + count, 0);
}
