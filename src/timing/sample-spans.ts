import type { OmittedSpans } from './record.ts';
import type { Span } from './span.ts';

/** How many spans a record keeps: some 10 MB of JSON. */
export const mostSpans = 50_000;
/** The slowest are what a reader looks for, so they are kept whatever the sample holds. */
const slowest = 200;
const ordinary: ReadonlySet<string> = new Set(['ok', 'not-found', 'precondition-failed', 'cancelled']);

/**
 * At most `most` spans, in their order: all that ended in an error (even if they are more), the slowest 200, and of the others a sample
 * in which each has the same chance. What is left out is counted by phase and verb. Chance is a hash of the position, so that
 * equal runs keep equal spans.
 */
export function sampleSpans(
  spans: readonly Span[],
  most: number,
): { readonly spans: readonly Span[]; readonly omitted: readonly OmittedSpans[] } {
  if (spans.length <= most) return { spans, omitted: [] };
  const kept = new Set(spans.filter((span) => span.kind === 'request' && !ordinary.has(span.outcome)));
  for (const span of spans.toSorted((a, b) => b.end - b.start - (a.end - a.start)).slice(0, slowest)) kept.add(span);
  const drawn = spans
    .flatMap((span, index) => (kept.has(span) ? [] : { span, lot: lot(index) }))
    .sort((a, b) => a.lot - b.lot)
    .slice(0, Math.max(0, most - kept.size));
  for (const { span } of drawn) kept.add(span);
  return { spans: spans.filter((span) => kept.has(span)), omitted: counted(spans.filter((span) => !kept.has(span))) };
}

function counted(spans: readonly Span[]): OmittedSpans[] {
  const groups = new Map<string, OmittedSpans>();
  for (const span of spans) {
    const isRequest = span.kind === 'request';
    const key = `${span.phase} ${isRequest ? span.verb : ''}`;
    const before = groups.get(key) ?? { spans: 0, bytesUp: 0, bytesDown: 0 };
    groups.set(key, {
      phase: span.phase,
      ...(isRequest ? { verb: span.verb } : {}),
      spans: before.spans + 1,
      bytesUp: before.bytesUp + (isRequest ? span.bytesUp : 0),
      bytesDown: before.bytesDown + (isRequest ? span.bytesDown : 0),
    });
  }
  return [...groups.values()];
}

/** The finalizer of MurmurHash3: every bit of the position takes part in every bit of the result. */
function lot(position: number): number {
  let bits = position + 1;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
