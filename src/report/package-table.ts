import type { RunRecord } from '../timing/record.ts';
import { type Column, clip, code, longestName, md, prose, tableHead, tableRow, unbroken } from './markdown.ts';
import { fixed, nothing, type Section } from './page.ts';
import { bytes, count } from './units.ts';

const foldedFrom = 25;

const columns: readonly Column[] = [
  { title: prose('Change') },
  { title: prose('Package') },
  { title: prose('Version') },
  { title: prose('Architecture') },
  { title: prose('Suite and component') },
  { title: prose('Size'), align: 'right' },
];

/** A row for every package added, replaced or removed; many of them folded. */
export function packagesOf(record: RunRecord): Section {
  const rows = record.suites.flatMap(({ suite, packages }) =>
    packages.map((change) => {
      const place = `${clip(suite, longestName)} ${clip(change.component, longestName)}`;
      const named = [change.package, change.version, change.architecture].map((text) => code(clip(text, longestName)));
      const what = change.reason === undefined ? change.change : `${change.change} by ${change.reason}`;
      return tableRow(columns, [prose(what), ...named, code(place), unbroken(bytes(change.size))]);
    }),
  );
  if (rows.length === 0) return fixed(nothing);
  const folded = rows.length >= foldedFrom;
  const title = prose(count(rows.length, 'package'));
  const open = folded ? md`### Packages\n\n<details><summary>${title}</summary>\n\n` : md`### Packages\n\n`;
  return {
    before: md`${open}${tableHead(columns)}`,
    rows,
    instead: (left) =>
      md`\n${prose(count(left, 'more package'))}, left out for the size of this page: the output \`timings\` names the file that lists all.\n`,
    after: folded ? md`\n</details>\n\n` : md`\n`,
  };
}
