import assert from 'node:assert/strict';
import { readAr } from '../../src/debian/ar.ts';
import { mergeContents, renderContents } from '../../src/debian/contents.ts';
import { controlFile, InstalledPaths } from '../../src/debian/deb.ts';
import { TarReader } from '../../src/debian/tar.ts';
import type { Generator } from '../debian/generator.ts';
import { buildAr, buildTar, controlText, type TarPart, writeChecksum } from '../debs.ts';
import { type Dictionary, mutated } from './mutation.ts';
import type { Target } from './target.ts';

const arDictionary: Dictionary = [
  '!<arch>\n',
  '`\n',
  '#1/20',
  '//',
  '/',
  'debian-binary   ',
  'control.tar.gz  ',
  '_x',
  '\n',
];
const tarDictionary: Dictionary = [
  'control',
  './control',
  './',
  '../../etc/passwd',
  'ustar\x0000',
  'ustar  \0',
  '17 path=control\n',
  '12 size=999\n',
  '22 GNU.sparse.major=1\n',
  '00000000000\0',
  '77777777777\0',
  '\x80\0\0\0\0\0\0\0\0\0\0\x01',
  '0000000\0',
  '\0',
  '\n\nPackage: evil\n',
];

/** A pax record, which counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = [1, 2, 3, 4]
    .map((digits) => rest.length + digits)
    .find((sum) => String(sum).length + rest.length === sum);
  return `${length ?? 0}${rest}`;
}

const names = [
  './control',
  'control',
  './',
  '.',
  '/',
  './usr/bin/hello',
  'usr/../control',
  'a\nb',
  'a\tb',
  'FILE',
  '',
] as const;

const records = [paxRecord('path', './control'), paxRecord('size', '3'), paxRecord('comment', 'x'), 'x', 'y'] as const;

/** A small tar archive out of everything that tar(5) knows. */
export function someTar(generator: Generator): Buffer {
  const parts: TarPart[] = [{ name: './', type: '5' }];
  for (let count = generator.below(5); count > 0; count -= 1) {
    const type = generator.of(['0', '0', '0', '\0', '1', '2', '3', '4', '5', '6', '7', 'L', 'K', 'x', 'g', 'S', 'D']);
    const extended = type === 'x' || type === 'g';
    const body = extended ? generator.of(records) : generator.of(['', 'abc', controlText()]);
    const size = generator.below(8) === 0 ? { size: generator.of([0, 1, 511, 512, 8 ** 11 - 1]) } : {};
    const hasBody = generator.below(6) === 0 || ['0', '\0', '7', 'L', 'K', 'x', 'g'].includes(type);
    parts.push({ name: generator.of(names), type, body: hasBody ? body : '', link: generator.of(names), ...size });
  }
  if (generator.below(2) === 0) parts.push({ name: './control', body: controlText() });
  return buildTar(parts);
}

/** Makes every header's checksum fit again, so that what was changed is looked at and not the checksum. */
export function withChecksums(tar: Buffer): Buffer {
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    const block = tar.subarray(at, at + 512);
    if (block.toString('latin1', 257, 262) === 'ustar') writeChecksum(block);
  }
  return tar;
}

export function mutatedTar(generator: Generator): Buffer {
  const tar = someTar(generator);
  if (generator.below(4) === 0) return tar;
  const result = mutated(tar, generator, tarDictionary, someTar(generator));
  return generator.below(4) === 0 ? result : withChecksums(result);
}

async function* inPieces(input: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0, size = 1; at < input.length; at += size, size = (size * 7 + 3) % 1021) {
    yield input.subarray(at, at + size);
  }
}

const ar: Target = {
  name: 'ar',
  cost: 0.3,
  make(generator) {
    const members = ['debian-binary', 'control.tar.gz', 'data.tar.xz', '_gpgorigin', 'x/'].map((name) => ({
      name,
      body: Buffer.alloc(generator.below(90), generator.below(256)),
    }));
    return mutated(buildAr(generator.shuffled(members)), generator, arDictionary);
  },
  async check(input) {
    let total = 8;
    for await (const { size, body } of readAr(inPieces(input), input.length, 'x.deb')) {
      let read = 0;
      for await (const piece of body) read += piece.length;
      assert.equal(read, size);
      total += 60 + size + (size % 2);
    }
    assert.equal(total, input.length, 'every byte belongs to a member');
  },
};

const tar: Target = {
  name: 'tar',
  cost: 0.3,
  make: mutatedTar,
  check(input) {
    const rules = { maxEntries: 100, maxNameBytes: 10_000 };
    const whole = new TarReader('x.tar', { dialect: 'extended', ...rules });
    const entries = whole.push(input);
    whole.end();
    for (const { name, offset, size } of entries) {
      assert.notEqual(name, '');
      assert.ok(offset % 512 === 0 && offset + size <= input.length, 'content lies inside the archive');
    }
    const pieces = new TarReader('x.tar', { dialect: 'extended', ...rules });
    const again: typeof entries = [];
    for (let at = 0; at < input.length; at += 313) again.push(...pieces.push(input.subarray(at, at + 313)));
    pieces.end();
    assert.deepEqual(again, entries, 'how the bytes are cut makes no difference');
  },
};

const controlTar: Target = {
  name: 'control-tar',
  cost: 0.3,
  make: mutatedTar,
  check(input) {
    const control = controlFile(input, 'x.deb');
    assert.ok(
      input.buffer === control.buffer && control.length <= input.length,
      'what is read lies inside the archive',
    );
  },
};

const dataTar: Target = {
  name: 'data-tar',
  cost: 0.3,
  make: mutatedTar,
  check(input) {
    const installed = new InstalledPaths('x.deb');
    installed.push(input);
    assertReadableContents(installed.end());
  },
};

/** What one package brings into Contents can be read back, changed and taken out again: it poisons nothing for those who come after. */
export function assertReadableContents(paths: readonly string[]): void {
  const own = { location: 'utils/hello', paths };
  const other = { location: 'utils/other', paths: ['usr/bin/other', 'FILE'] };
  const first = renderContents([own]);
  for (const line of Buffer.from(first).toString('latin1').split('\n').slice(0, -1)) {
    assert.match(line, /^[^\t]+\tutils\/hello$/);
  }
  const both = mergeContents(first, { add: [other], remove: [] }, 'Contents');
  const left = mergeContents(both, { add: [], remove: [own] }, 'Contents');
  assert.deepEqual(Buffer.from(left).toString(), Buffer.from(renderContents([other])).toString());
}

export const archiveTargets: readonly Target[] = [ar, tar, controlTar, dataTar];
