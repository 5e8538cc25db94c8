import type { IndexFile, PackageChange, RunRecord } from '../timing/record.ts';
import type { PhaseName, PhaseSpan } from '../timing/span.ts';
import { clip, code, type Inline, longestName, type Markdown, md, prose } from './markdown.ts';
import { nothing } from './page.ts';
import { problemHeading, problemList } from './problem-list.ts';
import { bytes, count, difference, duration, enumeration, number } from './units.ts';

const shownSuites = 5;
const shownProblems = { most: 100, longest: 500 };

/** What was published where, what it changed, and how long it took; of a failure, what happened and what it left. */
export function headlineOf(record: RunRecord): Markdown {
  const all = record.suites.flatMap(({ packages }) => packages);
  const changed = record.suites.filter((suite) => suite.changed);
  const took = prose(duration(record.durationMs));
  const packages = prose(count(all.length, 'package'));
  if (record.outcome === 'failed') return failureOf(record, took);
  if (record.outcome === 'unchanged') {
    return md`## Nothing to publish\n\nEverything asked for is already in ${suiteNames(record.suites)}, as was found in ${took}.\n\n`;
  }
  const heading =
    record.outcome === 'dry-run'
      ? dryRunOf(record, packages, changed)
      : md`## Published ${packages} into ${suiteNames(changed)} in ${took}`;
  return md`${heading}\n\n${changesOf(all)}. ${indexesOf(record)}\n\n`;
}

function dryRunOf({ problems = [], suites }: RunRecord, packages: Inline, changed: RunRecord['suites']): Markdown {
  if (problems.length > 0) {
    return md`## Dry run: publishing would fail: ${problemHeading(problems)}\n\n${problemList(problems, shownProblems)}\nWithout that:`;
  }
  if (changed.length === 0) return md`## Dry run: nothing would change in ${suiteNames(suites)}`;
  return md`## Dry run: ${packages} would change in ${suiteNames(changed)}`;
}

function failureOf(record: RunRecord, took: Inline): Markdown {
  const { problems = [] } = record;
  const left = leftBehind(record);
  if (problems.length === 0) {
    return md`## Publishing failed after ${took}\n\nThe cause is in the log of this step. ${left}\n\n`;
  }
  const heading = md`## Publishing failed: ${problemHeading(problems)}\n\n${problemList(problems, shownProblems)}`;
  const [failed] = failedPhases(record);
  const where = failed === undefined ? nothing : md` in the phase *${prose(failed)}*`;
  const codes = [...new Set(problems.map((problem) => problem.code))].map((each) => code(clip(each, longestName)));
  const named = enumeration(codes, shownSuites) as Inline;
  const told =
    codes.length === 1 ? md`The code of this problem is ${named}.` : md`The codes of these problems are ${named}.`;
  return md`${heading}\nIt ended after ${took}${where}. ${left} ${told}\n\n`;
}

/** In the order in which they ended: the first one is the cause, the others stopped because of it. */
function failedPhases({ phases }: RunRecord): PhaseName[] {
  const failed = phases.filter(({ outcome }) => outcome === 'failed');
  return failed.toSorted((a, b) => a.end - b.end).map(({ name }) => name);
}

/** What a failure leaves, suite by suite, as the transaction promises it for each phase. */
function leftBehind(record: RunRecord): Markdown {
  const last = [...lastPhases(record)];
  const committed = last.filter(([, { name, outcome }]) => name === 'clean' || (name === 'commit' && outcome === 'ok'));
  const begun = last.filter(
    ([, { name, outcome }]) => name === 'rename' || (name === 'commit' && outcome === 'failed'),
  );
  const names = (some: typeof last) => suiteNames(some.map(([suite]) => ({ suite })));
  const done = committed.length === 0 ? nothing : md`Published all the same: ${names(committed)}. `;
  if (begun.length > 0) {
    return md`${done}Begun in ${names(begun)}: the next run that publishes there finishes it; until then clients read what was published before.`;
  }
  return committed.length === 0
    ? md`Clients see nothing of this run.`
    : md`${done}Clients see nothing else of this run.`;
}

/** Of each suite, the phase that it came to. */
function lastPhases({ phases }: RunRecord): Map<string, PhaseSpan> {
  const inOrder = phases.toSorted((a, b) => a.start - b.start || a.id - b.id);
  return new Map(inOrder.flatMap((phase) => (phase.suite === undefined ? [] : [[phase.suite, phase] as const])));
}

function suiteNames(suites: readonly { readonly suite: string }[]): Inline {
  const names = suites.map(({ suite }) => code(clip(suite, longestName)));
  return (names.length === 0 ? prose('no suite') : enumeration(names, shownSuites)) as Inline;
}

function changesOf(packages: readonly PackageChange[]): Inline {
  const kinds = ['added', 'replaced', 'removed'] as const;
  const told = kinds.map((kind) => [kind, packages.filter(({ change }) => change === kind)] as const);
  const parts = told
    .filter(([, some]) => some.length > 0)
    .map(([kind, some]) => `${number(some.length)} ${kind} (${bytes(sizeOf(some))})`);
  return prose(parts.length === 0 ? 'No package added, replaced or removed' : enumeration(parts, parts.length));
}

function indexesOf(record: RunRecord): Inline {
  const indexes: readonly IndexFile[] = record.suites.flatMap((suite) => suite.indexes);
  const verb = record.outcome === 'dry-run' ? 'would be written' : 'written';
  const grown = sizeOf(indexes) - indexes.reduce((sum, { previousSize }) => sum + (previousSize ?? 0), 0);
  return prose(
    `${count(indexes.length, 'index file')} ${verb}: ${bytes(sizeOf(indexes))}, ${difference(grown)} from before.`,
  );
}

function sizeOf(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
