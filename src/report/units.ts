/** Numbers as people read them. Every function is total: what is no number, or below zero, becomes an en dash. */

const absent = '–';

/** `12 ms`, `8.4 s`, `2 min 3 s`, `1 h 2 min`: at most two units, and no more digits than a reader compares. */
export function duration(ms: number): string {
  if (!(ms >= 0) || ms === Number.POSITIVE_INFINITY) return absent;
  if (ms < 9.95) return `${trimmed(ms)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Durations to compare: `103, 108, 240 ms` where they share a unit, `103 ms, 1.2 s` where not. */
export function durations(all: readonly number[]): string {
  const told = all.map(duration);
  const units = new Set(told.map((text) => text.replace(/^[\d.]+/, '')));
  const [unit = ''] = units;
  if (units.size !== 1 || /\d/.test(unit)) return told.join(', ');
  return `${told.map((text) => text.slice(0, text.length - unit.length)).join(', ')}${unit}`;
}

/** `512 B`, `1.2 kB`, `34 MB`: decimal units, as apt prints them. */
export function bytes(count: number): string {
  if (!(count >= 0) || count === Number.POSITIVE_INFINITY) return absent;
  let value = count;
  for (const unit of ['B', 'kB', 'MB', 'GB', 'TB']) {
    const rounded = unit === 'B' || value >= 99.5 ? Math.round(value) : Number(value.toPrecision(2));
    if (rounded < 1000 || unit === 'TB') return `${unit === 'B' ? rounded : trimmed(rounded)} ${unit}`;
    value /= 1000;
  }
  return absent;
}

/** Of two sizes: `+1.2 kB`, `−34 MB`, `±0 B`. */
export function difference(count: number): string {
  if (!Number.isFinite(count)) return absent;
  return `${count === 0 ? '±' : count > 0 ? '+' : '−'}${bytes(Math.abs(count))}`;
}

/** `12,345`. */
export function number(value: number): string {
  if (!(value >= 0) || value === Number.POSITIVE_INFINITY) return absent;
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 package`, `12,345 packages`. */
export function count(value: number, noun: string): string {
  return `${number(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** Of a part from 0 to 1: `12 %`, `<1 %`. */
export function percent(part: number): string {
  if (!(part >= 0) || part === Number.POSITIVE_INFINITY) return absent;
  return part > 0 && part < 0.005 ? '<1 %' : `${Math.round(part * 100)} %`;
}

/** `a`, `a and b`, `a, b and c`; of more than `most` the rest is counted: `a, b and 7 more`. */
export function enumeration(items: readonly string[], most: number): string {
  const shown = items.length > most ? [...items.slice(0, most), `${number(items.length - most)} more`] : items;
  if (shown.length < 2) return shown.join('');
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** One decimal, unless it is a zero. */
function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}
