/**
 * The one error a user sees. It is made where the knowledge is (a format, a store, a phase) and turned into words once, by
 * `action/failure.ts`. It never carries a secret: whoever makes it puts in names, sizes and hashes only.
 */
export interface ProblemDetails {
  /** Stable, kebab-case, for tests and for readers who search for it: `deb-truncated`, `store-access-denied`. */
  readonly code: string;
  /** At most 60 characters: the title of the annotation. */
  readonly title: string;
  /** One sentence: what happened, to which file, input or object. */
  readonly what: string;
  /** One sentence: what the user can do now. */
  readonly advice: string;
  readonly cause?: unknown;
}

/** A fault that has been understood, in words for the user. Anything else that is thrown is a defect of this project. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: string;
  readonly title: string;
  readonly what: string;
  readonly advice: string;

  constructor(details: ProblemDetails) {
    super(`${details.what} ${details.advice}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.title = details.title;
    this.what = details.what;
    this.advice = details.advice;
  }
}

/** Several problems found by one look at the input, reported together. */
export class Problems extends Error {
  override readonly name = 'Problems';
  readonly all: readonly Problem[];

  constructor(all: readonly Problem[]) {
    super(all.map((problem) => problem.message).join('\n'));
    this.all = all;
  }
}

/** Throws nothing for none, the problem itself for one, `Problems` for several. */
export function throwProblems(found: readonly Problem[]): void {
  const [first, ...rest] = found;
  if (first === undefined) return;
  throw rest.length === 0 ? first : new Problems(found);
}
