import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const rows = read('faults/known-faults.md')
  .split('\n')
  .filter((line) => /^\| (?!references |---)/.test(line))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

test('every known fault has a test of the name that its row gives', () => {
  assert.ok(rows.length > 80, `${rows.length} rows`);
  const without = rows.filter(([, , file = '', name = '']) => !read(file).includes(name));
  assert.deepEqual(without, []);
});

test('every reference in the name of a test is one of a known fault', () => {
  const known = new Set(rows.flatMap(([references = '']) => referencesIn(references)));
  const faults = ['object', 'package', 'request'].map((kind) => `vendors/known-${kind}-faults.test.ts`);
  for (const file of [...faults, 'vendors/vendors.ts', 'clients/known-client-faults.test.ts']) {
    const unknown = referencesIn(read(file)).filter((reference) => !known.has(reference));
    assert.deepEqual(unknown, [], file);
  }
});

/** A file below `test/`. */
function read(path: string): string {
  return readFileSync(join(import.meta.dirname, '..', path), 'utf8');
}

/** `owner/name#1` and `owner/name#2` of `owner/name#1, #2`. */
function referencesIn(text: string): string[] {
  return [...text.matchAll(/([\w.-]+\/[\w.-]+)((?:(?:, )?#\d+)+)/g)].flatMap(([, repository, numbers = '']) =>
    numbers.split(', ').map((number) => `${repository}${number}`),
  );
}
