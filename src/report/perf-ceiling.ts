import { type Markdown, md, prose } from './markdown.ts';
import { bytes, duration, number, percent } from './units.ts';

/** How near both sides came to what no client could beat, and what the store gives at most: milliseconds, and rates a second. */
export interface CeilingResult {
  readonly base: CeilingSide;
  readonly head: CeilingSide;
  readonly roundTripMs: number;
  readonly requests: number;
  readonly bytes: number;
}

export interface CeilingSide {
  /** 0 to 1: what it takes at least, of what it took. */
  readonly part: number;
  /** Which of its needs is the largest. */
  readonly binds: string;
  readonly leastMs: number;
  readonly tookMs: number;
  readonly needs: readonly { readonly need: string; readonly ms: number }[];
}

/** What of the time no client could have saved, in two sentences; nothing where nobody has measured the store. */
export function ceilingLine(ceiling: CeilingResult | undefined): Markdown {
  if (ceiling === undefined) return md``;
  const { base, head, roundTripMs, requests, bytes: bandwidth } = ceiling;
  const side = ({ part, binds }: CeilingSide) => `at ${percent(part)} of the ceiling, bound by ${binds}`;
  const needs = base.needs.map(({ need, ms }) => `${need} ${duration(ms)}`).join(' · ');
  const gives = `${bytes(bandwidth)} and ${number(requests)} small writes a second, ${duration(roundTripMs)} a round trip`;
  const words = `The base runs ${side(base)}; the head ${side(head)}. The base took ${duration(base.tookMs)}, and ${duration(base.leastMs)} of that no client could save: ${needs}. The store gives ${gives}.`;
  return md`${prose(words)}\n\n`;
}
