import type { RunRecord } from '../timing/record.ts';
import { type PhaseName, phaseNames } from '../timing/span.ts';
import { type Stretch, totalLength, union, waves } from '../timing/stretches.ts';
import { fence, type Markdown, md } from './markdown.ts';
import { nothing } from './page.ts';
import { duration, number } from './units.ts';

/** More bars are no picture any more, and a bar shorter than this part of the run is none. */
const mostBars = 30;
const shortest = 1 / 200;
/** A single wave that fills this part of its phase says nothing that the bar of the phase does not. */
const wholePhase = 0.8;
const mostWaves = 12;
/** Characters of the widest bar of the plain form. */
const width = 48;

interface Bar extends Stretch {
  readonly section: PhaseName | 'run';
  readonly label: string;
  readonly kind: 'phase' | 'failed' | 'wave';
}

/**
 * Phases and waves as a Gantt diagram that GitHub draws (Mermaid), and folded below it the same in characters, for whoever reads
 * it elsewhere. At most 30 bars: the longest phases, then the waves of the phases that took longest. Labels are made of this
 * project's own words and of numbers only, so nothing in them can end a line or begin a directive of Mermaid.
 */
export function diagramOf(record: RunRecord): Markdown {
  const bars = barsOf(record);
  if (bars.length === 0 || !(record.durationMs > 0)) return nothing;
  const folded = md`<details><summary>The same as text</summary>\n\n${plainBars(bars, record.durationMs)}\n</details>\n\n`;
  return md`${mermaid(bars, record.durationMs)}\n${folded}`;
}

function barsOf(record: RunRecord): Bar[] {
  const long = ({ start, end, kind }: Bar) => kind === 'failed' || end - start >= record.durationMs * shortest;
  const phases = phaseNames.flatMap((phase) => phaseBars(record, phase)).filter(long);
  const shown = new Set(phases.toSorted((a, b) => b.end - b.start - (a.end - a.start)).slice(0, mostBars - 1));
  let room = mostBars - 1 - shown.size;
  const waveBars = new Map<PhaseName, Bar[]>();
  for (const name of longestFirst(shown)) {
    const bars = room > 0 ? wavesOf(record, name, Math.min(room, mostWaves)).filter(long) : [];
    room -= bars.length;
    waveBars.set(name, bars);
  }
  const bars = phaseNames.flatMap((name) => [
    ...phases.filter((bar) => bar.section === name && shown.has(bar)),
    ...(waveBars.get(name) ?? []),
  ]);
  if (bars.length === 0) return [];
  // The axis of Mermaid begins with the first bar.
  const whole = {
    start: 0,
    end: record.durationMs,
    section: 'run',
    label: `run ${duration(record.durationMs)}`,
  } as const;
  return [{ ...whole, kind: record.outcome === 'failed' ? 'failed' : 'phase' }, ...bars];
}

function longestFirst(bars: ReadonlySet<Bar>): Set<PhaseName> {
  return new Set([...bars].flatMap(({ section }) => (section === 'run' ? [] : section)));
}

function phaseBars(record: RunRecord, name: PhaseName): Bar[] {
  const stretches = record.phases.filter((phase) => phase.name === name);
  return union(stretches).map((whole) => {
    const inside = stretches.filter(({ start, end }) => start >= whole.start && end <= whole.end);
    const suites = inside.length > 1 ? `, ${number(inside.length)} stretches` : '';
    const failed = inside.some(({ outcome }) => outcome === 'failed');
    const label = `${name} ${failed ? 'failed after ' : ''}${duration(totalLength([whole]))}${suites}`;
    return { ...whole, section: name, label, kind: failed ? 'failed' : 'phase' };
  });
}

/** One bar for each wave; of too many, neighbours share one. */
function wavesOf(record: RunRecord, phase: PhaseName, most: number): Bar[] {
  const ids = new Set(record.phases.filter(({ name }) => name === phase).map(({ id }) => id));
  const requests = record.spans.filter((span) => span.kind === 'request' && ids.has(span.phase));
  const found = waves(requests);
  const whole = union(record.phases.filter(({ id }) => ids.has(id)));
  if (found.length === 0 || (found.length === 1 && totalLength(union(requests)) > totalLength(whole) * wholePhase))
    return [];
  const each = Math.ceil(found.length / most);
  return Array.from({ length: Math.ceil(found.length / each) }, (_, index) => {
    const [first, last] = [index * each + 1, Math.min((index + 1) * each, found.length)];
    const inside = found.slice(first - 1, last).flat();
    const name = first === last ? `wave ${first} of ${found.length}` : `waves ${first} to ${last} of ${found.length}`;
    return {
      start: inside.reduce((earliest, { start }) => Math.min(earliest, start), Number.POSITIVE_INFINITY),
      end: inside.reduce((latest, { end }) => Math.max(latest, end), 0),
      section: phase,
      label: `${name}, ${number(inside.length)} request${inside.length === 1 ? '' : 's'}`,
      kind: 'wave',
    };
  });
}

/** https://mermaid.js.org/syntax/gantt.html. Moments count from 1970 on, and %Q and %s print them without a time zone. */
function mermaid(bars: readonly Bar[], durationMs: number): Markdown {
  const tags: Record<Bar['kind'], string> = { phase: 'done, ', failed: 'crit, ', wave: '' };
  const lines = bars.map(({ section, label, kind, start, end }, index) => {
    const head = bars[index - 1]?.section === section ? '' : `    section ${section}\n`;
    const from = Math.round(start);
    return `${head}    ${label} :${tags[kind]}${from}, ${Math.max(from + 1, Math.round(end))}\n`;
  });
  const axis = durationMs < 10_000 ? '%Q ms' : '%s s';
  const head = `gantt\n    dateFormat x\n    axisFormat ${axis}\n    todayMarker off\n`;
  return `\`\`\`mermaid\n${head}${lines.join('')}\`\`\`\n` as Markdown;
}

function plainBars(bars: readonly Bar[], durationMs: number): Markdown {
  const labels = bars.map(({ kind, label }) => (kind === 'wave' ? `  ${label}` : label));
  const longest = Math.max(...labels.map((label) => label.length));
  const cell = (ms: number) => Math.min(width, Math.max(0, Math.round((ms / durationMs) * width)));
  const lines = bars.map(({ kind, start, end }, index) => {
    const from = Math.min(width - 1, cell(start));
    const bar = (kind === 'wave' ? '▒' : '█').repeat(Math.max(1, cell(end) - from));
    return `${(labels[index] ?? '').padEnd(longest)} │${`${' '.repeat(from)}${bar}`.padEnd(width)}│`;
  });
  return fence(lines.join('\n'));
}
