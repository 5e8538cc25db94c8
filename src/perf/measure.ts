import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listed, type ObjectAttributes, type ObjectStore } from '../store/object-store.ts';
import { analyse } from '../timing/analysis.ts';
import type { Clock } from '../timing/clock.ts';
import type { RunRecord } from '../timing/record.ts';
import type { Verb } from '../timing/span.ts';
import { seededChance } from './chance.ts';
import type { MeasuredRun, MeasuredScenario } from './comparison-record.ts';
import type { Ground, RequestCounts } from './ground.ts';
import type { OtherUser } from './other-user.ts';
import { looks, orderOfRuns, type Role } from './pairs.ts';
import { publishedState } from './published-state.ts';
import { type BuildRun, runBuild, type Side } from './run-build.ts';
import { type SamplePackage, sampleFile } from './sample-package.ts';
import type { Workload, Workloads } from './workloads.ts';

/** What a measurement works with. */
export interface Bench {
  readonly sides: Readonly<Record<Role, Side>>;
  readonly ground: Ground;
  readonly workloads: Workloads;
  /** As whom both sides run; absent: as this process's own user. */
  readonly user?: OtherUser;
  /** The seed of the order, and a part of the prefix. */
  readonly pairing: string;
  /** The program that runs both sides. */
  readonly node: string;
  /** An empty folder that the caller removes. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

const suite = 'stable';
/** Lets the machine finish what the last run has left it to do: closing sockets, writing back. */
const restMs = 2000;

/**
 * Measures pairs of a workload until there are `pairs` of them, going on behind those of `before`. Every run is a fresh process on a fresh
 * prefix, which is filled from what the base has published once. A pair for warming up, which nobody sees again, comes first. Ends
 * early after a run that failed, since nothing can be compared then.
 */
export async function measure(
  bench: Bench,
  workload: Workload,
  pairs: number,
  before: readonly MeasuredRun[],
): Promise<MeasuredScenario> {
  const { ground, pairing, log } = bench;
  const root = `${ground.prefix}/${pairing}/${workload.name}`;
  const files = join(bench.folder, workload.name);
  try {
    await writeFiles(workload.published, join(files, 'published'));
    await writeFiles(workload.incoming, join(files, 'incoming'));
    const template = await publishTemplate(bench, workload, files, `${root}/template`);
    const order = orderOfRuns(looks[1], seededChance(`${pairing} ${workload.name}`)).slice(0, 2 * pairs);
    const runs = [...before];
    const measureOne = async (role: Role, name: string) => {
      const run = await measureRun(bench, role, workload, join(files, 'incoming'), template, `${root}/${name}`);
      log(`${workload.name} ${name}: ${role} ${run.outcome}, ${Math.round(run.wallMs)} ms`);
      return run;
    };
    for (const role of ['base', 'head'] as const) await measureOne(role, `warm-up-${role}`);
    for (const [index, role] of [...order.entries()].slice(before.length)) {
      const run = await measureOne(role, `run-${index + 1}`);
      runs.push(run);
      if (run.outcome === 'failed') break;
    }
    return { name: workload.name, runs };
  } finally {
    await rm(files, { recursive: true, force: true });
    await empty(ground.store(root));
  }
}

interface Kept {
  readonly key: string;
  readonly body: Uint8Array;
  readonly attributes: ObjectAttributes;
}

/** What a run needs to find: indexes and records. The pool is only listed there, never read, so it need not be copied. */
async function publishTemplate(bench: Bench, { published }: Workload, files: string, prefix: string): Promise<Kept[]> {
  if (published.length === 0) return [];
  const { ground, sides } = bench;
  const inputs = inputsOf(ground, {}, join(files, 'published'), prefix);
  const run = await runBuild(sides.base, inputs, join(bench.folder, 'run'), bench);
  if (run.ended === 'failed') bench.log(`what the base publishes first failed:\n${run.said}`);
  const store = ground.store(prefix);
  const kept: Kept[] = [];
  for (const folder of ['dists/', '.apt-publish/']) {
    for await (const { key } of listed(store, folder)) {
      const [object, head] = await Promise.all([store.get(key), store.head(key)]);
      if (!object.found || !head.found) continue;
      const { contentType = '', cacheControl = '', sha256 } = head;
      kept.push({
        key,
        body: object.body,
        attributes: { contentType, cacheControl, ...(sha256 === undefined ? {} : { sha256 }) },
      });
    }
  }
  return kept;
}

async function measureRun(
  bench: Bench,
  role: Role,
  workload: Workload,
  incoming: string,
  template: readonly Kept[],
  prefix: string,
): Promise<MeasuredRun> {
  const { ground, sides, clock, log } = bench;
  const store = ground.store(prefix);
  await Promise.all(template.map(({ key, body, attributes }) => store.put(key, body, attributes)));
  await clock.sleep(restMs);
  await ground.counted?.();
  const folder = join(bench.folder, 'run');
  const run = await runBuild(sides[role], inputsOf(ground, workload.inputs ?? {}, incoming, prefix), folder, bench);
  const counts = (await ground.counted?.()) ?? ownCounts(run.record);
  const repository = run.ended === 'ok' ? await publishedState(store, suite) : undefined;
  if (repository === undefined) log(`the ${role} failed:\n${run.said}`);
  await Promise.all([empty(store), rm(folder, { recursive: true, force: true })]);
  return measured(role, run, counts, repository);
}

function measured(role: Role, run: BuildRun, counts: RequestCounts, repository: string | undefined): MeasuredRun {
  const phases = run.record === undefined ? [] : analyse(run.record).phases;
  return {
    role,
    outcome: repository === undefined ? 'failed' : 'ok',
    wallMs: run.wallMs,
    phases: phases.map(({ name, wall }) => ({ name, ms: wall })),
    ...counts,
    requests: counts.requests.toSorted((a, b) => (a.verb < b.verb ? -1 : 1)),
    ...(run.record === undefined ? {} : { depth: phases.reduce((sum, { waves }) => sum + waves, 0) }),
    ...(run.cpuMs === undefined ? {} : { cpuMs: run.cpuMs }),
    retries: phases.reduce((sum, { retries }) => sum + retries, 0),
    ...(repository === undefined ? {} : { repository }),
  };
}

function ownCounts(record: RunRecord | undefined): RequestCounts {
  const phases = record === undefined ? [] : analyse(record).phases;
  const totals = new Map<Verb, number>();
  for (const { requests } of phases)
    for (const [verb, count] of requests) totals.set(verb, (totals.get(verb) ?? 0) + count);
  return {
    requests: [...totals].map(([verb, count]) => ({ verb, count })),
    bytesUp: phases.reduce((sum, { bytesUp }) => sum + bytesUp, 0),
    bytesDown: phases.reduce((sum, { bytesDown }) => sum + bytesDown, 0),
  };
}

/** Both sides have a fixed number of requests in flight, unless it is what is compared: a client that feels its way takes another one each run. */
function inputsOf(
  ground: Ground,
  own: Readonly<Record<string, string>>,
  files: string,
  prefix: string,
): Record<string, string> {
  return {
    ...ground.inputs,
    ...own,
    'upload-concurrency': '16',
    'rename-concurrency': '16',
    prefix,
    suites: suite,
    component: 'main',
    architectures: 'amd64',
    packages: join(files, '*.deb'),
    comment: 'never',
  };
}

async function writeFiles(packages: readonly SamplePackage[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const each of packages) {
    const { fileName, head, zeros, tail } = sampleFile(each);
    await using file = await open(join(folder, fileName), 'wx');
    await file.write(head, 0, head.length, 0);
    // A hole: it reads as zeros and takes no room on the disk.
    await file.write(tail, 0, tail.length, head.length + zeros);
  }
}

async function empty(store: ObjectStore): Promise<void> {
  for (;;) {
    const { objects } = await store.listPage('');
    if (objects.length === 0) return;
    await store.delete(objects.map(({ key }) => key));
  }
}
