import assert from 'node:assert/strict';
import { Problem, Problems } from '../../src/problem.ts';
import type { Generator } from '../debian/generator.ts';

/** Something of this project that reads bytes of strangers, and what must hold whatever they are. */
export interface Target {
  /** Kebab-case; the folder of its regression inputs under `seeds/`. */
  readonly name: string;
  /** Milliseconds that a case takes on an idle machine, roughly: the long run shares its time out by cases. */
  readonly cost: number;
  /** The messages of errors that are known, harmless and not made into problems yet. */
  readonly known?: RegExp;
  /** An input near the valid ones; the same for the same state of the generator. */
  make(generator: Generator): Uint8Array | Promise<Uint8Array>;
  /**
   * Reads the input; `folder` is an empty one for what has to be a file. Resolves when it was accepted and everything holds that must hold of accepted input; throws `Problem`s when
   * it was refused. Anything else that is thrown is a finding.
   */
  check(input: Uint8Array, folder: string): void | Promise<void>;
}

export type Verdict = 'accepted' | 'refused';

/** Runs one case. Throws a finding: an error that is no `Problem`, a promise that does not hold, a message unfit for a log. */
export async function judge(target: Target, input: Uint8Array, folder: string): Promise<Verdict> {
  try {
    await target.check(input, folder);
    return 'accepted';
  } catch (error) {
    const problems = error instanceof Problems ? error.all : [error];
    for (const problem of problems) {
      if (problem instanceof Error && target.known?.test(problem.message)) continue;
      if (!(problem instanceof Problem)) throw error;
      assertFitForLog(problem);
    }
    return 'refused';
  }
}

/** Text of strangers in a message must not begin a line of the log, where the runner reads commands, nor steer a terminal. */
function assertFitForLog({ code, title, what, advice }: Problem): void {
  assert.match(code, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
  assert.ok(title.length <= 60, `the title of ${code} has ${title.length} characters`);
  for (const text of [title, what, advice]) {
    assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, `a message of ${code} has a control character`);
    assert.ok(text.length < 2000, `a message of ${code} has ${text.length} characters`);
  }
}
