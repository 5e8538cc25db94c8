import { archiveTargets } from './archive-targets.ts';
import { debTarget } from './deb-target.ts';
import { recordTargets } from './record-targets.ts';
import { signatureTargets } from './signature-targets.ts';
import { streamTargets } from './stream-targets.ts';
import type { Target } from './target.ts';
import { textTargets } from './text-targets.ts';

/** Everything of this project that reads bytes of strangers. */
export const targets: readonly Target[] = [
  ...archiveTargets,
  ...textTargets,
  ...recordTargets,
  ...signatureTargets,
  ...streamTargets,
  debTarget,
];

export function targetNamed(name: string): Target {
  const found = targets.find((target) => target.name === name);
  if (found === undefined)
    throw new Error(`There is no target ${name}; there are ${targets.map((each) => each.name).join(', ')}.`);
  return found;
}
