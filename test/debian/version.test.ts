import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { compareVersions, versionFault, withoutEpoch } from '../../src/debian/version.ts';

const skip = spawnSync('dpkg', ['--version']).status === 0 ? false : 'dpkg is not installed';

/** Each line holds versions in rising order; those joined by `=` are equal in order. */
const vectors = [
  '1.0~rc1 < 1.0 = 1.0-0 < 1.0-0.1 < 1.0-1~ < 1.0-1 < 1.0-1+b1 < 1.0-1.1',
  '0:1 = 1 = 01 = 1-0 = 1-00',
  '1.0-1 < 1.0-1-2',
  '1.0a < 1.0+ < 1.0.',
  '1.01 = 1.1',
  '~~ < ~~a < ~ < 1',
  '9 < 1:0',
  '1.0A < 1.0a',
  '1.2 < 1.10',
  '1.0-1 < 1.0+dfsg-1',
  '1.99999999999999999999998 < 1.99999999999999999999999 < 1.100000000000000000000000',
  '9007199254740992 < 9007199254740993',
  '1.0 < 1.0a < 1.0b1 < 1.0b02 < 1.0b10',
];

test('versions are ordered as deb-version(7) says', () => {
  for (const vector of vectors) {
    const groups = vector.split(' < ').map((group) => group.split(' = '));
    for (const [i, lower] of groups.entries()) {
      for (const [j, upper] of groups.entries()) {
        for (const a of lower) {
          for (const b of upper) {
            assert.equal(Math.sign(compareVersions(a, b)), Math.sign(i - j), `${a} and ${b}`);
          }
        }
      }
    }
  }
});

/** The same numbers for a seed on every machine. */
function numbersBelow(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Versions, dense in what the order turns on: tildes, zeros, hyphens, long numbers, shared beginnings. */
function someVersions(count: number): string[] {
  const below = numbersBelow(20_240_229);
  const pieces = ['0', '00', '1', '10', '9', '12345678901234567890123', 'a', 'Z', '~', '~~', '+', '.', '-', '-0', 'b1'];
  return Array.from({ length: count }, () => {
    const epoch = ['', '', '', '0:', '1:', '01:'][below(6)];
    const body = Array.from({ length: below(5) }, () => pieces[below(pieces.length)]).join('');
    return `${epoch}1${body}`;
  }).filter((version) => versionFault(version) === undefined);
}

test('any two versions are ordered as dpkg orders them', { skip }, () => {
  const versions = someVersions(800);
  const script = `while read -r a b; do
    if dpkg --compare-versions "$a" lt "$b"; then echo -1
    elif dpkg --compare-versions "$a" eq "$b"; then echo 0
    else echo 1; fi
  done`;
  const pairs = versions.slice(1).map((version, index) => [versions[index] ?? '', version] as const);
  const input = pairs.map(([a, b]) => `${a} ${b}\n`).join('');
  const answers = execFileSync('sh', ['-c', script], { input, encoding: 'utf8' }).trim().split('\n').map(Number);
  assert.ok(pairs.length > 500 && new Set(answers).size === 3, 'the pairs must cover older, equal and newer');
  for (const [index, [a, b]] of pairs.entries()) {
    assert.equal(Math.sign(compareVersions(a, b)), answers[index], `${a} and ${b}`);
  }
});

test('the order is a total one: sorting from any order gives one order', () => {
  const versions = someVersions(400);
  const forward = versions.toSorted(compareVersions);
  const backward = versions.toReversed().toSorted(compareVersions);
  for (const [index, version] of forward.entries()) assert.equal(compareVersions(version, backward[index] ?? ''), 0);
  for (const [index, version] of forward.slice(1).entries()) {
    assert.ok(compareVersions(forward[index] ?? '', version) <= 0);
    assert.equal(
      Math.sign(compareVersions(version, forward[index] ?? '')),
      -Math.sign(compareVersions(forward[index] ?? '', version)) + 0,
    );
  }
});

const refused = {
  '': 'is empty',
  '1 0': 'contains " "',
  '1/0': 'contains "/"',
  '../1': 'contains "/"',
  '1_0': 'contains "_"',
  '1^0': 'contains "^"',
  '1\n2': 'contains "\\n"',
  '1ä': 'contains "ä"',
  '1😀': 'contains "😀"',
  '..': 'contains ".."',
  '1..0': 'contains ".."',
  '1-': 'has nothing after its last hyphen',
  '1-2-': 'has nothing after its last hyphen',
  '-1': 'has nothing before its revision',
  '1:-1': 'has nothing before its revision',
  '1:': 'has nothing after its epoch',
  ':1': 'has an empty epoch',
  '1:2:3': 'has a colon after the epoch',
  'a:1': 'has an epoch that is not a number',
  '2147483648:1': 'has an epoch above 2147483647',
  [`1${'0'.repeat(256)}`]: 'is longer than 256 characters',
};

for (const [version, fault] of Object.entries(refused)) {
  test(`the version ${JSON.stringify(version.slice(0, 20))} ${fault}`, () =>
    assert.equal(versionFault(version), fault));
}

const accepted = [
  '1',
  '1.0-1',
  '2147483647:1',
  '1.0~rc1+dfsg-0ubuntu1~22.04.1',
  '1-2-3',
  'v1',
  '0',
  `1${'0'.repeat(255)}`,
];

test('what Debian and others use as versions is accepted', () => {
  for (const version of accepted) assert.equal(versionFault(version), undefined, version);
});

test('dpkg finds no fault with what is accepted, but for a letter in front', { skip }, () => {
  const below = numbersBelow(7);
  const alphabet = ['0', '1', '2', 'a', ':', '-', '~', '+', '.', '_', '/', '^'];
  const candidates = Array.from({ length: 400 }, () =>
    Array.from({ length: 1 + below(4) }, () => alphabet[below(alphabet.length)]).join(''),
  );
  const script = 'while read -r v; do dpkg --validate-version -- "$v" 2>&1 || echo "$v"; done';
  const output = execFileSync('sh', ['-c', script], {
    input: candidates.map((v) => `${v}\n`).join(''),
    encoding: 'utf8',
  });
  const complaints = output
    .split('\n')
    .filter((line) => line.includes('bad syntax') && !line.includes('start with digit'));
  const faulty = new Set(complaints.map((line) => /'(.*)'/.exec(line)?.[1]));
  const both = candidates.filter((version) => faulty.has(version));
  assert.ok(both.length > 50, 'dpkg must have found fault with many of them');
  for (const version of both) assert.notEqual(versionFault(version), undefined, version);
  assert.ok(candidates.some((version) => versionFault(version) === undefined));
});

test('a version without its epoch is what file names hold', () => {
  assert.equal(withoutEpoch('2:1.0-1'), '1.0-1');
  assert.equal(withoutEpoch('1.0-1'), '1.0-1');
});
