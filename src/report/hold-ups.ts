import { idleGap, type PhaseAnalysis, type RunAnalysis } from '../timing/analysis.ts';
import { criticalPath, type PathPart } from '../timing/critical-path.ts';
import type { RunRecord } from '../timing/record.ts';
import type { PhaseName, RequestSpan } from '../timing/span.ts';
import { joined, type Markdown, md, prose, unbroken } from './markdown.ts';
import { nothing } from './page.ts';
import { bytes, count, duration, enumeration, number, percent } from './units.ts';

/** A finding that cost less than this part of the run, or fewer milliseconds than a machine may pause, is not worth a line. */
const worthIt = 0.02;
/** From here on a phase cannot become faster but by fewer waves or a shorter way. */
const nearCeiling = 0.9;
/** Outcomes that end a request, or a copy of it that was not needed; after the others it was sent again, or the run stopped. */
const answers: ReadonlySet<string> = new Set(['ok', 'not-found', 'precondition-failed', 'cancelled']);
const mostFindings = 8;
const mostParts = 8;

/** The input that decides how many requests of a phase are in flight. The other phases are as deep as the protocol. */
const levers: Partial<Record<PhaseName, string>> = {
  upload: 'upload-concurrency',
  stage: 'upload-concurrency',
  rename: 'rename-concurrency',
};

interface Finding {
  /** Milliseconds. */
  readonly cost: number;
  readonly text: Markdown;
}

/** What held a run up, in words: the critical path, depth, stragglers, idle gaps and repeated requests, what cost most first. */
export function holdUpsOf(record: RunRecord, analysis: RunAnalysis): Markdown {
  const { durationMs } = record;
  if (analysis.phases.length === 0 || durationMs === 0) return nothing;
  const path = criticalPath(record);
  const findings = analysis.phases
    .flatMap((phase) => [
      ...shallower(phase),
      ...slowRequests(phase, analysis),
      ...stragglers(phase),
      ...idle(phase),
      ...repeats(phase, record),
    ])
    .filter(({ cost }) => cost >= Math.max(idleGap, durationMs * worthIt))
    .sort((a, b) => b.cost - a.cost)
    .slice(0, mostFindings);
  const lines = [
    pathLine(path, record, analysis),
    ...ceilings(record, analysis),
    ...findings.map(({ text }) => text),
    ...hedges(record),
  ];
  return md`### What held it up\n\n${joined(lines.map((line) => md`- ${line}\n`))}\n`;
}

function pathLine(path: readonly PathPart[], { durationMs }: RunRecord, { roundTrip = 0 }: RunAnalysis): Markdown {
  const longest = new Set(path.toSorted((a, b) => b.time - a.time).slice(0, mostParts));
  const told: PathPart[] = [];
  for (const part of path) {
    if (!longest.has(part) || part.time < durationMs * worthIt) continue;
    const last = told.at(-1);
    if (last?.phase !== part.phase || last?.what !== part.what) told.push(part);
    else told[told.length - 1] = { ...last, time: last.time + part.time, requests: last.requests + part.requests };
  }
  const parts = told.map(({ phase, what, time, requests }) => {
    const kind = what === 'gap' ? 'nothing recorded' : requests > 1 ? `${number(requests)} × ${what}` : what;
    return unbroken(`${phase ?? 'outside phases'}: ${kind} ${percent(time / durationMs)}`);
  });
  const trips = path.reduce((sum, { requests }) => sum + requests, 0);
  const least = trips * roundTrip;
  const deep =
    trips < 2 || least < durationMs * worthIt
      ? nothing
      : md` ${prose(count(trips, 'request'))} followed one another on it, which takes at least ${prose(duration(least))} of the ${prose(duration(durationMs))}.`;
  return md`Critical path: ${parts.join(' → ') as Markdown}.${deep}`;
}

/** A phase that took hardly more than its depth takes, and could be less deep. */
function shallower(phase: PhaseAnalysis): Finding[] {
  const { name, wall, least = 0, waves } = phase;
  const lever = levers[name];
  if (lever === undefined || waves < 2 || least < wall * nearCeiling) return [];
  const what = `${name} took ${duration(wall)}: ${count(requestsOf(phase), 'request')}, at most ${number(phase.highestInFlight)} in flight, make ${number(waves)} waves, which take at least ${duration(least)}. It was near the ceiling of its depth; a higher`;
  return [{ cost: wall, text: md`${prose(what)} \`${prose(lever)}\` would make it less deep.` }];
}

/** A phase whose requests took much longer than the way there and back. */
function slowRequests({ name, wall, least = 0, time }: PhaseAnalysis, { roundTrip }: RunAnalysis): Finding[] {
  if (time === undefined || roundTrip === undefined || least >= wall * nearCeiling || time.p50 < 2 * roundTrip)
    return [];
  const trips = (time.p50 / roundTrip).toFixed(1);
  const what = `In ${name}, a request took ${duration(time.p50)} at the median, ${trips} round trips: for what it carries, what the store does with it, or this machine's own work beside it.`;
  return [{ cost: wall - least, text: prose(what) }];
}

/** How near each of the phases that matter came to the least that its depth allows. */
function ceilings({ durationMs }: RunRecord, { phases }: RunAnalysis): Markdown[] {
  const matter = phases.filter(({ wall, least = 0 }) => least > 0 && wall >= durationMs * worthIt);
  const near = matter.filter(({ wall, least = 0 }) => least >= wall * nearCeiling);
  const far = matter.filter((phase) => !near.includes(phase));
  const told = far.map(({ name, wall, least = 0 }) => `${name} (${duration(wall)} of at least ${duration(least)})`);
  const parts = [
    ...(near.length > 0
      ? [
          `${enumeration(
            near.map(({ name }) => name),
            near.length,
          )}`,
        ]
      : ['no phase']),
    ...(far.length > 0 ? [`not near it: ${enumeration(told, told.length)}`] : []),
  ];
  return matter.length === 0 ? [] : [prose(`Near the ceiling of its depth: ${parts.join('; ')}.`)];
}

function requestsOf({ requests }: PhaseAnalysis): number {
  return [...requests.values()].reduce((sum, times) => sum + times, 0);
}

function stragglers(phase: PhaseAnalysis): Finding[] {
  const { cost, requests: late, last } = phase.stragglers;
  if (last === undefined) return [];
  const what = `${phase.name} waited ${duration(cost)} for ${number(late)} of ${count(requestsOf(phase), 'request')}`;
  return [{ cost, text: prose(`${what}, the last of them ${described(last)}.`) }];
}

function described({ verb, object, bytesUp, bytesDown, outcome, start, end }: RequestSpan): string {
  const size = bytesUp + bytesDown === 0 ? '' : ` of ${bytes(bytesUp + bytesDown)}`;
  return `${verb} ${object}${size}, which took ${duration(end - start)}${outcome === 'ok' ? '' : ` (${outcome})`}`;
}

function idle({ name, idle: { gaps, total } }: PhaseAnalysis): Finding[] {
  if (gaps === 0 || name === 'wait') return [];
  const long = gaps === 1 ? `a gap of ${duration(total)}` : `${number(gaps)} gaps of ${duration(total)} in all`;
  return [{ cost: total, text: prose(`${name} had ${long} without a request or recorded work.`) }];
}

function hedges({ hedges: counts }: RunRecord): Markdown[] {
  if (counts === undefined) return [];
  const { sent, won, wastedBytes } = counts;
  const wasted = wastedBytes === 0 ? '' : `; ${bytes(wastedBytes)} were sent in vain`;
  const text = `${count(sent, 'late request')} ${sent === 1 ? 'was' : 'were'} sent a second time, and ${number(won)} of them answered sooner for it${wasted}.`;
  return [md`${prose(text)}`];
}

/** Always worth a line: what cost little today is a warning. */
function repeats({ name }: PhaseAnalysis, record: RunRecord): Finding[] {
  const ids = new Set(record.phases.flatMap((phase) => (phase.name === name ? phase.id : [])));
  const outcomes = record.spans.flatMap((span) =>
    span.kind === 'request' && ids.has(span.phase) && !answers.has(span.outcome) ? span.outcome : [],
  );
  if (outcomes.length === 0) return [];
  const kinds = [...Map.groupBy(outcomes, (outcome) => outcome)].map(
    ([outcome, all]) => `${number(all.length)} × ${outcome}`,
  );
  const text = `In ${name}, ${count(outcomes.length, 'attempt')} did not get an answer that counts: ${kinds.join(', ')}.`;
  return [{ cost: Number.POSITIVE_INFINITY, text: prose(text) }];
}
