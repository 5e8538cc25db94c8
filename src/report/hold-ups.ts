import type { PhaseAnalysis, RunAnalysis } from '../timing/analysis.ts';
import { criticalPath, type PathPart } from '../timing/critical-path.ts';
import type { RunRecord } from '../timing/record.ts';
import type { PhaseName, RequestSpan } from '../timing/span.ts';
import { joined, type Markdown, md, prose } from './markdown.ts';
import { nothing } from './page.ts';
import { bytes, count, duration, number, percent } from './units.ts';

/** A finding that cost less than this part of the run is not worth a line. */
const worthIt = 0.02;
/** From here on a phase cannot become faster but by fewer waves or a shorter way. */
const nearCeiling = 0.9;
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
    .flatMap((phase) => [...depth(phase, analysis), ...stragglers(phase), ...idle(phase), ...repeats(phase)])
    .filter(({ cost }) => cost >= durationMs * worthIt)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, mostFindings);
  const lines = [pathLine(path, record, analysis), ...findings.map(({ text }) => text)];
  return md`### What held it up\n\n${joined(lines.map((line) => md`- ${line}\n`))}\n`;
}

function pathLine(path: readonly PathPart[], record: RunRecord, { roundTrip }: RunAnalysis): Markdown {
  const shown = new Set(path.toSorted((a, b) => b.time - a.time).slice(0, mostParts));
  const parts = path.filter((part) => shown.has(part) && part.time >= record.durationMs * worthIt);
  const told = parts.map(({ phase, what, time, requests }) => {
    const kind = what === 'gap' ? 'nothing recorded' : requests > 1 ? `${number(requests)} × ${what}` : what;
    return `${phase ?? 'outside phases'}: ${kind} ${percent(time / record.durationMs)}`;
  });
  const trips = path.reduce((sum, { requests }) => sum + requests, 0);
  const deep =
    roundTrip === undefined || trips === 0
      ? nothing
      : md` ${prose(count(trips, 'request'))} followed one another on it, which takes at least ${prose(duration(trips * roundTrip))} of the ${prose(duration(record.durationMs))}.`;
  return md`Critical path: ${prose(told.join(' → '))}.${deep}`;
}

/** Whether a phase took what its depth takes, and else what took the time. */
function depth(phase: PhaseAnalysis, { roundTrip }: RunAnalysis): Finding[] {
  const { name, wall, least, waves, time } = phase;
  const requests = [...phase.requests.values()].reduce((sum, times) => sum + times, 0);
  if (least === undefined || roundTrip === undefined || time === undefined || waves === 0) return [];
  const took = `${name} took ${duration(wall)}; its ${count(waves, 'wave')} of requests ${waves === 1 ? 'takes' : 'take'} at least ${duration(least)}`;
  if (wall > 0 && least / wall < nearCeiling) {
    if (time.p50 < 2 * roundTrip) return [];
    const trips = (time.p50 / roundTrip).toFixed(1);
    const slow = `A request took ${duration(time.p50)} at the median, ${trips} round trips: what it carries or what the store does with it, not the distance.`;
    return [{ cost: wall - least, text: prose(`${took}. ${slow}`) }];
  }
  const lever = levers[name];
  const near = prose(`${took}, so it was near the ceiling of its depth`);
  if (lever === undefined || waves < 2 || requests < 2) {
    return [{ cost: wall, text: md`${near}: only a shorter way to the store would make it faster.` }];
  }
  const flight = prose(`${number(requests)} requests went ${number(phase.highestInFlight)} at a time`);
  return [
    { cost: wall, text: md`${near}: ${flight}, and a higher \`${prose(lever)}\` would make fewer waves of them.` },
  ];
}

function stragglers({ name, requests, stragglers: { cost, requests: late, last } }: PhaseAnalysis): Finding[] {
  if (last === undefined) return [];
  const all = [...requests.values()].reduce((sum, times) => sum + times, 0);
  const what = `${name} waited ${duration(cost)} for ${number(late)} of ${count(all, 'request')}`;
  return [{ cost, text: prose(`${what}, the last of them ${described(last)}.`) }];
}

function described({ verb, object, bytesUp, bytesDown, outcome, start, end }: RequestSpan): string {
  const size = bytesUp + bytesDown === 0 ? '' : ` of ${bytes(bytesUp + bytesDown)}`;
  return `${verb} ${object}${size}, which took ${duration(end - start)}${outcome === 'ok' ? '' : ` (${outcome})`}`;
}

function idle({ name, idle: { gaps, total } }: PhaseAnalysis): Finding[] {
  if (gaps === 0 || name === 'wait') return [];
  const what = `${name} had ${count(gaps, 'gap')} of ${duration(total)} in all without a request or recorded work`;
  return [{ cost: total, text: prose(`${what}.`) }];
}

/** Always worth a line: a retry that cost little today is a warning. */
function repeats({ name, retries, errors }: PhaseAnalysis): Finding[] {
  if (retries + errors === 0) return [];
  const parts = [
    ...(retries > 0 ? [`${count(retries, 'attempt')} failed in a way that may pass`] : []),
    ...(errors > 0 ? [`${count(errors, 'attempt')} failed for good`] : []),
  ];
  return [{ cost: Number.POSITIVE_INFINITY, text: prose(`In ${name}, ${parts.join(' and ')}.`) }];
}
