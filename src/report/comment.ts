import { analyse, type PhaseAnalysis } from '../timing/analysis.ts';
import type { IndexFile, RunRecord, SuiteOutcome } from '../timing/record.ts';
import { earlierRuns } from './earlier-runs.ts';
import {
  type Column,
  clip,
  code,
  type Inline,
  joined,
  type Markdown,
  md,
  prose,
  tableHead,
  tableRow,
} from './markdown.ts';
import { problemHeading, problemList } from './problem-list.ts';
import { bytes, count, difference, duration, enumeration, number, percent } from './units.ts';

/** GitHub refuses a comment of more than 65,536 characters; the rest is for the mark that its writer puts in front. */
const budget = 60_000;
const longestName = 100;
const longestText = 2000;
const shownSuites = 5;
const shownPackages = 100;
const shownWarnings = 20;
const shownProblems = { most: 15, longest: 300 };
const shownIndexes = 40;
const nothing = md``;

/** Which run a comment is about. */
export interface CommentSubject {
  /** 40 hex digits. */
  readonly commit: string;
  readonly run: { readonly id: number; readonly attempt: number };
}

/** A part of the comment that may be left out, with a name to say so. */
interface Section {
  readonly name: string;
  readonly text: Markdown;
}

/**
 * The comment on a pull request: what a run published (or would, or why not), which packages and indexes changed by how much, and
 * where the time went, beside that of an earlier publish. At most 60,000 characters: sections are left out from the bottom up, and named. Never throws.
 */
export function renderComment(record: RunRecord, { commit, run }: CommentSubject): string {
  const head = headOf(record);
  const sections = [
    warningsOf(record),
    packagesOf(record),
    indexesOf(record),
    phasesOf(record),
    earlierOf(record),
  ].filter(({ text }) => text !== '');
  const shownFor = md`Commit ${prose(commit)}, run ${prose(`${run.id}, attempt ${run.attempt}`)}.`;
  for (let kept = sections.length; ; kept -= 1) {
    const left = sections.slice(kept).map(({ name }) => prose(name));
    const note =
      left.length === 0
        ? nothing
        : md` Left out for the size of this comment: ${enumeration(left, left.length) as Inline}; the job summary has more.`;
    const page = joined([head, ...sections.slice(0, kept).map(({ text }) => text), shownFor, note]);
    if (page.length <= budget || kept === 0) return page;
  }
}

function headOf(record: RunRecord): Markdown {
  const changed = record.suites.filter((suite) => suite.changed);
  const all = record.suites.flatMap(({ packages }) => packages);
  const packages = prose(count(all.length, 'package'));
  const took = prose(duration(record.durationMs));
  switch (record.outcome) {
    case 'failed':
      return failureOf(record, took);
    case 'unchanged':
      return md`### apt-publish: nothing to publish\n\nEverything is already in ${suiteNames(record.suites)}.\n\n`;
    case 'dry-run':
      return dryRunOf(record, packages, changed);
    case 'published':
      return md`### apt-publish: published ${packages} into ${suiteNames(changed)} in ${took}\n\n`;
  }
}

function dryRunOf({ suites, problems = [] }: RunRecord, packages: Inline, changed: readonly SuiteOutcome[]): Markdown {
  const dry = md`Nothing was written: this was a dry run.`;
  if (problems.length > 0) {
    return md`### apt-publish: would fail: ${problemHeading(problems)}\n\n${problemList(problems, shownProblems)}\n${dry}\n\n`;
  }
  if (changed.length === 0) {
    return md`### apt-publish: would change nothing\n\nEverything is already in ${suiteNames(suites)}. ${dry}\n\n`;
  }
  return md`### apt-publish: would change ${packages} in ${suiteNames(changed)}\n\n${dry}\n\n`;
}

function failureOf({ problems = [] }: RunRecord, took: Inline): Markdown {
  if (problems.length === 0) return md`### apt-publish: failed after ${took}\n\nThe cause is in the log.\n\n`;
  return md`### apt-publish: ${problemHeading(problems)}\n\n${problemList(problems, shownProblems)}\nIt failed after ${took}.\n\n`;
}

function told(text: string): Inline {
  return prose(clip(text, longestText));
}

function suiteNames(suites: readonly SuiteOutcome[]): Inline {
  const names = suites.map(({ suite }) => code(clip(suite, longestName)));
  return (names.length === 0 ? prose('no suite') : enumeration(names, shownSuites)) as Inline;
}

function warningsOf({ warnings }: RunRecord): Section {
  const rows = warnings.slice(0, shownWarnings).map((warning) => md`- ${told(warning)}\n`);
  const left = warnings.length - rows.length;
  if (left > 0) rows.push(md`- … and ${prose(count(left, 'more warning'))}\n`);
  return section('warnings', rows, (list) => md`**Warnings**\n\n${list}\n`);
}

const packageColumns: readonly Column[] = [
  { title: prose('Change') },
  { title: prose('Package') },
  { title: prose('Version') },
  { title: prose('Architecture') },
  { title: prose('Suite and component') },
  { title: prose('Size'), align: 'right' },
];

function packagesOf({ suites }: RunRecord): Section {
  const changes = suites.flatMap(({ suite, packages }) => packages.map((change) => ({ suite, ...change })));
  const rows = changes.slice(0, shownPackages).map(({ change, suite, component, size, ...rest }) => {
    const named = [rest.package, rest.version, rest.architecture, `${suite} ${component}`];
    const cells = named.map((text) => code(clip(text, longestName)));
    return tableRow(packageColumns, [prose(change), ...cells, prose(bytes(size))]);
  });
  const counts = (['added', 'replaced', 'removed'] as const).flatMap((kind) => {
    const some = changes.filter(({ change }) => change === kind);
    const size = some.reduce((sum, change) => sum + change.size, 0);
    return some.length === 0 ? [] : [`${number(some.length)} ${kind} (${bytes(size)})`];
  });
  const title = prose(`Packages: ${enumeration(counts, counts.length)}`);
  return section('packages', rows, (table) => folded(title, packageColumns, table, changes.length - rows.length));
}

const indexColumns: readonly Column[] = [
  { title: prose('Index') },
  { title: prose('Suite') },
  ...['Size', 'Growth'].map((title) => ({ title: prose(title), align: 'right' as const })),
];

/** What every client downloads anew; the files that grew most come first. */
function indexesOf({ suites }: RunRecord): Section {
  const files = suites
    .flatMap(({ suite, indexes }) => indexes.map((index) => ({ suite, index, grown: growthOf(index) })))
    .sort((a, b) => b.grown - a.grown);
  const rows = files.slice(0, shownIndexes).map(({ suite, index, grown }) => {
    const growth = index.previousSize === undefined ? 'new' : difference(grown);
    const named = [index.path, suite].map((text) => code(clip(text, longestName)));
    return tableRow(indexColumns, [...named, prose(bytes(index.size)), prose(growth)]);
  });
  const size = bytes(files.reduce((sum, { index }) => sum + index.size, 0));
  const growth = difference(files.reduce((sum, { grown }) => sum + grown, 0));
  const title = prose(`Indexes: ${count(files.length, 'file')}, ${size}, ${growth}`);
  return section('indexes', rows, (table) => folded(title, indexColumns, table, files.length - rows.length));
}

function growthOf({ size, previousSize }: IndexFile): number {
  return size - (previousSize ?? 0);
}

const phaseColumns: readonly Column[] = [
  { title: prose('Phase') },
  ...['Time', 'Share', 'Requests', 'Sent', 'Received'].map((title) => ({
    title: prose(title),
    align: 'right' as const,
  })),
];

function phasesOf(record: RunRecord): Section {
  const { phases } = analyse(record);
  const rows = phases.map((phase) => tableRow(phaseColumns, phaseCells(phase)));
  const title = prose(`Time: ${duration(record.durationMs)}`);
  return section('phases', rows, (table) => folded(title, phaseColumns, table, 0));
}

function phaseCells({ name, wall, share, requests, bytesUp, bytesDown }: PhaseAnalysis): Inline[] {
  const sent = [...requests.values()].reduce((sum, times) => sum + times, 0);
  const some = (value: number, text: string) => (value > 0 ? text : '–');
  return [
    name,
    duration(wall),
    percent(share),
    some(sent, number(sent)),
    some(bytesUp, bytes(bytesUp)),
    some(bytesDown, bytes(bytesDown)),
  ].map(prose);
}

function earlierOf(record: RunRecord): Section {
  const runs = earlierRuns(record);
  const title = prose('Time beside the publish before');
  return section('earlier times', runs, (text) => md`<details><summary>${title}</summary>\n\n${text}</details>\n\n`);
}

/** A section that is empty when it has no rows. */
function section(name: string, rows: readonly Markdown[], frame: (rows: Markdown) => Markdown): Section {
  return { name, text: rows.length === 0 ? nothing : frame(joined(rows)) };
}

function folded(title: Inline, columns: readonly Column[], rows: Markdown, left: number): Markdown {
  const rest = left === 0 ? nothing : md`\n… and ${prose(number(left))} more, in the job summary.\n`;
  return md`<details><summary>${title}</summary>\n\n${tableHead(columns)}${rows}${rest}\n</details>\n\n`;
}
