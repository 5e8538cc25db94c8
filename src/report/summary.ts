import { analyse } from '../timing/analysis.ts';
import type { RunRecord, StoreFacts } from '../timing/record.ts';
import { diagramOf } from './diagram.ts';
import { earlierRuns } from './earlier-runs.ts';
import { headlineOf } from './headline.ts';
import { holdUpsOf } from './hold-ups.ts';
import { indexesOf } from './index-table.ts';
import { clip, fence, longestText, type Markdown, md, prose } from './markdown.ts';
import { packagesOf } from './package-table.ts';
import { fitted, fixed, nothing, type Section } from './page.ts';
import { phasesOf } from './phase-table.ts';
import { count } from './units.ts';

/** GitHub drops the summary of a step that is larger ("1 MiB per step"). */
const limit = 1024 * 1024;

/**
 * The job summary of a run: what was published, which packages and indexes changed, where the time went and what held it up, what the
 * store can do, warnings, and the entry that makes the repository known to apt. Never larger than 1 MiB: rows of packages go
 * first, then those of indexes, the diagram, earlier runs, warnings, phases, the entry. Never throws.
 */
export function renderSummary(record: RunRecord, extra: { readonly sourcesEntry?: string }): string {
  const analysis = analyse(record);
  const headline = fixed(headlineOf(record));
  const warnings = warningsOf(record);
  const packages = packagesOf(record);
  const indexes = indexesOf(record);
  const entry = entryOf(extra.sourcesEntry);
  const phases = phasesOf(record, analysis);
  const holdUps = fixed(holdUpsOf(record, analysis));
  const earlier = earlierOf(record);
  const diagram = fixed(diagramOf(record));
  const store = fixed(storeOf(record.store));
  return fitted(
    [headline, warnings, packages, indexes, entry, phases, earlier, diagram, holdUps, store],
    [packages, indexes, diagram, earlier, warnings, phases, entry],
    limit,
  );
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

function earlierOf(record: RunRecord): Section {
  const rows = earlierRuns(record);
  if (rows.length === 0) return fixed(nothing);
  return { before: md`### Beside the publish before\n\n`, rows, instead: () => nothing, after: nothing };
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
