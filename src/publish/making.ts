import type { Prepared } from './prepare.ts';
import type { RunContext } from './run-context.ts';
import type { Making } from './suite-record.ts';

/** Enough to recognize a publish by. */
const mostNames = 5;
/** What the record takes of words from outside. */
const longest = 300;

/** What the record says of how a generation came about. */
export function makingOf(
  { run, date, by }: Pick<RunContext, 'run' | 'date' | 'by'>,
  { command, plan }: Prepared,
): Making {
  const count = (change: string) => plan.packages.filter((each) => each.change === change).length;
  const names = new Set(plan.packages.map(({ package: name }) => name));
  return {
    command,
    run,
    at: new Date(date).toISOString(),
    ...(by === undefined ? {} : { by: by.slice(0, longest) }),
    added: count('added'),
    replaced: count('replaced'),
    removed: count('removed'),
    packages: [...names].slice(0, mostNames).map((name) => name.slice(0, longest)),
  };
}
