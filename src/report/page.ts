import { joined, type Markdown, md } from './markdown.ts';

/** A part of a page whose rows may be left out, the last ones first. */
export interface Section {
  readonly before: Markdown;
  readonly rows: readonly Markdown[];
  /** Stands in place of the rows left out. */
  readonly instead: (left: number) => Markdown;
  readonly after: Markdown;
}

export const nothing = md``;

/** A part that is shown whole or, as one row, not at all. */
export function fixed(text: Markdown): Section {
  return { before: nothing, rows: text === '' ? [] : [text], instead: () => nothing, after: nothing };
}

/**
 * The page, at most `limit` bytes of UTF-8 long: rows are left out of the sections in `sacrifice`, one section after the other.
 * Larger than that only if what no section may lose is.
 */
export function fitted(page: readonly Section[], sacrifice: readonly Section[], limit: number): string {
  const kept = new Map(page.map((section) => [section, section.rows.length]));
  const render = (section: Section) => {
    const rows = kept.get(section) ?? 0;
    const left = section.rows.length - rows;
    const instead = left > 0 ? section.instead(left) : nothing;
    return joined([section.before, ...section.rows.slice(0, rows), instead, section.after]);
  };
  const size = () => page.reduce((sum, section) => sum + Buffer.byteLength(render(section)), 0);
  for (const section of sacrifice) {
    let excess = size() - limit;
    if (excess <= 0) break;
    excess += Buffer.byteLength(section.instead(section.rows.length));
    let rows = section.rows.length;
    while (rows > 0 && excess > 0) {
      rows -= 1;
      excess -= Buffer.byteLength(section.rows[rows] ?? '');
    }
    kept.set(section, rows);
  }
  return joined(page.map(render));
}
