/**
 * Writes the tables of inputs and outputs into README.md, between markers, from what action.yml says.
 *
 *     node scripts/docs.ts            writes
 *     node scripts/docs.ts --check    writes nothing, fails when something would change
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './build.ts';

/** What of action.yml the tables show. */
interface Action {
  readonly inputs: Readonly<Record<string, Described>>;
  readonly outputs: Readonly<Record<string, Described>>;
}

interface Described {
  readonly description: string;
  readonly required?: boolean;
  readonly default?: string;
}

/** The text of a README with both tables renewed. Throws when it lacks a pair of markers: a table that is nowhere is never checked. */
export function renewed(readme: string, action: Action): string {
  const inputs = Object.entries(action.inputs).map(([name, { description, required, default: preset }]) => {
    const value = required === true ? '**required**' : preset === undefined ? '' : `\`${preset}\``;
    return [`\`${name}\``, description, value];
  });
  const outputs = Object.entries(action.outputs).map(([name, { description }]) => [`\`${name}\``, description]);
  const withInputs = between(readme, 'inputs', table(['Input', 'What it says', 'Default'], inputs));
  return between(withInputs, 'outputs', table(['Output', 'What it says'], outputs));
}

function between(text: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`README.md has no place for the ${name}: ${begin.trim()} … ${end}`);
  return `${text.slice(0, from + begin.length)}${content}${text.slice(to)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |\n`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('');
}

function cell(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|');
}

async function main(): Promise<void> {
  const path = join(root, 'README.md');
  const readme = await readFile(path, 'utf8');
  const action: Action = parse(await readFile(join(root, 'action.yml'), 'utf8'));
  const wanted = renewed(readme, action);
  if (!process.argv.includes('--check')) {
    await writeFile(path, wanted);
  } else if (wanted !== readme) {
    console.error('The tables in README.md are not what action.yml says: run `npm run docs` and commit README.md.');
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
