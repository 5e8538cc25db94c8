import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nameDigest, SoughtNames } from '../../src/publish/name-digest.ts';

const index = 'main/binary-amd64/Packages';

function list(names: readonly string[]): Uint8Array {
  const stanzas = names.map(
    (name) => `Package: ${name}\nVersion: 1\nArchitecture: amd64\nFilename: pool/${name}.deb\nSize: 1\n\n`,
  );
  return Buffer.from(stanzas.join(''));
}

/** As a record holds it. */
function held(bytes: Uint8Array): string | undefined {
  const named = nameDigest(bytes, index);
  return named === undefined ? undefined : Buffer.from(named).toString('base64');
}

const many = Array.from({ length: 1000 }, (_, number) => `package-${number}`);

describe('the digest of a list', () => {
  test('never denies a file that the list names', () => {
    const named = held(list(many));
    for (const name of many) assert.ok(new SoughtNames(['pool/other.deb', `pool/${name}.deb`]).mayBeIn(named), name);
  });

  test('denies nearly every file that it does not', () => {
    const named = held(list(many));
    const others = Array.from({ length: 10_000 }, (_, number) => `pool/other-${number}.deb`);
    const doubtful = others.filter((name) => new SoughtNames([name]).mayBeIn(named));
    assert.ok(doubtful.length <= 1, `${doubtful.length} of 10,000`);
    assert.equal(new SoughtNames(others.slice(0, 1000)).mayBeIn(held(list([]))), false);
  });

  test('takes four bytes for each name', () => {
    assert.equal(nameDigest(list(many), index)?.length, 4000);
  });

  test('is not there for a list that cannot be read, or is too large: anything may be in that', () => {
    assert.equal(held(Buffer.from('Package: hello\nVersion: 1\nArchitecture: amd64\n\n')), undefined);
    assert.equal(held(Buffer.alloc(9 * 2 ** 20, '\n')), undefined);
    assert.ok(new SoughtNames(['pool/a.deb']).mayBeIn(undefined));
    assert.ok(new SoughtNames(['pool/a.deb']).mayBeIn('YWI='), 'one that is damaged');
  });
});
