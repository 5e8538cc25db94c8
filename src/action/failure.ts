import { Problem, Problems } from '../problem.ts';
import type { Runner } from './runner.ts';

/** What of the runner a failure needs. */
type FailureRunner = Pick<Runner, 'error' | 'debug' | 'exitCode'>;

/**
 * Tells the user that the run has failed, and why: one titled annotation for each problem, its cause in the debug log, exit code 1.
 * Anything that is not a `Problem` is a defect of this project and says so, with its stack. Never throws.
 */
export function reportFailure(error: unknown, runner: FailureRunner): void {
  runner.exitCode(1);
  for (const problem of problemsOf(error)) {
    if (problem instanceof Problem) {
      runner.error(problem.message, problem.title);
      runner.debug(`code: ${problem.code}`);
      debugCauses(problem.cause, runner);
    } else {
      runner.error(`${defectAdvice}\n${describe(problem)}`, 'apt-publish failed unexpectedly');
      if (problem instanceof Error) debugCauses(problem.cause, runner);
    }
  }
}

const defectAdvice =
  'This is a defect of apt-publish: please report it with this text. What was published before stays as it was or is finished by the next run.';

/** The single faults: `Problems` are those of one look at the input, an `AggregateError` those of work done side by side. */
function problemsOf(error: unknown): readonly unknown[] {
  if (error instanceof Problems) return error.all;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(problemsOf);
  return [error];
}

/** An error caused by an error … as one block each, ending where the chain ends or bites its own tail. */
function debugCauses(cause: unknown, runner: FailureRunner): void {
  const seen = new Set<unknown>();
  for (let next = cause; next !== undefined && !seen.has(next); next = next instanceof Error ? next.cause : undefined) {
    seen.add(next);
    runner.debug(`caused by: ${describe(next)}`);
  }
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`;
  try {
    return String(error);
  } catch {
    return 'a value that cannot be shown';
  }
}
