import { createHash } from 'node:crypto';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { idle } from './idle.ts';
import { contentHash, type Objects, type Operation, storeOver } from './object-model.ts';

/** What a process waits for: the answer to a request, or the end of a sleep. */
interface Waiting {
  readonly label: string;
  /** Virtual time at which it began. */
  readonly since: number;
  readonly request?: Operation<unknown>;
  /** Virtual time at which a sleep is over. */
  readonly due?: number;
  readonly resume: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
}

interface Process {
  readonly name: string;
  readonly waiting: Waiting[];
  /** Hash of everything it has been told so far. A process is a function of that, so equal histories are equal processes. */
  history: string;
  requests: number;
  /** A process that stands still: what it was told last has not reached it yet. */
  held?: { readonly deliver: () => void; readonly fail: (error: Error) => void };
  /** Absent while it runs. */
  end?: { readonly result: unknown } | { readonly error: unknown };
}

/**
 * One step: something that a process waits for happens. `hold`: the request takes effect and the process stands still before it
 * hears of it, as one that is stopped, swapped out or dead. `thaw`: it goes on.
 */
export interface Step {
  readonly process: number;
  readonly act: 'go' | 'hold' | 'thaw';
  /** Which of the things it waits for. */
  readonly which: number;
}

export interface StepperSettings {
  readonly objects: Objects;
  readonly time: number;
  /** How long a request of a process that does not stand still may be on its way while time passes elsewhere, milliseconds. */
  readonly patience: number;
  /** While a process stands still, sleeps take this long at least: many looks at the same claim are as good as two. Milliseconds. */
  readonly stretch: number;
  /** When a process that stands still may go on: at any time, when nothing else is left to happen, or never: then it is dead. */
  readonly thaw: 'any' | 'last' | 'never';
}

/** Sleeps from this length on are pauses between two looks, milliseconds. */
const longSleep = 200;

/**
 * Runs several processes over one store in virtual time, one step at a time, in any order that is asked for. Every request and
 * every sleep is a step; nothing else moves time. The same steps give the same run.
 */
export class Stepper {
  readonly processes: Process[] = [];
  readonly trace: string[] = [];
  objects: Objects;
  time: number;
  /** Whether some process stood still once. */
  hasHeld = false;
  readonly #settings: StepperSettings;
  #abandoned: Error | undefined;

  constructor(settings: StepperSettings) {
    this.#settings = settings;
    this.objects = settings.objects;
    this.time = settings.time;
  }

  /** Adds a process. It begins at once and waits at its first request. */
  add(name: string, start: (store: ObjectStore, clock: Clock) => Promise<unknown>): void {
    const process: Process = { name, waiting: [], history: name, requests: 0 };
    const wait = (label: string, what: Pick<Waiting, 'request' | 'due'>): Promise<unknown> =>
      new Promise((resume, fail) => {
        if (this.#abandoned !== undefined) fail(this.#abandoned);
        else process.waiting.push({ label, since: this.time, ...what, resume, fail });
      });
    const store = storeOver(
      <Answer>(request: Operation<Answer>) =>
        wait(`${name} ${request.verb} ${request.key}`, { request }) as Promise<Answer>,
    );
    const clock: Clock = {
      now: () => this.time,
      monotonic: () => this.time,
      sleep: async (ms) => {
        await wait(`${name} sleeps ${ms} ms`, { due: this.time + ms });
      },
    };
    this.processes.push(process);
    start(store, clock).then(
      (result) => {
        process.end = { result };
      },
      (error: unknown) => {
        process.end = { error };
      },
    );
  }

  /** Ends a run that is not followed any further: what still runs fails, so that no open file is left behind. */
  async abandon(): Promise<void> {
    this.#abandoned = new Error('This run is not followed any further.');
    for (const { held, waiting } of this.processes)
      for (const { fail } of [...waiting, held ?? []].flat()) fail(this.#abandoned);
    await idle();
  }

  /** Every step that is possible now, in a fixed order. Call after `idle`. */
  steps(mayHold: (request: Operation<unknown>, process: string) => boolean): Step[] {
    const steps = this.processes.flatMap((process, index): Step[] => {
      if (process.held !== undefined) return [{ process: index, act: 'thaw', which: 0 }];
      return process.waiting.flatMap((waiting, which): Step[] => {
        if (waiting.due !== undefined && !this.#timeMayReach(this.#wakes(waiting))) return [];
        const go: Step = { process: index, act: 'go', which };
        if (waiting.request === undefined || !mayHold(waiting.request, process.name)) return [go];
        return [go, { ...go, act: 'hold' }];
      });
    });
    const { thaw } = this.#settings;
    const others = steps.filter(({ act }) => act !== 'thaw');
    return thaw === 'any' || (thaw === 'last' && others.length === 0) ? steps : others;
  }

  /** The request that a step lets through; none for the end of a sleep, or for a process that goes on. */
  requestOf(step: Step): Operation<unknown> | undefined {
    return step.act === 'thaw' ? undefined : this.#waiting(step).request;
  }

  /** The state that a step would lead to, without going there: everything that the future depends on, hashed. */
  after(step: Step): string {
    const process = this.#process(step);
    const { objects, time, hasHeld } = this;
    if (step.act === 'thaw') return this.#state(step.process, process.history, { objects, time, held: false, hasHeld });
    const told = this.#told(process, this.#waiting(step));
    const held = step.act === 'hold';
    return this.#state(step.process, told.history, { ...told, held, hasHeld: hasHeld || held });
  }

  /** Takes a step and lets everything run until it waits again. */
  async take(step: Step): Promise<void> {
    const process = this.#process(step);
    if (step.act === 'thaw') {
      this.trace.push(`${process.name} goes on`);
      process.held?.deliver();
      delete process.held;
    } else {
      const waiting = this.#waiting(step);
      const { history, objects, time, answer } = this.#told(process, waiting);
      const outcome = waiting.request === undefined ? '' : ` → ${outcomeOf(answer)}`;
      this.trace.push(`${waiting.label}${outcome}${step.act === 'hold' ? ', and stands still' : ''}`);
      process.waiting.splice(step.which, 1);
      process.history = history;
      if (waiting.request !== undefined) process.requests += 1;
      this.objects = objects;
      this.time = time;
      const deliver = () => waiting.resume(answer);
      if (step.act === 'hold') {
        process.held = { deliver, fail: waiting.fail };
        this.hasHeld = true;
      } else deliver();
    }
    await idle();
  }

  #told(process: Process, waiting: Waiting) {
    const { request, label } = waiting;
    const told = (what: string, time: number) => hash(`${process.history}\n${label}\n${what}\n${time}`);
    if (request === undefined) {
      const time = this.#wakes(waiting);
      return { history: told('', time), objects: this.objects, time, answer: undefined };
    }
    const { answer, objects } = request.apply(this.objects, this.time);
    return { history: told(outcomeOf(answer), this.time), objects, time: this.time, answer };
  }

  #state(
    index: number,
    history: string,
    next: { objects: Objects; time: number; held: boolean; hasHeld: boolean },
  ): string {
    const all = this.processes.map((process, position) =>
      position === index ? `${history} ${next.held}` : `${process.history} ${process.held !== undefined}`,
    );
    return hash(`${all.join('\n')}\n${next.time} ${next.hasHeld}\n${hashOf(next.objects)}`);
  }

  #wakes({ due = this.time, since }: Waiting): number {
    const stretched = due - since >= longSleep && this.processes.some(({ held }) => held !== undefined);
    return Math.max(due, this.time + (stretched ? this.#settings.stretch : 0));
  }

  #timeMayReach(time: number): boolean {
    const { patience } = this.#settings;
    return this.processes.every(
      ({ held, waiting }) =>
        held !== undefined || waiting.every(({ request, since }) => request === undefined || time <= since + patience),
    );
  }

  #process({ process }: Step): Process {
    const found = this.processes[process];
    if (found === undefined) throw new Error(`There is no process ${process}.`);
    return found;
  }

  #waiting(step: Step): Waiting {
    const { name, waiting } = this.#process(step);
    const found = waiting[step.which];
    if (found === undefined) throw new Error(`${name} does not wait for a thing number ${step.which}: not replayed?`);
    return found;
  }
}

/** An answer in one line; bodies stand as their ETag. */
function outcomeOf(answer: unknown): string {
  return JSON.stringify(answer, (key, value) => (key === 'body' ? undefined : value)) ?? 'done';
}

const stateHashes = new WeakMap<Objects, string>();

function hashOf(objects: Objects): string {
  const known = stateHashes.get(objects);
  if (known !== undefined) return known;
  const lines = [...objects].map(([key, { body, modified }]) => `${key} ${contentHash(body)} ${modified}`);
  const sum = hash(lines.sort().join('\n'));
  stateHashes.set(objects, sum);
  return sum;
}

function hash(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}
