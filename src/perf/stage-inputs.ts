import { InputReader, quoted } from '../action/input-reader.ts';
import type { Runner } from '../action/runner.ts';
import { throwProblems } from '../problem.ts';
import type { Audience } from './perf-thread.ts';

/** What the perf action can be asked to do, each in a job of its own. */
export const stages = ['command', 'measure', 'follow', 'report', 'pool', 'settings'] as const;
export type Stage = (typeof stages)[number];

/** Reads single inputs of a stage; every fault is thrown before anything is used. */
export class StageInputs {
  readonly #reader: InputReader;

  constructor(runner: Runner) {
    this.#reader = new InputReader(runner, runner.secrets);
  }

  stage(): Stage {
    return this.#needed('do', this.#reader.choice('do', stages), 'Write `do: settings` to compare two settings.');
  }

  text(name: string): string | undefined {
    return this.#reader.text(name);
  }

  required(name: string): string {
    return this.#needed(name, this.#reader.text(name), 'See perf/action.yml for what it is.');
  }

  /** A value of this form; undefined where nothing is said. */
  optional(name: string, form: RegExp): string | undefined {
    return this.text(name) === undefined ? undefined : this.matching(name, form);
  }

  /** A value of this form. */
  matching(name: string, form: RegExp): string {
    const value = this.required(name);
    if (!form.test(value)) {
      this.#reader.fault(name, { what: `is ${quoted(value)}.`, advice: 'See perf/action.yml for its form.' });
      throwProblems(this.#reader.faults);
    }
    return value;
  }

  whole(name: string): number {
    return Number(this.matching(name, /^[1-9]\d{0,14}$/));
  }

  secret(name: string): string {
    return this.#needed(name, this.#reader.secret(name), 'Give it the token of the workflow, in this job alone.');
  }

  #needed<T>(name: string, value: T | undefined, advice: string): T {
    if (value === undefined && this.#reader.faults.length === 0)
      this.#reader.fault(name, { what: 'is missing.', advice });
    throwProblems(this.#reader.faults);
    if (value === undefined) throw new Error(`${name} is missing, and no fault says so`);
    return value;
  }
}

/** Who is told, by what the runner and the inputs say. */
export function audienceOf(inputs: StageInputs, runner: Pick<Runner, 'variable'>, number: number): Audience {
  const variable = (name: string) => runner.variable(name) ?? '';
  return {
    repository: {
      apiUrl: runner.variable('GITHUB_API_URL') ?? 'https://api.github.com',
      name: variable('GITHUB_REPOSITORY'),
      token: inputs.secret('github-token'),
    },
    number,
    run: { id: Number(variable('GITHUB_RUN_ID')), attempt: Number(variable('GITHUB_RUN_ATTEMPT')) },
  };
}
