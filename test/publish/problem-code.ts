import { Problem } from '../../src/problem.ts';

/** For `assert.rejects`: the one problem with one of these codes. */
export function problemCode(...codes: readonly string[]): (error: unknown) => boolean {
  return (error) => error instanceof Problem && codes.includes(error.code);
}
