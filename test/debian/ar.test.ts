import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAr } from '../../src/debian/ar.ts';
import { Problem } from '../../src/problem.ts';
import { buildAr } from '../debs.ts';

const members = [
  { name: 'debian-binary', body: '2.0\n' },
  { name: 'odd', body: 'abc' },
  { name: 'empty', body: '' },
  { name: 'sixteen-letters!', body: 'x'.repeat(1000) },
];

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function read(bytes: Uint8Array, length = 4096, fileSize = bytes.length) {
  const found: { name: string; size: number; body: string }[] = [];
  for await (const { name, size, body } of readAr(inPieces(bytes, length), fileSize, 'x.deb')) {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    found.push({ name, size, body: Buffer.concat(parts).toString() });
  }
  return found;
}

function refused(bytes: Uint8Array, code: string) {
  return assert.rejects(read(bytes), (error) => {
    assert(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    assert.match(error.what, /^x\.deb: /);
    return true;
  });
}

/** Header of the first member, changed in place. */
function withHeader(at: number, text: string): Buffer {
  const bytes = buildAr([{ name: 'debian-binary', body: '2.0\n' }]);
  bytes.write(text, 8 + at, 'latin1');
  return bytes;
}

test('members come in order with their bytes, whatever the size of the chunks', async () => {
  const expected = members.map(({ name, body }) => ({ name, size: body.length, body }));
  for (const length of [1, 7, 60, 61, 4096]) assert.deepEqual(await read(buildAr(members), length), expected);
});

test('a body that nobody reads, or not to its end, is skipped', async () => {
  const names: string[] = [];
  for await (const { name, body } of readAr(inPieces(buildAr(members), 10), buildAr(members).length, 'x.deb')) {
    names.push(name);
    if (name === 'sixteen-letters!') for await (const _ of body) break;
  }
  assert.deepEqual(names, ['debian-binary', 'odd', 'empty', 'sixteen-letters!']);
});

test('the source is closed when the reader is left early', async () => {
  let closed = false;
  async function* source() {
    try {
      yield* inPieces(buildAr(members), 10);
    } finally {
      closed = true;
    }
  }
  for await (const _ of readAr(source(), buildAr(members).length, 'x.deb')) break;
  assert.equal(closed, true);
});

test('a name that ends in a slash, as GNU ar writes it, is taken without it', async () => {
  assert.equal((await read(withHeader(0, 'debian-binary/  ')))[0]?.name, 'debian-binary');
});

test('a file that is no ar archive is refused', async () => {
  await refused(Buffer.from('PK\x03\x04 something else entirely'), 'ar-not-an-archive');
  await refused(Buffer.alloc(0), 'ar-not-an-archive');
});

test('a package of the old format 0.93 is refused', () =>
  refused(Buffer.from('0.939000\n1024\n'), 'ar-not-an-archive'));

test('a BSD long name is refused', () => refused(withHeader(0, '#1/20           '), 'ar-name-unsupported'));

test('GNU symbol and name tables and references into them are refused', async () => {
  for (const name of ['/', '//', '/0']) await refused(withHeader(0, name.padEnd(16)), 'ar-name-unsupported');
});

test('a name with a blank, a control character or a byte outside ASCII is refused', async () => {
  for (const name of ['a b', 'a\nb', 'a\0', 'é']) {
    await refused(withHeader(0, name.padEnd(16)), 'ar-name-unsupported');
  }
});

test('a header without its end mark is refused', () => refused(withHeader(58, 'xx'), 'ar-header-invalid'));

test('a size that is not plain decimal is refused', async () => {
  for (const size of ['-4', '+4', '0x4', '4 4', '4.0', ' 4', '']) {
    await refused(withHeader(48, size.padEnd(10)), 'ar-header-invalid');
  }
});

test('a member larger than the file is refused before its bytes are read', async () => {
  const bytes = withHeader(48, '9999999999');
  let given = 0;
  async function* source() {
    for await (const piece of inPieces(bytes, 4)) {
      given += piece.length;
      yield piece;
    }
  }
  const reading = readAr(source(), bytes.length, 'x.deb').next();
  await assert.rejects(reading, (error) => error instanceof Problem && error.code === 'ar-truncated');
  assert.equal(given, 68);
});

test('bytes after the last member are refused', async () => {
  await refused(Buffer.concat([buildAr(members), Buffer.from('\n')]), 'ar-truncated');
  await refused(Buffer.concat([buildAr(members), Buffer.alloc(60)]), 'ar-header-invalid');
});

test('an archive cut at any byte that is not the end of a member is refused', async () => {
  const whole = buildAr(members);
  const ends = new Set([8, 72, 136, 196, 1256]);
  assert.equal(whole.length, 1256);
  for (let length = 0; length < whole.length; length++) {
    const cut = read(whole.subarray(0, length));
    if (ends.has(length)) await cut;
    else await assert.rejects(cut, Problem, `cut after ${length} bytes`);
  }
});

test('a source that ends before the promised size is refused', async () => {
  const whole = buildAr(members);
  await assert.rejects(read(whole.subarray(0, 600), 50, whole.length), { code: 'ar-truncated' });
});
