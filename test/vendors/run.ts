/**
 * `npm run test:vendors`: every kind of store and every ambiguous answer, and at the end how many points were tried. A point is one
 * run of a publisher with its circumstances; tests say in a diagnostic `points: N` how many they were.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const folder = import.meta.dirname;
const files = readdirSync(folder).flatMap((name) => (name.endsWith('.test.ts') ? [join(folder, name)] : []));

let points = 0;
const tests = run({ files, concurrency: 2 })
  .on('test:diagnostic', ({ message }) => {
    points += Number(/^points: (\d+)$/.exec(message)?.[1] ?? 0);
  })
  .on('test:fail', () => {
    process.exitCode = 1;
  });
const report = tests.compose(new spec());
report.pipe(process.stdout);
report.on('end', () => console.log(`${points} points tried`));
