/** The thread in which cases run: one that does not come back can be ended from outside. */
import { parentPort, workerData } from 'node:worker_threads';
import { Generator } from '../debian/generator.ts';
import { judge, type Target } from './target.ts';
import { targetNamed } from './targets.ts';

/** What a thread is told when it starts. */
export interface Assignment {
  readonly target: string;
  readonly seed: number;
  readonly first: number;
  readonly count: number;
  /** An empty folder, the thread's own. */
  readonly folder: string;
  /** One number: the case that is running. Shared, since a thread in a loop sends no messages. */
  readonly progress: Int32Array;
}

export type Message =
  | { readonly kind: 'finding'; readonly index: number; readonly input: Uint8Array; readonly what: string }
  | { readonly kind: 'end'; readonly accepted: number; readonly refused: number };

/** Longest that one small input may take, milliseconds. */
const slow = 2000;

/** The input of a case: a function of target, seed and number alone. */
export async function inputOf(target: Target, seed: number, index: number): Promise<Uint8Array> {
  const generator = new Generator(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  return target.make(generator);
}

async function run({ target: name, seed, first, count, folder, progress }: Assignment): Promise<Message> {
  const target = targetNamed(name);
  const counts = { accepted: 0, refused: 0 };
  for (let index = first; index < first + count; index += 1) {
    Atomics.store(progress, 0, index);
    const input = await inputOf(target, seed, index);
    try {
      const began = performance.now();
      counts[await judge(target, input, folder)] += 1;
      if (performance.now() - began < slow) continue;
      // The machine may have been busy; twice is no accident.
      const again = performance.now();
      await judge(target, input, folder);
      const ms = performance.now() - again;
      if (ms >= slow) report(index, input, `took ${Math.round(ms)} ms`);
    } catch (error) {
      report(index, input, error instanceof Error ? `${error.stack ?? error.message}` : String(error));
    }
  }
  return { kind: 'end', ...counts };
}

function report(index: number, input: Uint8Array, what: string): void {
  const message: Message = { kind: 'finding', index, input: new Uint8Array(input), what };
  parentPort?.postMessage(message);
}

if (parentPort !== null) parentPort.postMessage(await run(workerData as Assignment));
