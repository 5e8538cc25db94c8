import type { PhaseTime } from './record.ts';
import { type PhaseSpan, phaseNames } from './span.ts';
import { totalLength, union } from './stretches.ts';

/** How long each phase was running for one suite, in the order of the transaction: its own stretches and those that served all suites. */
export function suiteTimes(phases: readonly PhaseSpan[], suite: string): PhaseTime[] {
  return phaseNames.flatMap((phase) => {
    const stretches = phases.filter(({ name, suite: of = suite }) => name === phase && of === suite);
    return stretches.length === 0 ? [] : [{ phase, ms: Math.round(totalLength(union(stretches)) * 10) / 10 }];
  });
}
