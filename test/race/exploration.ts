import { ClosingCounts } from '../faults/closing-counts.ts';
import type { Finding, RepositoryCheck } from '../publish/repository-check.ts';
import { idle } from './idle.ts';
import { bodies, type Objects, type Operation } from './object-model.ts';
import type { Step, Stepper } from './stepper.ts';

/** What is explored: how it begins, what may happen, and what must hold. */
export interface Scenario {
  readonly check: RepositoryCheck;
  /** Every call begins the same run anew, with every process waiting at its first request. */
  begin(): Stepper;
  /** Whether a process may stand still after this request took effect. One does, once, in each run. */
  mayHold?(request: Operation<unknown>, process: string): boolean;
  /** Requests that commute with everything the other processes do, so that their order need not be explored. */
  isLocal?(request: Operation<unknown>): boolean;
  /** Which packages must be in which suite when all who are alive have ended, by publisher. */
  readonly wanted?: Wanted;
  /** What is wrong when nothing is left to happen, beyond what `check` sees. Processes that stand still for good are dead. */
  atEnd?(stepper: Stepper): Promise<readonly string[]>;
  /** Findings that this scenario passes through by design. */
  readonly admits?: readonly Finding['rule'][];
  /** Set where Release may be old at the end, by design: `atEnd` has to show that the next run mends it. */
  readonly leavesOldRelease?: true;
}

export type Wanted = Readonly<Record<string, readonly [suite: string, file: string]>>;

export interface Violation {
  readonly what: string;
  readonly trace: readonly string[];
}

export interface Explored {
  readonly counts: ClosingCounts;
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
  readonly #violations = new Map<string, Violation>();
  readonly #counts = new ClosingCounts();
  #mostRequests = 0;
  #ends = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  async step(stepper: Stepper, before: Objects): Promise<void> {
    this.#mostRequests = Math.max(this.#mostRequests, ...stepper.processes.map(({ requests }) => requests));
    if (stepper.processes.some(({ requests }) => requests > requestLimit)) throw new Error('A run does not end.');
    if (before === stepper.objects) return;
    const { check, admits } = this.#scenario;
    const snapshot = bodies(stepper.objects);
    const found = await check.findings(snapshot);
    found.push(...check.headsGoneBack(bodies(before), snapshot));
    this.#judge(
      stepper,
      found.filter(({ rule }) => admits?.includes(rule) !== true),
    );
  }

  async end(stepper: Stepper): Promise<void> {
    this.#ends += 1;
    const alive = stepper.processes.filter(({ held }) => held === undefined);
    for (const { name, end } of alive) {
      if (end === undefined) this.#report(stepper, `${name} waits for ever`);
      else if ('error' in end) this.#report(stepper, `${name} failed: ${end.error}`);
    }
    const { check, wanted = {}, leavesOldRelease = false } = this.#scenario;
    if (alive.length === stepper.processes.length) {
      const found = await check.findings(bodies(stepper.objects), true);
      this.#judge(
        stepper,
        found.filter(({ rule }) => rule !== 'release' || !leavesOldRelease),
        'at the end, ',
      );
    }
    const lost = await packagesLost(check, wanted, stepper);
    this.#counts.add('packages lost', lost.length);
    for (const what of [...lost, ...((await this.#scenario.atEnd?.(stepper)) ?? [])]) {
      this.#report(stepper, `at the end: ${what}`);
    }
  }

  outcome(counted: { runs: number; states?: number; complete: boolean }): Explored {
    const { runs, states, complete } = counted;
    this.#counts.add('orders tried', runs);
    if (states !== undefined) this.#counts.add('states seen', states);
    const violations = [...this.#violations.values()];
    return { counts: this.#counts, ends: this.#ends, mostRequests: this.#mostRequests, violations, complete };
  }

  #judge(stepper: Stepper, found: readonly Finding[], when = ''): void {
    this.#counts.addJudged(found);
    for (const { invariant, rule, what } of found) {
      this.#report(stepper, `${when}invariant ${invariant} (${rule}): ${what}`);
    }
  }

  #report({ trace }: Stepper, what: string): void {
    const known = this.#violations.get(what);
    if (known === undefined || trace.length < known.trace.length)
      this.#violations.set(what, { what, trace: [...trace] });
  }
}

/**
 * Every order of everything, by depth-first search without repetition: a step whose outcome is a state that was seen before is not
 * taken. Each branch is run from the beginning, since a process cannot be copied.
 */
export async function exploreAll(scenario: Scenario, mostRuns: number): Promise<Explored> {
  const judge = new Judge(scenario);
  const seen = new Set<string>();
  const branches: (readonly Step[])[] = [[]];
  let runs = 0;
  while (branches.length > 0 && runs < mostRuns) {
    const branch = branches.pop() ?? [];
    runs += 1;
    const choose = (stepper: Stepper, taken: readonly Step[]) => {
      const given = branch[taken.length];
      if (given !== undefined) return given;
      const fresh = possible(scenario, stepper).filter((step) => {
        const state = stepper.after(step);
        return !seen.has(state) && seen.add(state);
      });
      for (const step of fresh.slice(1)) branches.push([...taken, step]);
      return fresh[0];
    };
    await runOnce(scenario, judge, choose, branch.length);
  }
  return judge.outcome({ states: seen.size, runs, complete: branches.length === 0 });
}

/** Runs in orders drawn by chance: number `first` and the `count` after it, each the same on every machine. */
export async function exploreSome(scenario: Scenario, first: number, count: number): Promise<Explored> {
  const judge = new Judge(scenario);
  for (let seed = first; seed < first + count; seed += 1) {
    const random = chance(seed);
    // Some runs change between the processes all the time, others hardly ever: both kinds find faults that the other does not.
    const restless = random();
    let last: Step | undefined;
    await runOnce(scenario, judge, (stepper) => {
      const steps = possible(scenario, stepper);
      const same = steps.filter(({ process, act }) => process === last?.process && act === 'go');
      const from = same.length > 0 && random() > restless ? same : steps;
      // Otherwise it would be the first place of all where a process may stand still, in every second run.
      const calm = from.filter(({ act }) => act !== 'hold' || random() < 0.2);
      const among = calm.length > 0 ? calm : from;
      last = among[Math.floor(random() * among.length)];
      return last;
    });
  }
  return judge.outcome({ runs: count, complete: false });
}

/** Packages of publishers that are alive and that readers do not see. */
export async function packagesLost(
  check: RepositoryCheck,
  wanted: Wanted,
  { objects, processes }: Stepper,
): Promise<string[]> {
  const alive = processes.filter(({ held }) => held === undefined);
  const lost = alive.map(async ({ name }) => {
    const [suite, file] = wanted[name] ?? [];
    if (suite === undefined || file === undefined) return [];
    const packages = await check.packages(bodies(objects), suite);
    return packages.some((line) => line.includes(`/${file}`)) ? [] : [`${file} of ${name} is not in ${suite}`];
  });
  return (await Promise.all(lost)).flat();
}

/** One run from the beginning, in the order that `choose` says, until that says no more. Its first `replayed` steps are known. */
async function runOnce(
  scenario: Scenario,
  judge: Judge,
  choose: (stepper: Stepper, taken: readonly Step[]) => Step | undefined,
  replayed = 0,
): Promise<void> {
  const stepper = scenario.begin();
  const taken: Step[] = [];
  await idle();
  for (;;) {
    if (taken.length >= replayed && isOver(stepper)) await judge.end(stepper);
    const next = choose(stepper, taken);
    if (next === undefined) break;
    const before = stepper.objects;
    await stepper.take(next);
    taken.push(next);
    if (taken.length >= replayed) await judge.step(stepper, before);
  }
  await stepper.abandon();
}

/** Nothing can happen any more, unless a process that stands still goes on after all. */
function isOver({ processes }: Stepper): boolean {
  return processes.every(({ held, waiting }) => held !== undefined || waiting.length === 0);
}

function possible({ mayHold, isLocal }: Scenario, stepper: Stepper): Step[] {
  const steps = stepper.steps((request, process) => !stepper.hasHeld && mayHold?.(request, process) === true);
  const local = steps.find((step) => {
    const request = stepper.requestOf(step);
    return request !== undefined && isLocal?.(request) === true;
  });
  return local === undefined ? steps : [local];
}

/** Numbers in [0, 1) from a seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
