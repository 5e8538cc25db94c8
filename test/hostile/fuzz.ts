/**
 * Feeds mutated input to everything that reads bytes of strangers.
 *
 *     node test/hostile/fuzz.ts --minutes 10              all targets, a new seed each round
 *     node test/hostile/fuzz.ts --minutes 1 --target deb  one of them
 *
 * Inputs that break a promise are written below `test/hostile/seeds/`, where `seeds.test.ts` tries them again for ever.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { temporaryFolder } from '../rig/temporary.ts';
import type { Assignment, Message } from './case-worker.ts';
import { inputOf } from './case-worker.ts';
import type { Target } from './target.ts';
import { targets } from './targets.ts';

export interface Round {
  readonly cases: number;
  readonly accepted: number;
  readonly findings: readonly Finding[];
  /** Most memory of the whole process while it went on, bytes. */
  readonly peakMemory: number;
}

export interface Finding {
  readonly target: string;
  readonly seed: number;
  readonly index: number;
  readonly input: Uint8Array;
  readonly what: string;
}

/** Beyond this a case hangs: the thread is ended. Far more than a slow case takes, as the machine may be busy. Milliseconds. */
const hangs = 20_000;
/** In place of a case's number while the thread reads the modules. */
const starting = -1;
/** What cases of a few kilobytes may never take, bytes. */
const maxMemory = 1024 ** 3;
const watchEvery = 200;

/** Runs cases `first` to `first + count` of a target in a thread of their own, and goes on behind a case that hangs or eats memory. */
export async function fuzz(target: Target, seed: number, count: number): Promise<Round> {
  await using folder = await temporaryFolder();
  const findings: Finding[] = [];
  let accepted = 0;
  let peakMemory = 0;
  for (let first = 0; first < count; ) {
    const progress = new Int32Array(new SharedArrayBuffer(4)).fill(starting);
    const assignment = { target: target.name, seed, first, count: count - first, folder: folder.path, progress };
    const stretch = await runThread(assignment, (finding) => findings.push({ ...finding, target: target.name, seed }));
    peakMemory = Math.max(peakMemory, stretch.peakMemory);
    accepted += stretch.accepted;
    if (stretch.stopped === undefined) break;
    const index = Math.max(0, Atomics.load(progress, 0));
    findings.push({
      target: target.name,
      seed,
      index,
      input: await inputOf(target, seed, index),
      what: stretch.stopped,
    });
    first = index + 1;
  }
  return { cases: count, accepted, findings, peakMemory };
}

interface Stretch {
  readonly accepted: number;
  readonly peakMemory: number;
  /** Why the thread was ended before its time. */
  readonly stopped?: string;
}

async function runThread(
  assignment: Assignment,
  found: (finding: Omit<Finding, 'target' | 'seed'>) => void,
): Promise<Stretch> {
  const worker = new Worker(new URL('./case-worker.ts', import.meta.url), { workerData: assignment });
  let accepted = 0;
  let peakMemory = 0;
  let stopped: string | undefined;
  const stop = (why: string): void => {
    stopped ??= why;
    void worker.terminate();
  };
  let seen = { index: starting, since: performance.now() };
  const watch = setInterval(() => {
    const index = Atomics.load(assignment.progress, 0);
    const memory = process.memoryUsage.rss();
    peakMemory = Math.max(peakMemory, memory);
    if (index !== seen.index) seen = { index, since: performance.now() };
    if (index !== starting && performance.now() - seen.since > hangs) stop(`did not end in ${hangs / 1000} s`);
    else if (memory > maxMemory) stop(`made the process take ${Math.round(memory / 2 ** 20)} MiB`);
  }, watchEvery);
  try {
    await new Promise<void>((resolve) => {
      worker.on('message', (message: Message) => {
        if (message.kind === 'finding') return found(message);
        accepted = message.accepted;
        void worker.terminate();
      });
      worker.on('error', (error) => stop(`ended the thread: ${error instanceof Error ? error.stack : String(error)}`));
      worker.on('exit', () => resolve());
    });
  } finally {
    clearInterval(watch);
  }
  return { accepted, peakMemory, ...(stopped === undefined ? {} : { stopped }) };
}

/** Milliseconds that each target gets in one round of the long run. */
const roundMs = 5000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      target: { type: 'string' },
      seed: { type: 'string', default: '1000' },
    },
  });
  const chosen = targets.filter(({ name }) => values.target === undefined || name === values.target);
  const until = performance.now() + Number(values.minutes) * 60_000;
  let cases = 0;
  let found = 0;
  for (let seed = Number(values.seed); performance.now() < until; seed += 1) {
    for (const target of chosen) {
      if (performance.now() > until) break;
      const round = await fuzz(target, seed, Math.round(roundMs / target.cost));
      cases += round.cases;
      found += round.findings.length;
      const memory = Math.round(round.peakMemory / 2 ** 20);
      console.log(`${target.name} seed ${seed}: ${round.cases} cases, ${round.accepted} accepted, ${memory} MiB`);
      for (const finding of round.findings) await keep(finding);
    }
  }
  console.log(`${cases} cases, ${found} findings`);
  process.exitCode = found === 0 ? 0 : 1;
}

async function keep({ target, seed, index, input, what }: Finding): Promise<void> {
  const folder = join(import.meta.dirname, 'seeds', target);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${seed}-${index}`), input);
  console.log(`FOUND ${target} seed ${seed} case ${index} (${input.length} bytes): ${what}`);
}

if (import.meta.main) await main();
