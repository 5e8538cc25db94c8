import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exactRelations, sourceOf } from '../../src/debian/relations.ts';

describe('a field of relations', () => {
  const fields: readonly (readonly [value: string, ...exact: string[]])[] = [
    [''],
    ['libc6 (>= 2.36), hello, tool (<< 2)'],
    ['hello (= 1:2.10-3~bpo12+1)', 'hello 1:2.10-3~bpo12+1'],
    ['a1 (= 1) | b1 (= 2), c1:any (=3) [amd64] <!nocheck>', 'a1 1', 'b1 2', 'c1 3'],
    ['libstdc++6 (= 12),\n g++-12 ( = 12 )', 'libstdc++6 12', 'g++-12 12'],
  ];
  for (const [value, ...exact] of fields) {
    it(`names in exactly one version: ${JSON.stringify(value)}`, () =>
      assert.deepEqual(
        exactRelations(value).map((relation) => `${relation.package} ${relation.version}`),
        exact,
      ));
  }
});

describe('the source of a binary', () => {
  const binary = { package: 'libhello1', version: '2.0-1+b1' };
  const fields: readonly (readonly [field: string | undefined, name: string, version: string])[] = [
    [undefined, 'libhello1', '2.0-1+b1'],
    ['hello', 'hello', '2.0-1+b1'],
    ['hello (2.0-1)', 'hello', '2.0-1'],
  ];
  for (const [field, name, version] of fields) {
    it(`is read: ${field ?? 'no field'}`, () => assert.deepEqual(sourceOf(binary, field), { package: name, version }));
  }
});
