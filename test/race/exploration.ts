import { bodies, type Objects, type Operation } from './object-model.ts';
import type { Finding, RepositoryCheck } from '../publish/repository-check.ts';
import { idle } from './idle.ts';
import type { Step, Stepper } from './stepper.ts';

/** What is explored: how it begins, what may happen, and what must hold. */
export interface Scenario {
  readonly check: RepositoryCheck;
  /** Every call begins the same run anew, with every process waiting at its first request. */
  begin(): Stepper;
  /** Whether a process may stand still after this request took effect. At most one does at a time. */
  mayHold?(request: Operation<unknown>): boolean;
  /** Requests that commute with everything the other processes do, so that their order need not be explored. */
  isLocal?(request: Operation<unknown>): boolean;
  /** What is wrong when nothing is left to happen, beyond what `check` sees. Processes that stand still for good are dead. */
  atEnd?(stepper: Stepper): Promise<readonly string[]>;
  /** Findings that this scenario is known to pass through. */
  readonly admits?: readonly Finding['rule'][];
}

export interface Violation {
  readonly what: string;
  readonly trace: readonly string[];
}

export interface Explored {
  /** Different states seen. */
  readonly states: number;
  /** Runs from the beginning. */
  readonly runs: number;
  /** Runs that came to an end, rather than to a state seen before. */
  readonly ends: number;
  /** The most requests that one process made. */
  readonly mostRequests: number;
  /** At most one of each kind. */
  readonly violations: readonly Violation[];
  /** Whether every state was seen. */
  readonly complete: boolean;
}

/** Requests of one process after which a run counts as one that does not end. */
const requestLimit = 3000;

/** Judges one run while it goes on, and gathers what many runs came to. */
class Judge {
  readonly #scenario: Scenario;
  readonly #judged = new WeakSet<Objects>();
  readonly violations = new Map<string, Violation>();
  mostRequests = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  async step(stepper: Stepper, before: Objects): Promise<void> {
    this.mostRequests = Math.max(this.mostRequests, ...stepper.processes.map(({ requests }) => requests));
    if (stepper.processes.some(({ requests }) => requests > requestLimit)) throw new Error('A run does not end.');
    if (before === stepper.objects || this.#judged.has(stepper.objects)) return;
    this.#judged.add(stepper.objects);
    const { check, admits = [] } = this.#scenario;
    const snapshot = bodies(stepper.objects);
    const found = await check.findings(snapshot);
    found.push(...check.headsGoneBack(bodies(before), snapshot));
    for (const { invariant, rule, what } of found) {
      if (!admits.includes(rule)) this.#report(stepper, `invariant ${invariant} (${rule}): ${what}`);
    }
  }

  async end(stepper: Stepper): Promise<void> {
    const alive = stepper.processes.filter(({ held }) => held === undefined);
    for (const { name, end } of alive) {
      if (end === undefined) this.#report(stepper, `${name} waits for ever`);
      else if ('error' in end) this.#report(stepper, `${name} failed: ${end.error}`);
    }
    if (alive.length === stepper.processes.length) {
      const found = await this.#scenario.check.findings(bodies(stepper.objects), true);
      for (const { invariant, rule, what } of found) this.#report(stepper, `at the end, invariant ${invariant} (${rule}): ${what}`);
    }
    for (const what of (await this.#scenario.atEnd?.(stepper)) ?? []) this.#report(stepper, `at the end: ${what}`);
  }

  #report({ trace }: Stepper, what: string): void {
    const known = this.violations.get(what);
    if (known === undefined || trace.length < known.trace.length) this.violations.set(what, { what, trace: [...trace] });
  }
}

/**
 * Every order of everything, by depth-first search without repetition: a step whose outcome is a state that was seen before is not
 * taken. Each branch is run from the beginning, since a process cannot be copied.
 */
export async function exploreAll(scenario: Scenario, limit = { runs: 20_000 }): Promise<Explored> {
  const judge = new Judge(scenario);
  const seen = new Set<string>();
  const branches: (readonly Step[])[] = [[]];
  let runs = 0;
  let ends = 0;
  for (let branch = branches.pop(); branch !== undefined && runs < limit.runs; branch = branches.pop()) {
    runs += 1;
    const stepper = scenario.begin();
    const taken: Step[] = [];
    await idle();
    for (;;) {
      const given = branch[taken.length];
      const next = given ?? unseen(scenario, stepper, seen, (step) => branches.push([...taken, step]));
      if (next === 'ended') {
        ends += 1;
        await judge.end(stepper);
      }
      if (typeof next === 'string') break;
      const before = stepper.objects;
      await stepper.take(next);
      taken.push(next);
      if (given === undefined || taken.length === branch.length) await judge.step(stepper, before);
    }
  }
  return outcome(judge, { states: seen.size, runs, ends, complete: branches.length === 0 });
}

/** The first step to a state that was not seen yet; the others go to `later`. */
function unseen(
  scenario: Scenario,
  stepper: Stepper,
  seen: Set<string>,
  later: (step: Step) => void,
): Step | 'ended' | 'seen' {
  const steps = possible(scenario, stepper);
  if (steps.every(({ act }) => act === 'thaw')) ends(seen, stepper);
  const fresh = steps.filter((step) => {
    const state = stepper.after(step);
    if (seen.has(state)) return false;
    seen.add(state);
    return true;
  });
  const [first, ...others] = fresh;
  for (const step of others) later(step);
  if (first !== undefined) return first;
  return steps.length === 0 ? 'ended' : 'seen';
}
