/** Dates in Release files: whole seconds, always UTC. Times are milliseconds since the epoch. */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Tue, 14 Nov 2023 22:13:20 UTC`: English names and `UTC`, as dak writes it; parts of a second are dropped. */
export function releaseDate(ms: number): string {
  // ECMA-262 fixes the format of toUTCString: RFC 7231's, but for the name of the zone.
  return new Date(ms).toUTCString().replace('GMT', 'UTC');
}

/**
 * The moment a Date or Valid-Until names, by apt's own rules (RFC 1123 with `UTC`, `GMT`, `Z` or `+0000`; a day of one digit as
 * aptly writes it). Undefined for everything that apt gives up on, such as ISO 8601, other zones and the 31st of June.
 */
export function parseReleaseDate(text: string): number | undefined {
  const parts =
    /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), +(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{1,2}):(\d{2}):(\d{2}) (?:UTC|GMT|Z|[+-]0000)$/.exec(
      text.trim(),
    );
  if (parts === null) return undefined;
  const [, day = '', monthName = '', year = '', hours = '', minutes = '', seconds = ''] = parts;
  const month = months.indexOf(monthName);
  const ms = Date.UTC(Number(year), month, Number(day), Number(hours), Number(minutes), Number(seconds));
  // Date.UTC counts on from what does not exist; the way back shows it.
  const exact = `${day.padStart(2, '0')} ${monthName} ${year} ${hours.padStart(2, '0')}:${minutes}:${seconds}`;
  return releaseDate(ms).includes(exact) ? ms : undefined;
}

/** The date of the next Release, and how far it lies ahead of `now`: 0, or more where the published one forces it. */
export interface NextDate {
  readonly date: number;
  readonly ahead: number;
}

/**
 * Strictly newer than the published date, since apt silently ignores a Release that is not (exit 0, old lists); otherwise the
 * present second, never rounded up. apt forgives a Date 10 s ahead of its clock; `ahead` lets the caller say more than that.
 */
export function nextDate({ now, published }: { now: number; published: number | undefined }): NextDate {
  const present = Math.floor(now / 1000) * 1000;
  const newer = published === undefined ? present : Math.floor(published / 1000) * 1000 + 1000;
  const date = Math.max(present, newer);
  return { date, ahead: Math.max(0, date - now) };
}
