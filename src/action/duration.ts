import type { InputFault } from './input-reader.ts';
import { quoted } from './input-reader.ts';

const secondsOf = { m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const longest = 3650 * secondsOf.d;

/**
 * Seconds of a duration such as `90m`, `12h`, `7d` or `2w`: one whole number with one unit, at most ten years. Months and years
 * have no fixed length, so there is no unit for them.
 */
export function parseDuration(text: string): { readonly seconds: number } | { readonly fault: InputFault } {
  const [, digits, unit] = /^(\d{1,9})\s*([mhdw])$/.exec(text) ?? [];
  const seconds = digits === undefined || !isUnit(unit) ? 0 : Number(digits) * secondsOf[unit];
  if (seconds > 0 && seconds <= longest) return { seconds };
  return {
    fault: {
      what: `is ${quoted(text)}, which is no duration between one minute and ten years.`,
      advice: 'Write a number and its unit, for example `12h`, `7d` or `2w`.',
    },
  };
}

function isUnit(unit: string | undefined): unit is keyof typeof secondsOf {
  return unit !== undefined && unit in secondsOf;
}
