import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fieldValue,
  parseStanzas,
  parseStrictStanza,
  quoted,
  renderStanza,
  trimBlanks,
} from '../../src/debian/deb822.ts';
import { Problem } from '../../src/problem.ts';

const index = `Package: hello
Depends: libc6 (>= 2.34),
 libfoo1
Description: greeting
 Says hello.
 .
 And goodbye.

Package: empty
Recommends:
SHA256:
 aa 1 a
 bb 2 b

`;

test('stanzas keep the order, the continuation lines and the empty first lines of their fields', () => {
  assert.deepEqual(parseStanzas(index), [
    [
      { name: 'Package', value: 'hello' },
      { name: 'Depends', value: 'libc6 (>= 2.34),\n libfoo1' },
      { name: 'Description', value: 'greeting\n Says hello.\n .\n And goodbye.' },
    ],
    [
      { name: 'Package', value: 'empty' },
      { name: 'Recommends', value: '' },
      { name: 'SHA256', value: '\n aa 1 a\n bb 2 b' },
    ],
  ]);
});

test('a rendered stanza is the text it was read from', () => {
  const [first = [], second = []] = parseStanzas(index);
  assert.equal(`${renderStanza(first)}\n${renderStanza(second)}\n`, index);
});

test('more than one blank after the colon, and blanks at the end, survive reading and rendering', () => {
  const text = 'Package:  two \nTight:none\n';
  const [stanza = []] = parseStanzas(text);
  assert.deepEqual(stanza, [
    { name: 'Package', value: ' two ' },
    { name: 'Tight', value: 'none' },
  ]);
  assert.equal(renderStanza(stanza), 'Package:  two \nTight: none\n');
});

test('a line of blanks continues a field of a published stanza, as it does for apt', () => {
  const [stanza, ...others] = parseStanzas('Description: a\n \n b\nPackage: x\n');
  assert.deepEqual(others, []);
  assert.equal(fieldValue(stanza ?? [], 'Description'), 'a\n \n b');
});

test('empty lines, however many, separate stanzas and make none', () => {
  assert.deepEqual(parseStanzas('\n\nPackage: a\n\n\n\nPackage: b').length, 2);
  assert.deepEqual(parseStanzas(''), []);
});

test('a value is found whatever the case of its name, and the first one of that name counts', () => {
  const [stanza = []] = parseStanzas('Suite: a\nsuite: b\n');
  assert.equal(fieldValue(stanza, 'SUITE'), 'a');
  assert.equal(fieldValue(stanza, 'Codename'), undefined);
});

for (const [what, text] of [
  ['without a colon', 'Package: a\nnonsense\n'],
  ['with nothing before its colon', ': a\n'],
  ['that continues nothing', ' a\n'],
  ['that continues a field of another stanza', 'Package: a\n\n b\n'],
] as const) {
  test(`a line of an index ${what} stops the reading`, () => {
    assert.throws(() => parseStanzas(text), { name: 'Problem', code: 'stanza-malformed' });
  });
}

test('quoted text stays on one line and is cut after 60 characters', () => {
  assert.equal(quoted('a\n::error::b\u0007'), '"a\\n::error::b\\u0007"');
  assert.equal(quoted('x'.repeat(61)), `"${'x'.repeat(60)}…"`);
});

test('only blanks and tabs are trimmed, not the other white space of Unicode', () => {
  assert.equal(trimBlanks(' \t\u00a0a\u2028 \t'), '\u00a0a\u2028');
  assert.equal(trimBlanks(' \t '), '');
});

const document = { code: 'note', title: 'Note', name: 'note.txt', remedy: 'write it again', limit: 1 << 20 };

test('a strict reading gives names the spelling of Debian and drops the blanks around values', () => {
  const stanza = parseStrictStanza(Buffer.from('PACKAGE: \t hello \t\nx-Own:\n a\n b \n'), document);
  assert.deepEqual(stanza, [
    { name: 'Package', value: 'hello' },
    { name: 'x-Own', value: '\n a\n b' },
  ]);
});

test('a problem says where, for three places, and how many more there are', () => {
  assert.throws(
    () => parseStrictStanza(Buffer.from(`Aa: 1\n${'# remark\n'.repeat(5)}`), document, 4),
    new Problem({
      code: 'note-comment',
      title: 'Note: comment',
      what: 'note.txt has a comment in line 5, line 6, line 7 and 2 more.',
      advice: 'Remove the lines that begin with "#", then write it again.',
    }),
  );
});

test('a file of nothing but faults, as large as the limit allows, is refused in the time of one reading', () => {
  const started = process.hrtime.bigint();
  for (const unit of ['\n', 'a\r\n', '#\n', 'Aa: \n', ' \t', 'Aa: 1\n\n']) {
    const text = `Xx: 1\n${unit.repeat(Math.floor((document.limit - 9) / unit.length))}b`;
    assert.throws(() => parseStrictStanza(Buffer.from(text), document), /note\.txt/);
  }
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  assert.ok(seconds < 6, `six files took ${seconds} s`);
});
