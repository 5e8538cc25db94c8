import * as v from 'valibot';
import { Problem } from '../problem.ts';
import { phaseNames, verbs } from '../timing/span.ts';
import { looks, roles } from './pairs.ts';

/** Text of a machine's or a setting's own making: a short word or a few, of characters that mean nothing anywhere. */
const words = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9 ._+=/()-]{0,79}$/));
const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const commit = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));
const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(3_600_000));
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const moment = v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), v.isoTimestamp());
/** Names the pairing, and is the seed of its order. */
const pairing = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,59}$/));

/** What a workload does; what it is for stands in `workloads.ts`. */
export const scenarioNames = ['incremental', 'cold', 'large', 'no-op', 'prune'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

const run = v.strictObject({
  role: v.picklist(roles),
  /** Whether the process ended well and left a whole repository behind. */
  outcome: v.picklist(['ok', 'failed']),
  /** From the start of the process to its end, by the clock of whoever started it. */
  wallMs: v.pipe(milliseconds, v.minValue(1)),
  /** By the run's own account, so hearsay where a fork's code ran; empty when it left none that can be read. */
  phases: v.pipe(v.array(v.strictObject({ name: v.picklist(phaseNames), ms: milliseconds })), v.maxLength(20)),
  /** By the emulator's account; against a real store by the run's own. */
  requests: v.pipe(v.array(v.strictObject({ verb: v.picklist(verbs), count: whole })), v.maxLength(verbs.length)),
  bytesUp: whole,
  bytesDown: whole,
  /** The longest chain of requests that waited for each other, by the run's own account; absent when it left none. */
  depth: v.optional(whole),
  /** Processor time of all its processes, by the machine's account; absent where the machine keeps none. */
  cpuMs: v.optional(milliseconds),
  /** Attempts at requests that ended in a way that may pass. */
  retries: whole,
  /** SHA-256 of what was published, without dates and signatures; absent when the run failed. */
  repository: v.optional(hash),
});
export type MeasuredRun = v.InferOutput<typeof run>;

const scenario = v.strictObject({
  name: v.picklist(scenarioNames),
  /** How large the file of the large workload was. */
  mebibytes: v.optional(v.pipe(whole, v.minValue(1))),
  /** In the order in which they ran, so that each two are a pair. The pair for warming up is not among them. */
  runs: v.pipe(v.array(run), v.maxLength(2 * looks[1])),
});
export type MeasuredScenario = v.InferOutput<typeof scenario>;

const comparison = v.strictObject({
  schema: v.literal('apt-publish/comparison/1'),
  pairing,
  started: moment,
  durationMs: v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(86_400_000)),
  subject: v.variant('kind', [
    v.strictObject({ kind: v.literal('commits'), base: commit, head: commit }),
    v.strictObject({ kind: v.literal('settings'), base: words, head: words }),
  ]),
  /** One machine for both sides: two are never comparable. */
  machine: v.strictObject({ image: words, cpu: words, cores: whole, node: words }),
  endpoint: v.variant('kind', [
    v.strictObject({ kind: v.literal('emulator'), roundTripMs: milliseconds }),
    v.strictObject({ kind: v.literal('s3') }),
  ]),
  /** SHA-256 of the code that measured. */
  harness: hash,
  /** What the store gave at most to one client, where that was measured; rates a second. */
  ceiling: v.optional(
    v.strictObject({
      roundTripMs: v.pipe(milliseconds, v.minValue(0.001)),
      requests: v.pipe(v.number(), v.finite(), v.minValue(0.001)),
      bytes: v.pipe(v.number(), v.finite(), v.minValue(1)),
    }),
  ),
  /** The first one is what the verdict is about. */
  scenarios: v.pipe(v.array(scenario), v.minLength(1), v.maxLength(scenarioNames.length)),
});

/**
 * The one account of a comparison, from which verdict and comment are made anew wherever they are shown. It holds measurements and no
 * judgement. Times are milliseconds, sizes bytes. The schema is closed and has no field of free text, since a machine that has run a fork's
 * code may have written it.
 */
export type ComparisonRecord = v.InferOutput<typeof comparison>;

/** 12 pairs of all workloads are less than half of it. Bytes. */
const largest = 256 * 1024;

/**
 * Reads a comparison record that was written as JSON, by whoever. Throws the `Problem` `comparison-invalid`, naming the first faulty place
 * (`scenarios.0.runs.3.wallMs`) and never what stands there.
 */
export function parseComparison(json: string): ComparisonRecord {
  if (Buffer.byteLength(json) > largest) throw invalid(`is larger than ${largest} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw invalid('is not JSON', cause);
  }
  const read = v.safeParse(comparison, value);
  if (!read.success) {
    const [first] = read.issues;
    throw invalid(`has a fault at "${v.getDotPath(first)?.replaceAll(/[^\w.-]/g, '') ?? 'the whole'}"`);
  }
  const names = read.output.scenarios.map(({ name }) => name);
  if (new Set(names).size < names.length) throw invalid('has a workload twice');
  return read.output;
}

function invalid(fault: string, cause?: unknown): Problem {
  return new Problem({
    code: 'comparison-invalid',
    title: 'The measurements cannot be read',
    what: `The record of the comparison ${fault}.`,
    advice:
      'Comment `/apt-perf` again; if this stays, the code under test has written into the folder of the measurements.',
    cause,
  });
}
