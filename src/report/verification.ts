import {
  type Column,
  clip,
  code,
  type Inline,
  joined,
  longestName,
  longestText,
  type Markdown,
  md,
  prose,
  tableHead,
  tableRow,
} from './markdown.ts';
import { fitted, fixed, nothing, type Section } from './page.ts';
import { count, enumeration } from './units.ts';

/** Something that verifying has found, as far as a page shows it. */
interface ShownFinding {
  readonly kind: string;
  readonly suite?: string;
  /** Relative to the repository. */
  readonly key: string;
  readonly what: string;
  readonly repaired?: true;
}

/** What verifying a repository came to. */
interface ShownVerification {
  readonly suites: readonly string[];
  /** Those that are somebody's trouble first. */
  readonly findings: readonly ShownFinding[];
  readonly broken: number;
  readonly checked: { readonly indexes: number; readonly poolFiles: number };
}

/** GitHub drops the summary of a step that is larger. */
const limit = 1024 * 1024;
/** Rows that a page shows, and lines that the log has. */
const mostRows = 500;
const mostLines = 100;
const shownSuites = 5;

const columns: readonly Column[] = [
  { title: prose('Kind') },
  { title: prose('Object') },
  { title: prose('What is wrong') },
];

/** The page of the command verify: what was looked at, and a row for each finding. Never larger than 1 MiB. */
export function renderVerification(verification: ShownVerification): string {
  const { findings } = verification;
  const shown = findings.slice(0, mostRows);
  const rows: Section = {
    before: findings.length === 0 ? nothing : md`${tableHead(columns)}`,
    rows: shown.map((finding) => tableRow(columns, cells(finding))),
    instead: () => nothing,
    after: nothing,
  };
  const left = findings.length - shown.length;
  const rest = left > 0 ? md`\n${prose(count(left, 'more finding'))}: see the output \`findings\`.\n` : nothing;
  return fitted([fixed(headingOf(verification)), rows, fixed(rest)], [rows], limit);
}

/** The same for the log, a line for each finding. */
export function verificationLines(verification: ShownVerification): string[] {
  const { findings, checked, suites } = verification;
  const lines = findings
    .slice(0, mostLines)
    .map(({ kind, key, what, repaired }) => `${kind}${repaired === true ? ' (repaired)' : ''} · ${key} · ${what}`);
  const left = findings.length - lines.length;
  return [
    `Verified ${suites.join(', ')}: ${told(checked)}; ${count(findings.length, 'finding')}.`,
    ...lines,
    ...(left > 0 ? [`… and ${count(left, 'more finding')}`] : []),
  ];
}

function headingOf({ suites, findings, broken, checked }: ShownVerification): Markdown {
  const names = enumeration(
    suites.map((suite) => code(clip(suite, longestName))),
    shownSuites,
  ) as Inline;
  const repaired = findings.filter((finding) => finding.repaired === true).length;
  const state =
    broken > 0
      ? prose(`${count(broken, 'thing')} wrong`)
      : prose(repaired > 0 ? 'everything is in place again' : 'everything is in place');
  const mended = repaired > 0 ? md` ${prose(`${count(repaired, 'thing')} put right.`)}` : nothing;
  const notices = findings.length - broken - repaired;
  const noticed = notices > 0 ? md` ${prose(`${count(notices, 'notice')} that no reader meets.`)}` : nothing;
  return joined([
    md`## Verified ${names}: ${state}\n\n`,
    md`${prose(told(checked))} looked at.${mended}${noticed}\n\n`,
  ]);
}

function told({ indexes, poolFiles }: ShownVerification['checked']): string {
  return `${count(indexes, 'index object')} and ${count(poolFiles, 'listed pool file')}`;
}

function cells({ kind, key, what, repaired }: ShownFinding): Inline[] {
  const about = repaired === true ? `Repaired: ${what}` : what;
  return [prose(kind), code(clip(key, longestName)), prose(clip(about, longestText))];
}
