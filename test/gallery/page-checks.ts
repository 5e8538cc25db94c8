import type { Seen } from './browser.ts';

/**
 * What is wrong with a page: a table that has lost rows or cells, a diagram that Mermaid refuses or a browser's complaint.
 * The Markdown says what there should be: its tables are runs of lines that begin with a pipe.
 */
export function pageFaults(markdown: string, { tables, diagrams, faults }: Seen): string[] {
  const written = tablesOf(markdown);
  const found = [...faults];
  if (tables.length !== written.length) found.push(`${written.length} tables are written and ${tables.length} shown`);
  for (const [index, { columns, rows }] of written.entries()) {
    const shown = tables[index] ?? [];
    if (shown.length !== rows) found.push(`table ${index + 1} has ${rows} rows, of which ${shown.length} are shown`);
    const wrong = shown.find((cells) => cells !== columns);
    if (wrong !== undefined) found.push(`table ${index + 1} has ${columns} columns and a row of ${wrong} cells`);
  }
  const blocks = markdown.match(/^```mermaid$/gm)?.length ?? 0;
  if (diagrams !== blocks) found.push(`${blocks} diagrams are written and ${diagrams} shown`);
  return found;
}

/** Columns by the rule below the head; rows with the head and without the rule. */
function tablesOf(markdown: string): { readonly columns: number; readonly rows: number }[] {
  const runs = markdown.match(/(?:^\|.*\n)+/gm) ?? [];
  return runs.map((run) => {
    const [, rule = '', ...rows] = run.trimEnd().split('\n');
    return { columns: rule.split('|').length - 2, rows: rows.length + 1 };
  });
}
