import { dirname, join } from 'node:path';
import type { ListedFile } from '../debian/dsc.ts';
import { Problem, Problems, throwProblems } from '../problem.ts';
import type { ScannedFile } from './scanned.ts';

/**
 * Finds each file that `list` names, through `read`, and holds it against what the list says. Gathers the problems of all
 * files: `listed-file-missing`, `listed-file-differs` and whatever `read` throws. Results in the order of `listed`.
 */
export function checkListed(
  list: string,
  listed: readonly ListedFile[],
  read: (path: string) => Promise<ScannedFile>,
): Promise<ScannedFile[]> {
  return settled(
    listed.map(async (entry) => {
      const file = await read(join(dirname(list), entry.name)).catch((failure: unknown) => {
        throw failure instanceof Problem && failure.code === 'input-not-found'
          ? missing(list, entry.name, failure)
          : failure;
      });
      if (file.size !== entry.size || file.md5 !== entry.md5 || file.sha256 !== entry.sha256) {
        throw differs(list, entry, file);
      }
      return file;
    }),
  );
}

/**
 * Waits for all of `work`, then returns the results in order or throws the problems of all together, each once. An error
 * that is no `Problem` goes before them: it is a defect, and must not hide behind faults of the input.
 */
export async function settled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const problems = new Set<Problem>();
  const results: T[] = [];
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'fulfilled') results.push(outcome.value);
    else if (outcome.reason instanceof Problem) problems.add(outcome.reason);
    else if (outcome.reason instanceof Problems) for (const problem of outcome.reason.all) problems.add(problem);
    else throw outcome.reason;
  }
  throwProblems([...problems]);
  return results;
}

function missing(list: string, name: string, cause: Problem): Problem {
  return new Problem({
    code: 'listed-file-missing',
    title: 'A listed file is missing',
    what: `${list} lists ${name}, which is not in the same directory.`,
    advice: 'Keep all files that a .dsc or .changes lists beside it.',
    cause,
  });
}

function differs(list: string, entry: ListedFile, file: ScannedFile): Problem {
  const difference =
    file.size !== entry.size
      ? `has ${file.size} bytes instead of ${entry.size}`
      : file.sha256 !== entry.sha256
        ? `has the SHA-256 ${file.sha256} instead of ${entry.sha256}`
        : `has the MD5 ${file.md5} instead of ${entry.md5}`;
  return new Problem({
    code: 'listed-file-differs',
    title: 'A listed file is not what the list says',
    what: `${list} lists ${entry.name}, and the file beside it ${difference}.`,
    advice: 'Build the source package or the .changes again, after the last change to its files.',
  });
}
