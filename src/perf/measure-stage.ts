import { readFile, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { InputReader } from '../action/input-reader.ts';
import { readLocation } from '../action/location.ts';
import type { Runner } from '../action/runner.ts';
import { appendSummary } from '../action/summary-file.ts';
import { version } from '../action/version.ts';
import { Problem, throwProblems } from '../problem.ts';
import { fence, md } from '../report/markdown.ts';
import { renderPerfComment } from '../report/perf-comment.ts';
import type { Clock } from '../timing/clock.ts';
import { assess } from './assess.ts';
import { type Calibration, calibrate, calibrationText, limitsOf } from './calibration.ts';
import { type ComparisonFacts, compare, measured, newComparison, pairsWanted } from './comparison.ts';
import { type ComparisonRecord, parseComparison, type ScenarioName, scenarioNames } from './comparison-record.ts';
import { emulator, type Ground, ownBucket } from './ground.ts';
import { atHome, type Lodging, withUser } from './lodging.ts';
import { harnessHash, processorMs, thisMachine } from './machine.ts';
import type { Bench } from './measure.ts';
import { readPool } from './noise-pool.ts';
import { looks } from './pairs.ts';
import type { Side } from './run-build.ts';
import type { StageInputs } from './stage-inputs.ts';
import { subjectOf } from './subject.ts';
import { usualMebibytes, type Workloads } from './workloads.ts';

/** What a stage that measures has of the machine. */
export interface Surroundings {
  readonly clock: Clock;
  readonly runner: Runner;
  /** This process's own file, and that of the emulator. */
  readonly harness: { readonly main: string; readonly emulator: string };
  /** The publish bundle that lies beside this one. */
  readonly ownBundle: string;
  readonly node: string;
  /** What there is to publish, the large file of so many mebibytes. */
  readonly workloads: (mebibytes: number) => Workloads;
  /** What the paths in inputs are relative to. */
  readonly workspace: string;
  readonly temporaryFolder: string;
}

/** As far as from a runner to a store in the same region. */
const roundTripMs = 20;

/**
 * Measures the next block of a comparison of two builds (two pairs of each workload, beyond the first look of the first one) into the file `record`, which
 * it makes or goes on with. The output `more` says whether another block is wanted.
 */
export async function measureStage(inputs: StageInputs, around: Surroundings): Promise<void> {
  const side = (name: string) => sideOf(inputs.required(name), around.workspace);
  const sides = { base: side('base-bundle'), head: side('head-bundle') };
  const { pairing, base, head } = subjectOf(inputs);
  const path = inputs.required('record');
  const { sessions } = await readPool(inputs.text('noise'));
  const least = inputs.text('pairs') === '12' ? looks[1] : looks[0];
  await onBench(inputs, around, pairing, sides, async (bench) => {
    const before =
      (await recordAt(path)) ??
      newComparison(bench, await factsOf(around, { kind: 'commits', base, head }), scenariosOf(inputs));
    const pairs = (before.scenarios[0]?.runs.length ?? 0) / 2 + 2;
    const record = await withCeiling(bench, inputs, await measured(bench, before, pairs));
    await writeFile(path, `${JSON.stringify(record)}\n`);
    const wanted = pairs < least || pairsWanted(record, sessions) !== undefined;
    around.runner.output('more', String(wanted && pairs < looks[1]));
  });
}

/** Compares two settings of the build beside this one, in one go, and reports in the job summary. */
export async function settingsStage(inputs: StageInputs, around: Surroundings): Promise<void> {
  const { runner, clock, ownBundle } = around;
  const [a, b] = ['variant-a', 'variant-b'].map((name) => variant(inputs.required(name)));
  if (a === undefined || b === undefined) throw new Error('two variants are two');
  const sides = { base: { main: ownBundle, inputs: a.inputs }, head: { main: ownBundle, inputs: b.inputs } };
  const pairing = `settings-${clock.now().toString(36)}`;
  await onBench(inputs, around, pairing, sides, async (bench) => {
    const { sessions } = await readPool(inputs.text('noise'));
    const facts = await factsOf(around, { kind: 'settings', base: a.words, head: b.words });
    const [scenario = 'incremental'] = scenariosOf(inputs);
    const compared = await compare(bench, facts, scenario, sessions);
    const calibration = inputs.text('ceiling') === 'true' ? await ceilingOf(bench) : undefined;
    const record = calibration === undefined ? compared : { ...compared, ceiling: limitsOf(calibration) };
    const result = assess(record, sessions);
    const text = renderPerfComment({ base: a.words, head: b.words, pairing }, { state: 'done', ...result });
    await appendSummary(text, runner);
    if (calibration !== undefined)
      await appendSummary(md`\n### Ceiling\n\n${fence(calibrationText(calibration))}`, runner);
    runner.output('verdict', result.verdict);
  });
}

/** With what the store gives at most, where that is wanted and not known yet: a build that comes near it cannot be beaten by another. */
async function withCeiling(bench: Bench, inputs: StageInputs, record: ComparisonRecord): Promise<ComparisonRecord> {
  if (inputs.text('ceiling') !== 'true' || record.ceiling !== undefined) return record;
  return { ...record, ceiling: limitsOf(await ceilingOf(bench)) };
}

function ceilingOf({ ground, pairing, clock }: Bench): Promise<Calibration> {
  const store = ground.loaded(`${ground.prefix}/${pairing}/ceiling`);
  return calibrate({ store, clock, cpuMs: processorMs }, pairing);
}

async function onBench(
  inputs: StageInputs,
  around: Surroundings,
  pairing: string,
  sides: Bench['sides'],
  use: (bench: Bench) => Promise<void>,
): Promise<void> {
  const { clock, runner, harness, node } = around;
  const mebibytes = Number(inputs.optional('large-size', /^[1-9]\d{0,5}$/) ?? usualMebibytes);
  await using lodging = await lodgingOf(inputs, around, sides);
  await using ground = await groundOf(inputs, runner, harness.emulator, node);
  const workloads = around.workloads(mebibytes);
  await use({ ...lodging, ground, workloads, pairing, clock, log: runner.info });
}

function lodgingOf(inputs: StageInputs, around: Surroundings, sides: Bench['sides']): Promise<Lodging> {
  const id = inputs.optional('user', /^[1-9]\d{3,8}$/);
  if (id === undefined) return atHome(around, sides);
  if (inputs.text('bucket') !== undefined) throw keysInTheOpen();
  return withUser({ id: Number(id) }, around, sides);
}

/** The emulator, unless a bucket is named. */
function groundOf(inputs: StageInputs, runner: Runner, script: string, node: string): Promise<Ground> | Ground {
  if (inputs.text('bucket') === undefined) return emulator(script, { roundTripMs }, node, version);
  const reader = new InputReader(runner, runner.secrets);
  const location = readLocation(reader);
  const key = reader.secret('gpg-private-key');
  throwProblems(reader.faults);
  if (location?.kind !== 's3' || !('accessKeyId' in location.credentials)) throw notABucket();
  const { bucket, endpoint, region, forcePathStyle, credentials } = location;
  return ownBucket(
    { ...location, credentials, version },
    {
      bucket,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(region === undefined ? {} : { region }),
      'force-path-style': String(forcePathStyle),
      'access-key-id': credentials.accessKeyId,
      'secret-access-key': credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { 'session-token': credentials.sessionToken }),
      ...(key === undefined ? { unsigned: 'true' } : { 'gpg-private-key': key }),
    },
  );
}

async function factsOf(
  { runner, harness }: Surroundings,
  subject: ComparisonRecord['subject'],
): Promise<ComparisonFacts> {
  return {
    subject,
    machine: thisMachine(runner.variable('ImageOS')),
    harness: await harnessHash([harness.main, harness.emulator]),
  };
}

async function recordAt(path: string): Promise<ComparisonRecord | undefined> {
  const written = await readFile(path, 'utf8').catch(() => undefined);
  return written === undefined ? undefined : parseComparison(written);
}

function sideOf(folder: string, workspace: string): Side {
  return { main: join(isAbsolute(folder) ? folder : join(workspace, folder), 'index.js'), inputs: {} };
}

function scenariosOf(inputs: StageInputs): ScenarioName[] {
  const words = (inputs.text('scenarios') ?? 'incremental').split(/\s+/);
  return words.map((word) => {
    const found = scenarioNames.find((name) => name === word);
    if (found === undefined) throw unknownScenario();
    return found;
  });
}

/** `rename-concurrency=4 upload-concurrency=4`: inputs of the publish action. */
function variant(words: string): { readonly words: string; readonly inputs: Record<string, string> } {
  const pairs = words.split(/\s+/).map((word) => /^([a-z-]+)=([A-Za-z0-9.-]{1,20})$/.exec(word));
  if (pairs.includes(null) || words.length > 80) {
    throw new Problem({
      code: 'variant-invalid',
      title: 'A variant is no list of settings',
      what: 'The inputs `variant-a` and `variant-b` are settings of the publish action, apart by blanks.',
      advice: 'Write for example `variant-a: rename-concurrency=4` and `variant-b: rename-concurrency=16`.',
    });
  }
  return { words, inputs: Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? ''])) };
}

function unknownScenario(): Problem {
  return new Problem({
    code: 'scenario-unknown',
    title: 'There is no such workload',
    what: 'The input `scenarios` names a workload that there is not.',
    advice: `Write one or several of ${scenarioNames.join(', ')}, the one to judge first.`,
  });
}

function keysInTheOpen(): Problem {
  return new Problem({
    code: 'user-with-bucket',
    title: 'Another user would see the keys of the bucket',
    what: 'The inputs `user` and `bucket` are both given, and builds that run as another user are told their keys in the open.',
    advice: 'Leave out `bucket` to measure against the emulator, or `user` for builds that you trust.',
  });
}

function notABucket(): Problem {
  return new Problem({
    code: 'perf-needs-bucket',
    title: 'A comparison needs a bucket',
    what: 'The input `bucket` names no bucket that may be written to.',
    advice: 'Name a bucket with a prefix for scratch, or leave it out to measure against the emulator.',
  });
}
