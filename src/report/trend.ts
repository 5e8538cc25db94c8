import type { TimedRun } from '../timing/record.ts';
import { phaseNames } from '../timing/span.ts';
import { duration } from './units.ts';

/** A run whose times were kept. */
interface TimedGeneration extends TimedRun {
  readonly command: string;
  readonly generation: number;
}

/**
 * The last runs on a suite as plain text, a table for each command: a line a run, a column for each phase that any of them had. For people to see which
 * way times go; no difference and no verdict, since every run had a machine and packages of its own.
 */
export function renderTrend(suite: string, runs: readonly TimedGeneration[]): string {
  if (runs.length === 0) return `No times of suite ${suite} are kept.\n`;
  const tables = [...Map.groupBy(runs, ({ command }) => command)].map(([command, own]) => tableOf(command, own));
  return `Suite ${suite}, newest first. Every run had a machine and packages of its own: times to look at, not to judge by.\n\n${tables.join('\n')}`;
}

function tableOf(command: string, runs: readonly TimedGeneration[]): string {
  const phases = phaseNames.filter((name) => runs.some((run) => run.phases.some(({ phase }) => phase === name)));
  const head = ['generation', 'at', 'to commit', ...phases];
  const rows = runs.map((run) => [
    String(run.generation),
    run.at,
    duration(run.durationMs),
    ...phases.map((name) => {
      const ms = run.phases.find(({ phase }) => phase === name)?.ms;
      return ms === undefined ? '–' : duration(ms);
    }),
  ]);
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), title.length),
  );
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ');
  return `${command}\n${[head, ...rows].map((row) => `  ${line(row)}\n`).join('')}`;
}
