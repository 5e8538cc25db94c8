import { analyse, type PhaseAnalysis } from '../timing/analysis.ts';
import type { IndexFile, RunRecord, SuiteOutcome } from '../timing/record.ts';
import { type Column, clip, code, type Inline, joined, type Markdown, md, prose, tableHead, tableRow } from './markdown.ts';
import { bytes, count, duration, enumeration, number, percent } from './units.ts';

/** GitHub refuses a comment of more than 65,536 characters; the rest is for the mark that its writer puts in front. */
const budget = 60_000;
const longestName = 200;
const longestText = 2000;
const shownSuites = 5;
const shownPackages = 100;
const shownWarnings = 20;
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
 * where the time went. At most 60,000 characters: sections are left out from the bottom up, and named. Never throws.
 */
export function renderComment(record: RunRecord, { commit, run }: CommentSubject): string {
  const head = headOf(record);
  const sections = [warningsOf(record), packagesOf(record), indexesOf(record), phasesOf(record)].filter(
    ({ text }) => text !== '',
  );
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
      return md`### apt-publish: would change ${packages} in ${suiteNames(changed)}\n\nNothing was written: this was a dry run.\n\n`;
    case 'published':
      return md`### apt-publish: published ${packages} into ${suiteNames(changed)} in ${took}\n\n`;
  }
}
