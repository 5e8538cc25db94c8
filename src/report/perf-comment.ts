import { type Column, fence, type Inline, joined, type Markdown, md, prose, tableHead, tableRow } from './markdown.ts';
import { type CeilingResult, ceilingLine } from './perf-ceiling.ts';
import { bytes, count, duration, number } from './units.ts';

/** Where a comparison stands, from the command to the verdict. */
export type PerfState =
  | { readonly state: 'queued' }
  | { readonly state: 'building' }
  | { readonly state: 'running'; readonly runs: number; readonly of: number }
  | {
      readonly state: 'failed';
      readonly stage: 'build' | 'measure' | 'report';
      readonly what: string;
      readonly advice: string;
    }
  | { readonly state: 'refused'; readonly what: string; readonly advice: string }
  | { readonly state: 'superseded' }
  | ({ readonly state: 'done' } & PerfResult);

/** What is compared: two commits (40 hex digits each), or two settings of one build. */
export interface PerfSubject {
  readonly base: string;
  readonly head: string;
  readonly pairing: string;
}

/** Changes are differences of logarithms, positive where the head takes more; times milliseconds, sizes bytes. */
export interface PerfResult {
  readonly verdict: 'slower' | 'faster' | 'within noise' | 'inconclusive' | 'not comparable';
  /** Sentences for the reader: why nothing is compared, and what to know about what is. */
  readonly remarks: readonly string[];
  /** The first is what the verdict is about. */
  readonly walls: readonly WallRow[];
  readonly counts: readonly CountRow[];
  readonly phases: readonly PhaseRow[];
  readonly runs: readonly RunRow[];
  readonly pairs: number;
  /** `ABBA BAAB ABBA`; A is the base. */
  readonly order: string;
  readonly machine: string;
  readonly endpoint: string;
  readonly durationMs: number;
  /** The smallest slowdown that four of five such comparisons find; absent where no verdict is possible. */
  readonly detectable?: number;
  /** The largest change that is not ruled out; absent where none is. */
  readonly couldHide?: number;
  /** Where the noise band comes from. */
  readonly noise: string;
  /** Of the workload that is judged; absent where nobody has measured what the store gives. */
  readonly ceiling?: CeilingResult;
}

export interface WallRow {
  readonly workload: string;
  readonly base: number;
  readonly head: number;
  readonly change: number;
  /** The median of the pairs. */
  readonly middle: number;
  readonly interval?: { readonly low: number; readonly high: number };
  /** Of the primary workload alone. */
  readonly band?: number;
  readonly verdict: string;
}

export interface CountRow {
  readonly workload: string;
  readonly unit: 'requests' | 'bytes sent' | 'bytes received';
  readonly base: number;
  readonly head: number;
}

export interface PhaseRow {
  readonly name: string;
  /** Head − base in the middle pair, milliseconds. */
  readonly differenceMs: number;
}

export interface RunRow {
  readonly workload: string;
  readonly role: 'base' | 'head';
  readonly outcome: string;
  readonly wallMs: number;
  readonly requests: number;
  readonly retries: number;
}

/** GitHub refuses more than 65,536 characters; the rest is for the mark in front. */
const budget = 60_000;

/**
 * The comment that answers `/apt-perf`, and the job summary: first the answer, in words and with its interval, then what it rests on. Pure; at most
 * 60,000 characters, sections being left out from the bottom up.
 */
export function renderPerfComment(subject: PerfSubject, state: PerfState): string {
  const sections = [md`## apt-perf: ${headline(state)}\n\n`, about(subject, state), ...partsOf(state)];
  for (let kept = sections.length; ; kept -= 1) {
    const note =
      kept < sections.length ? md`\nLeft out for the size of this comment; the job summary has all of it.\n` : md``;
    const page = joined([...sections.slice(0, kept), note]);
    if (page.length <= budget || kept === 1) return page;
  }
}

/** `+7.9 %` of a difference of logarithms. */
export function change(logarithm: number): string {
  const percent = 100 * Math.expm1(logarithm);
  const text = Math.abs(percent).toFixed(1);
  return text === '0.0' ? '±0.0 %' : `${percent > 0 ? '+' : '−'}${text} %`;
}

function headline(state: PerfState): Inline {
  switch (state.state) {
    case 'queued':
      return prose('queued');
    case 'building':
      return prose('building both sides');
    case 'running':
      return prose(`running, ${state.runs} of ${state.of} runs done`);
    case 'failed':
      return prose(`failed (${state.stage})`);
    case 'refused':
      return prose('refused');
    case 'superseded':
      return prose('superseded');
    case 'done':
      return doneHeadline(state);
  }
}

function doneHeadline({ verdict, walls }: PerfResult): Inline {
  const [primary] = walls;
  if (verdict === 'not comparable' || primary === undefined) return prose('not comparable');
  const interval = primary.interval === undefined ? 'no interval' : `95 % ${range(primary.interval)}`;
  const band = primary.band === undefined ? '' : `, noise band ±${plain(primary.band)}`;
  return prose(`${verdict}: ${primary.workload} ${change(primary.change)} (${interval})${band}`);
}

const facts: readonly Column[] = [{ title: prose('') }, { title: prose('') }];

function about({ base, head, pairing }: PerfSubject, state: PerfState): Markdown {
  const rows: [string, string][] = [
    ['Compared', `head ${head} against base ${base}`],
    ['Pairing', pairing],
  ];
  if (state.state === 'done') {
    const { pairs, order, machine, endpoint, durationMs } = state;
    rows.push(
      ['Pairs', `${pairs} (${order})`],
      ['Runner', machine],
      ['Endpoint', endpoint],
      ['Could detect', power(state)],
      ['Took', duration(durationMs)],
    );
  }
  return md`${tableHead(facts)}${joined(rows.map((row) => tableRow(facts, row.map(prose))))}\n`;
}

/** The two sizes that make "no difference found" honest. */
function power({ detectable, couldHide, pairs, verdict }: PerfResult): string {
  if (detectable === undefined || couldHide === undefined)
    return `nothing: with ${count(pairs, 'pair')} a change of any size could hide; six are needed`;
  const found = `a slowdown of ${plain(detectable)} or more (four times in five)`;
  return verdict === 'slower' || verdict === 'faster' ? found : `${found}; a change of ${plain(couldHide)} could hide`;
}

function partsOf(state: PerfState): Markdown[] {
  switch (state.state) {
    case 'queued':
    case 'building':
    case 'running':
      return [md`This comment changes as the comparison goes on.\n`];
    case 'superseded':
      return [
        md`A newer commit or command has taken its place: comment ${prose('/apt-perf')} again to compare what is there now.\n`,
      ];
    case 'failed':
    case 'refused':
      return [md`${prose(state.what)} ${prose(state.advice)}\n`];
    case 'done':
      return [
        remarksOf(state),
        wallsOf(state),
        countsOf(state),
        phasesOf(state),
        ceilingLine(state.ceiling),
        runsOf(state),
        methodOf(state),
      ];
  }
}

function remarksOf({ remarks }: PerfResult): Markdown {
  return joined([...remarks.map((remark) => md`- ${prose(remark)}\n`), md`\n`]);
}

const wallColumns = columns('Wall time', 'Base', 'Head', 'Head vs base', '95 % interval', 'Median', 'Band', 'Verdict');

function wallsOf({ walls }: PerfResult): Markdown {
  if (walls.length === 0) return md``;
  const rows = walls.map(({ workload, base, head, change: by, interval, middle, band, verdict }, index) =>
    tableRow(
      wallColumns,
      [
        index === 0 ? `${workload}, judged` : workload,
        duration(base),
        duration(head),
        change(by),
        interval === undefined ? '–' : range(interval),
        change(middle),
        band === undefined ? '–' : `±${plain(band)}`,
        verdict,
      ].map(prose),
    ),
  );
  return md`${tableHead(wallColumns)}${joined(rows)}\nThe verdict is about the first line alone. + means that the head takes longer.\n\n`;
}

const countColumns = columns('Counted', 'Base', 'Head', 'Head − base');

/** Counts on a deterministic emulator need no statistics. */
function countsOf({ counts }: PerfResult): Markdown {
  if (counts.length === 0) return md``;
  const rows = counts.map(({ workload, unit, base, head }) => {
    const shown = (value: number) => (unit === 'requests' ? number(value) : bytes(value));
    const difference = head - base;
    const by = difference === 0 ? 'same' : `${difference > 0 ? '+' : '−'}${shown(Math.abs(difference))}`;
    return tableRow(countColumns, [`${workload}: ${unit}`, shown(base), shown(head), by].map(prose));
  });
  return md`${tableHead(countColumns)}${joined(rows)}\n`;
}

function phasesOf({ phases }: PerfResult): Markdown {
  if (phases.length === 0) return md``;
  const parts = phases.map(({ name, differenceMs }) => {
    const sign = differenceMs < -0.5 ? '−' : differenceMs > 0.5 ? '+' : '±';
    return `${name} ${sign}${duration(Math.abs(differenceMs) > 0.5 ? Math.abs(differenceMs) : 0)}`;
  });
  return md`Where the time went (head − base, middle of the pairs, by the runs’ own account): ${prose(parts.join(' · '))}\n\n`;
}

const runColumns = columns('Workload', 'Role', 'Outcome', 'Wall', 'Requests', 'Retries');

function runsOf({ runs }: PerfResult): Markdown {
  const rows = runs.map(({ workload, role, outcome, wallMs, requests, retries }) =>
    tableRow(runColumns, [workload, role, outcome, duration(wallMs), number(requests), number(retries)].map(prose)),
  );
  return md`<details><summary>Runs, in their order</summary>\n\n${tableHead(runColumns)}${joined(rows)}\n</details>\n\n`;
}

function methodOf({ noise }: PerfResult): Markdown {
  return md`<details><summary>Method</summary>\n\n${fence(`${method}\n${noise}`)}\n</details>\n`;
}

const method = `Every run is a fresh process on a fresh prefix with the same files; both sides are measured on one machine, in blocks of four.
The change is the Hodges-Lehmann estimate of the pairs, the interval the exact one of the signed-rank test.
slower or faster: the interval leaves out zero, and the change exceeds noise band and practical floor.
within noise: a change of twice that is ruled out. inconclusive: neither.
Other lines than the first are marked only where they stay significant among all of them (Holm).`;

function columns(...titles: readonly string[]): Column[] {
  return titles.map((title, index) =>
    index === 0 ? { title: prose(title) } : { title: prose(title), align: 'right' },
  );
}

function range({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${change(low)} … ${change(high)}`;
}

/** Of a size: `3.2 %`. */
function plain(logarithm: number): string {
  return `${(100 * Math.expm1(Math.abs(logarithm))).toFixed(1)} %`;
}
