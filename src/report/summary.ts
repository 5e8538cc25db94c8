import { analyse, type PhaseAnalysis } from '../timing/analysis.ts';
import type { PackageChange, RunRecord, StoreFacts } from '../timing/record.ts';
import {
  type Column,
  clip,
  code,
  fence,
  type Inline,
  joined,
  type Markdown,
  md,
  prose,
  tableHead,
  tableRow,
} from './markdown.ts';
import { bytes, count, duration, enumeration, number, percent } from './units.ts';

/** GitHub drops the summary of a step that is larger ("1 MiB per step"). */
const limit = 1024 * 1024;
const longestName = 200;
const longestText = 2000;
const shownSuites = 5;
const foldedFrom = 25;
const nothing = md``;

/** A part of the page whose rows may be left out, the last ones first. */
interface Section {
  readonly before: Markdown;
  readonly rows: readonly Markdown[];
  /** Stands in place of the rows left out. */
  readonly instead: (left: number) => Markdown;
  readonly after: Markdown;
}

/**
 * The job summary of a run: what was published, what it cost, what the store can do, warnings, and the entry that makes the
 * repository known to apt. Never larger than 1 MiB: rows of packages go first, then warnings, phases, the entry. Never throws.
 */
export function renderSummary(record: RunRecord, extra: { readonly sourcesEntry?: string }): string {
  const headline = fixed(headlineOf(record));
  const packages = packagesOf(record);
  const phases = phasesOf(record);
  const warnings = warningsOf(record);
  const entry = entryOf(extra.sourcesEntry);
  return fitted(
    [headline, warnings, packages, entry, phases, fixed(storeOf(record.store))],
    [packages, warnings, phases, entry],
  );
}

function fixed(text: Markdown): Section {
  return { before: text, rows: [], instead: () => nothing, after: nothing };
}

/** Leaves out rows of the sections in `sacrifice`, one section after the other, until the page fits. */
function fitted(page: readonly Section[], sacrifice: readonly Section[]): string {
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

function headlineOf(record: RunRecord): Markdown {
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
      ? md`## Dry run: ${packages} would change in ${suiteNames(changed)}`
      : md`## Published ${packages} into ${suiteNames(changed)} in ${took}`;
  return md`${heading}\n\n${changesOf(all)}. ${indexesOf(record)}\n\n`;
}

function failureOf(record: RunRecord, took: Inline): Markdown {
  const { problem } = record;
  if (problem === undefined) return md`## Publishing failed after ${took}\n\nThe cause is in the log of this step.\n\n`;
  const told = (text: string) => prose(clip(text, longestText));
  const heading = md`## Publishing failed: ${told(problem.title)}\n\n${told(problem.what)} ${told(problem.advice)}`;
  return md`${heading}\n\nAfter ${took}; the code of this problem is ${code(clip(problem.code, longestName))}.\n\n`;
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
    .map(([kind, some]) => `${number(some.length)} ${kind} (${sizeOf(some)})`);
  return prose(parts.length === 0 ? 'No package added, replaced or removed' : enumeration(parts, parts.length));
}

function sizeOf(files: readonly { readonly size: number }[]): string {
  return bytes(files.reduce((sum, { size }) => sum + size, 0));
}

function indexesOf(record: RunRecord): Inline {
  const indexes = record.suites.flatMap((suite) => suite.indexes);
  const verb = record.outcome === 'dry-run' ? 'would be written' : 'written';
  return prose(`${count(indexes.length, 'index file')} (${sizeOf(indexes)}) ${verb}.`);
}

const packageColumns: readonly Column[] = [
  { title: prose('Change') },
  { title: prose('Package') },
  { title: prose('Version') },
  { title: prose('Architecture') },
  { title: prose('Suite and component') },
  { title: prose('Size'), align: 'right' },
];

function packagesOf(record: RunRecord): Section {
  const rows = record.suites.flatMap(({ suite, packages }) =>
    packages.map((change) => {
      const place = `${clip(suite, longestName)} ${clip(change.component, longestName)}`;
      const named = [change.package, change.version, change.architecture].map((text) => code(clip(text, longestName)));
      return tableRow(packageColumns, [prose(change.change), ...named, code(place), prose(bytes(change.size))]);
    }),
  );
  if (rows.length === 0) return fixed(nothing);
  const open = rows.length >= foldedFrom ? md`<details><summary>Packages</summary>\n\n` : md`### Packages\n\n`;
  return {
    before: md`${open}${tableHead(packageColumns)}`,
    rows,
    instead: (left) =>
      md`\n${prose(count(left, 'more package'))}, left out for the size of this page: the output \`timings\` names the file that lists all.\n`,
    after: rows.length >= foldedFrom ? md`\n</details>\n\n` : md`\n`,
  };
}

const phaseColumns: readonly Column[] = [
  { title: prose('Phase') },
  ...['Time', 'Share'].map((title) => ({ title: prose(title), align: 'right' as const })),
  { title: prose('Requests') },
  ...['Sent', 'Received', 'Median, 95 %, longest', 'In flight', 'Depth', 'Least', 'Stragglers', 'Idle', 'Retries'].map(
    (title) => ({ title: prose(title), align: 'right' as const }),
  ),
];

function phasesOf(record: RunRecord): Section {
  const { phases, roundTrip, outside } = analyse(record);
  if (phases.length === 0) return fixed(nothing);
  const trip =
    roundTrip === undefined
      ? nothing
      : md` One round trip to the store takes ${prose(duration(roundTrip))}; *least* is depth × round trip.`;
  return {
    before: md`### Where the time went\n\n${tableHead(phaseColumns)}`,
    rows: phases.map((phase) => tableRow(phaseColumns, phaseCells(phase))),
    instead: (left) => md`\n${prose(count(left, 'phase'))} left out.\n`,
    after: md`\nPhases overlap, so shares may add up to more than 100 %; ${prose(duration(outside))} of ${prose(duration(record.durationMs))} lay outside of them.${trip}\n\n`,
  };
}

function phaseCells(phase: PhaseAnalysis): Inline[] {
  const { time, idle } = phase;
  const some = (value: number, text: string) => (value > 0 ? text : '–');
  return [
    phase.name,
    duration(phase.wall),
    percent(phase.share),
    [...phase.requests].map(([verb, times]) => `${number(times)} ${verb}`).join(', ') || '–',
    some(phase.bytesUp, bytes(phase.bytesUp)),
    some(phase.bytesDown, bytes(phase.bytesDown)),
    time === undefined ? '–' : `${duration(time.p50)}, ${duration(time.p95)}, ${duration(time.max)}`,
    some(phase.highestInFlight, number(phase.highestInFlight)),
    some(phase.waves, number(phase.waves)),
    phase.least === undefined ? '–' : some(phase.least, duration(phase.least)),
    some(phase.stragglers, duration(phase.stragglers)),
    some(idle.gaps, `${duration(idle.total)} in ${count(idle.gaps, 'gap')}`),
    some(
      phase.retries + phase.errors,
      `${number(phase.retries)}${phase.errors > 0 ? `, ${count(phase.errors, 'error')}` : ''}`,
    ),
  ].map(prose);
}

const kinds: Record<StoreFacts['kind'], string> = { s3: 'S3', directory: 'a directory', memory: 'memory' };
const abilities: Record<StoreFacts['conditions'], string> = {
  enforced:
    'It holds conditional writes, so of two publishers at the same moment neither can lose the packages of the other.',
  'create-only':
    'It holds conditions on new objects only: two publishers at the same moment are told apart by reading back, which leaves a small gap. Do not let them run side by side.',
  none: 'It holds no conditional writes: two publishers at the same moment are told apart by reading back, which leaves a small gap. Do not let them run side by side.',
  unknown: 'Whether it holds conditional writes did not have to be asked.',
};

function storeOf({ kind, conditions }: StoreFacts): Markdown {
  return md`### The store\n\nThe repository lies in ${prose(kinds[kind])}. ${prose(abilities[conditions])}\n`;
}

function warningsOf(record: RunRecord): Section {
  if (record.warnings.length === 0) return fixed(nothing);
  return {
    before: md`### Warnings\n\n`,
    rows: record.warnings.map((warning) => md`- ${prose(clip(warning, longestText))}\n`),
    instead: (left) => md`- … and ${prose(count(left, 'more warning'))}\n`,
    after: md`\n`,
  };
}

function entryOf(sourcesEntry: string | undefined): Section {
  if (sourcesEntry === undefined || sourcesEntry.trim() === '') return fixed(nothing);
  return {
    before: md`### Use this repository\n\n`,
    rows: [
      md`Put this into a file in \`/etc/apt/sources.list.d/\` whose name ends in \`.sources\`:\n\n${fence(sourcesEntry)}`,
    ],
    instead: () => md`The entry for apt is too large for this page: see the output \`sources-entry\`.\n`,
    after: md`\n`,
  };
}
