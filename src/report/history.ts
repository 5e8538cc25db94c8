import {
  type Column,
  clip,
  code,
  type Inline,
  joined,
  longestName,
  md,
  prose,
  tableHead,
  tableRow,
} from './markdown.ts';
import { nothing } from './page.ts';
import { duration, number } from './units.ts';

/** A generation of a suite, as far as a page shows it. */
interface ShownGeneration {
  readonly number: number;
  readonly state: 'claimed' | 'live' | 'kept';
  /** Lower-case hex. */
  readonly headSha256: string;
  readonly made?: {
    readonly command: string;
    /** ISO 8601. */
    readonly at: string;
    readonly by?: string | undefined;
    readonly added: number;
    readonly replaced: number;
    readonly removed: number;
    readonly packages: readonly string[];
  };
  /** How long the run took that made it. */
  readonly durationMs?: number;
}

/** By suite, newest first. */
type Histories = readonly (readonly [suite: string, generations: readonly ShownGeneration[]])[];

const columns: readonly Column[] = [
  { title: prose('Generation'), align: 'right' },
  { title: prose('Made') },
  { title: prose('What changed') },
  { title: prose('By') },
  { title: prose('Took'), align: 'right' },
  { title: prose('InRelease') },
];

/** What a history takes of a hash: enough for `to`, which wants eight digits. */
const hashDigits = 12;
/** A generation tells the first names of what it changed; when they are as many as this, there may be others. */
const fullList = 5;
/** Rows that a page shows of one suite; a suite with more is published every few minutes. */
const mostRows = 200;

/** The page of the command history: a table for each suite, of the generations that it can go back to. */
export function renderHistory(histories: Histories): string {
  return joined(
    histories.map(([suite, generations]) => {
      const rows = generations.slice(0, mostRows).map((generation) => tableRow(columns, cells(generation)));
      const left = generations.length - rows.length;
      const rest = left > 0 ? md`\n${prose(`${number(left)} older ones are in the output \`history\`.`)}\n` : nothing;
      return md`## Generations of ${code(clip(suite, longestName))}\n\n${tableHead(columns)}${joined(rows)}${rest}\n`;
    }),
  );
}

/** The same for the log, a line for each generation. */
export function historyLines(histories: Histories): string[] {
  return histories.flatMap(([suite, generations]) =>
    generations.map((generation) => {
      const { made, headSha256 } = generation;
      const by = made?.by === undefined ? [] : [made.by];
      const parts = [numberOf(generation), made?.at ?? 'made by another tool', ...changeOf(generation), ...by];
      return `${suite} ${[...parts, headSha256.slice(0, hashDigits)].join(' · ')}`;
    }),
  );
}

function cells(generation: ShownGeneration): Inline[] {
  const { made, headSha256, durationMs } = generation;
  return [
    prose(numberOf(generation)),
    // A moment is there to be copied into `to`, which what `prose` puts into it would spoil.
    made === undefined ? prose('by another tool') : code(made.at),
    prose(clip(changeOf(generation).join(': '), longestName)),
    prose(clip(made?.by ?? '–', longestName)),
    prose(durationMs === undefined ? '–' : duration(durationMs)),
    code(headSha256.slice(0, hashDigits)),
  ];
}

function numberOf({ number: value, state }: ShownGeneration): string {
  return state === 'kept' ? String(value) : `${value} (${state})`;
}

/** `publish`, `2 added, 1 removed (hello, world, …)`. */
function changeOf({ made }: ShownGeneration): string[] {
  if (made === undefined) return [];
  const counts = (['added', 'replaced', 'removed'] as const).filter((kind) => made[kind] > 0);
  if (counts.length === 0) return [made.command];
  const total = counts.reduce((sum, kind) => sum + made[kind], 0);
  const names = made.packages.join(', ');
  const more = made.packages.length >= fullList && total > made.packages.length ? ', …' : '';
  return [made.command, `${counts.map((kind) => `${number(made[kind])} ${kind}`).join(', ')} (${names}${more})`];
}
