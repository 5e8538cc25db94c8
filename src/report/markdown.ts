/**
 * GitHub Markdown that is safe to show. Package names, versions and error texts come from files and servers that anybody may have
 * made, and a pull request comment written by a bot is a tempting place for a mention, a link or a table that lies.
 *
 * Text becomes `Markdown` only through this file, so whatever has that type is escaped, and fits into a table cell when it is
 * `Inline`. Escaping is by character references where it can be: CommonMark §2.5 rules out that one takes part in structure.
 */
declare const kind: unique symbol;
export type Markdown = string & { readonly [kind]: 'block' | 'inline' };
/** Markdown of one line without a raw pipe. */
export type Inline = Markdown & { readonly [kind]: 'inline' };

/** Text as text, on one line: no markup, mention, issue reference, link, emoji, formula or workflow command is left in it. */
export function prose(text: string): Inline {
  return oneLine(text)
    .replace(/^ ?(?=([-+=]+|\d+[.)])( |$))/, zeroWidthSpace)
    .replace(/(?<=[@#])(?=\S)|(?<=:)(?=[/:\w])|(?<=\bGH-)(?=\d)|(?<=\bwww)(?=\.)/gi, zeroWidthSpace)
    .replace(/[&<>|`*_~[\]\\$^{}!#]/g, reference) as Inline;
}

/** Text as text that a narrow table cell does not break between a number and its unit. */
export function unbroken(text: string): Inline {
  return prose(text).replaceAll(' ', '&nbsp;') as Inline;
}

/**
 * Text in the typeface of code, on one line. An HTML element rather than backticks: its text can be escaped, and the
 * same form is right inside and outside of a table, where GitHub treats a pipe between backticks differently.
 */
export function code(text: string): Inline {
  const inside = oneLine(text)
    .replace(/[^\p{L}\p{N} ,./+-]/gu, reference)
    .replace(/(?<=www)\./gi, reference)
    .replaceAll(reference('@'), `$&${emptyComment}`);
  return `<code>${inside === '' ? ' ' : inside}</code>` as Inline;
}

/** A block shown as it is, for copying. A line that the log's reader could take for a command to the runner is broken. */
export function fence(text: string): Markdown {
  const body = visible(text.replace(/\r\n?/g, '\n'))
    .replace(/^([ \t]*:)(?=:)|(##)(?=\[)/gm, `$&${zeroWidthSpace}`)
    .replace(/\n+$/, '');
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}text\n${body}\n${ticks}\n` as Markdown;
}

/** Joins what is already escaped: the literal parts are ours, and only `Markdown` may be put between them. */
export function md(literal: TemplateStringsArray, ...values: readonly Markdown[]): Markdown {
  return literal.map((part, index) => `${part}${values[index] ?? ''}`).join('') as Markdown;
}

/** Rows and paragraphs one after another. */
export function joined(parts: readonly Markdown[]): Markdown {
  return parts.join('') as Markdown;
}

export interface Column {
  readonly title: Inline;
  /** Numbers stand to the right. */
  readonly align?: 'right';
}

/** The two lines above the rows of a table. */
export function tableHead(columns: readonly Column[]): Markdown {
  const rule = columns.map(({ align }) => (align === 'right' ? '--:' : ':--'));
  return `${line(columns.map(({ title }) => title))}${line(rule)}` as Markdown;
}

/**
 * One row of a table with these columns. Throws, as it is a defect, when the number of cells is another, or when a cell would
 * begin another cell or row: GitHub drops cells too many and shows a broken row as text.
 */
export function tableRow(columns: readonly Column[], cells: readonly Inline[]): Markdown {
  if (cells.length !== columns.length)
    throw new Error(`A row of ${cells.length} cells in a table of ${columns.length}.`);
  const broken = cells.findIndex((cell) => /[|\r\n]/.test(cell));
  if (broken !== -1) throw new Error(`Cell ${broken + 1} of a table row holds a pipe or a line end.`);
  return line(cells) as Markdown;
}

/** What a name or version may come to on a page: longer ones are not read. */
export const longestName = 200;
/** What a sentence of a problem or warning may come to. */
export const longestText = 2000;

/** Shortens a text, before it is escaped, to at most `most` characters, without cutting one in two. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** Keeps a mail address from becoming a link, and unlike the zero-width space out of what is copied. */
const emptyComment = '<!-- -->';

/** Breaks mentions and references, which GitHub seeks in the finished page, where an escaped character is a plain one again. */
const zeroWidthSpace = '\u200B';

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function reference(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '));
}

/** Without control characters, and without those that turn the direction of what follows them or are not seen at all. */
function visible(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\uFFFD');
}
