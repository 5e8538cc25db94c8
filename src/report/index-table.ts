import type { IndexContributor, IndexFile, RunRecord } from '../timing/record.ts';
import {
  type Column,
  clip,
  code,
  type Inline,
  longestName,
  md,
  prose,
  tableHead,
  tableRow,
  unbroken,
} from './markdown.ts';
import { fixed, nothing, type Section } from './page.ts';
import { bytes, count, difference, enumeration } from './units.ts';

const foldedFrom = 25;

const columns: readonly Column[] = [
  { title: prose('Index file') },
  { title: prose('Size'), align: 'right' },
  { title: prose('Growth'), align: 'right' },
  { title: prose('Most of what came in') },
];

/**
 * A row for every index file that was written: its size, what it has grown by since the generation before, and the packages that
 * brought most into it. What has grown most comes first: every client downloads that.
 */
export function indexesOf(record: RunRecord): Section {
  const several = record.suites.filter(({ indexes }) => indexes.length > 0).length > 1;
  const files = record.suites.flatMap(({ suite, indexes }) => indexes.map((index) => ({ suite, index })));
  if (files.length === 0) return fixed(nothing);
  const rows = files
    .toSorted((a, b) => growth(b.index) - growth(a.index))
    .map(({ suite, index }) => tableRow(columns, cells(several ? `${clip(suite, longestName)} ` : '', index)));
  const folded = rows.length >= foldedFrom;
  const open = folded ? md`<details><summary>${prose(count(rows.length, 'index file'))}</summary>\n\n` : nothing;
  return {
    before: md`### What readers download\n\n${open}${tableHead(columns)}`,
    rows,
    instead: (left) => md`\n${prose(count(left, 'more index file'))}, left out for the size of this page.\n`,
    after: md`${folded ? md`\n</details>\n` : nothing}\nSizes of stanzas are before compression.\n\n`,
  };
}

function cells(place: string, index: IndexFile): Inline[] {
  return [
    code(`${place}${clip(index.path, longestName)}`),
    unbroken(bytes(index.size)),
    unbroken(index.previousSize === undefined ? 'new' : difference(growth(index))),
    contributorsOf(index.contributors ?? []),
  ];
}

function growth({ size, previousSize = 0 }: IndexFile): number {
  return size - previousSize;
}

function contributorsOf(contributors: readonly IndexContributor[]): Inline {
  if (contributors.length === 0) return prose('–');
  const told = contributors.map(({ package: name, amount, unit }) => {
    const much = unit === 'paths' ? count(amount, 'path') : bytes(amount);
    return md`${code(clip(name, longestName))} ${prose(much)}`;
  });
  return enumeration(told, told.length) as Inline;
}
