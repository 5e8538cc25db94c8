import type { ToldProblem } from '../timing/record.ts';
import { clip, type Inline, joined, longestName, longestText, type Markdown, md, prose } from './markdown.ts';
import { count } from './units.ts';

/** What goes behind a heading's colon: the title of the problem, or of the first with how many there are. */
export function problemHeading(problems: readonly ToldProblem[]): Inline {
  const [first] = problems;
  const title = prose(clip(first?.title ?? '', longestName));
  return problems.length < 2
    ? title
    : (md`${title} and ${prose(count(problems.length - 1, 'more problem'))}` as Inline);
}

/** How much of several problems a page has room for: entries in all, characters of each text. */
interface Room {
  readonly most: number;
  readonly longest: number;
}

/** One problem as a paragraph; several as lists, each followed by the advice that its entries share. */
export function problemList(problems: readonly ToldProblem[], { most, longest }: Room): Markdown {
  const told = (text: string, length = longest): Inline => prose(clip(text, length));
  const shown = problems.slice(0, most);
  const left = problems.length - shown.length;
  const [only, ...others] = shown;
  if (only !== undefined && others.length === 0 && left === 0) {
    return md`${told(only.what, longestText)} ${told(only.advice, longestText)}\n`;
  }
  const groups = Map.groupBy(shown, ({ advice }) => advice);
  const lists = [...groups].map(([advice, alike], index) => {
    const entries = joined(alike.map(({ what }) => md`- ${told(what)}\n`));
    return md`${index === 0 ? md`` : md`\n`}${entries}\n${told(advice)}\n`;
  });
  const rest = left === 0 ? md`` : md`\n… and ${prose(count(left, 'more problem'))}, in the log.\n`;
  return md`${joined(lists)}${rest}`;
}
