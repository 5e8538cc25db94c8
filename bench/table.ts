import type { Range, Row } from './measurement.ts';

/** The findings as text, for a terminal. */
export function table(rows: readonly Row[], ratios: Readonly<Record<string, number>>): string {
  const cells = [
    ['', 'runs', 'median ms', 'range', 'requests', 'CPU ms', 'peak MiB', 'sent', 'received'],
    ...rows.flatMap((row) => [
      [
        row.what,
        String(row.runs),
        String(Math.round(row.medianMs)),
        range(row),
        String(row.requests),
        String(row.cpuMs),
        row.peakMiB.toFixed(0),
        kibibytes(row.bytesUp),
        kibibytes(row.bytesDown),
      ],
      ...Object.entries(row.windows ?? {}).map(([name, window]) => [
        `    ${name}`,
        '',
        String(Math.round(window.medianMs)),
        range(window),
      ]),
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const aligned = cells.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  return [...aligned, '', ...Object.entries(ratios).map(([name, value]) => `${name} = ${value}`)].join('\n');
}

function range({ minMs, maxMs }: Range): string {
  return `${Math.round(minMs)}–${Math.round(maxMs)}`;
}

function kibibytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} KiB`;
}
