import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { decompress } from '../../src/codec/codecs.ts';
import { maxControlTarSize, maxDataTarSize } from '../../src/debian/deb.ts';
import { Problem } from '../../src/problem.ts';
import { scanFile } from '../../src/publish/scan.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { buildAr, buildTar, canPack, controlText, type Packing, pack } from '../debs.ts';
import { Debs } from '../publish/publishing.ts';
import { TestClock } from '../store/clocks.ts';

const mebibyte = 2 ** 20;

async function scan(name: string, deb: Uint8Array): Promise<unknown> {
  using debs = new Debs();
  const path = `${debs.folder}/${name}.deb`;
  writeFileSync(path, deb);
  const recorder = new Recorder(new TestClock());
  return await recorder.phase('scan', undefined, (scope) => scanFile(path, { contents: true, scope }));
}

function refusedFor(limit: number, what: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Problem, `${error}`);
    assert.equal(error.code, 'decompression-limit');
    assert.match(error.what, what);
    assert.ok(error.what.includes(String(limit)), `${error.what} names the limit, ${limit}`);
    return true;
  };
}

/** A tar archive that holds so many zeros. */
function hollowTar(size: number): Buffer {
  return buildTar([
    { name: './control', body: controlText() },
    { name: './zeros', body: Buffer.alloc(size) },
  ]);
}

function debOf(control: { packing: Packing; tar: Uint8Array }, data: { packing: Packing; tar: Uint8Array }): Buffer {
  const member = (stem: string, { packing, tar }: typeof control) => ({
    name: packing === 'none' ? `${stem}.tar` : `${stem}.tar.${packing}`,
    body: pack(packing, tar),
  });
  return buildAr([{ name: 'debian-binary', body: '2.0\n' }, member('control', control), member('data', data)]);
}

describe('what unpacks to far more than it is', () => {
  const honest = { packing: 'gz', tar: buildTar([{ name: './control', body: controlText() }]) } as const;

  for (const packing of (['gz', 'xz', 'zst'] as const).filter((each) => canPack(each))) {
    test(`as control.tar.${packing} is refused, with the limit in the message`, async () => {
      const deb = debOf({ packing, tar: hollowTar(maxControlTarSize) }, honest);
      assert.ok(deb.length < mebibyte / 4, 'a bomb is small');
      await assert.rejects(
        scan('x', deb),
        refusedFor(maxControlTarSize, /x\.deb: control\.tar\.\w+ unpacks to more than/),
      );
    });
  }

  for (const packing of ['gz', 'zst'] as const) {
    test(`as data.tar.${packing} is refused, with the limit in the message`, async () => {
      const deb = debOf(honest, { packing, tar: hollowTar(64 * mebibyte) });
      assert.ok(deb.length < mebibyte / 4, 'a bomb is small');
      // Of so small a package: the least that is granted to each.
      const limit = maxDataTarSize(0);
      await assert.rejects(scan('x', deb), refusedFor(limit, /x\.deb: data\.tar\.\w+ unpacks to more than/));
    });
  }
});

describe('what costs far more time or room than it is', () => {
  test('zstd in frames of nothing, which take a decoder each, is refused', async () => {
    const frame = zstdCompressSync(Buffer.alloc(0));
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
    for (const piece of [frame, skippable]) {
      const bomb = Buffer.concat(Array.from({ length: 100_000 }, () => piece));
      const began = performance.now();
      await assert.rejects(decompress('zst', bomb, mebibyte, 'The data'), {
        code: 'compressed-data-corrupt',
        what: 'The data is damaged: it is cut into tiny frames.',
      });
      assert.ok(performance.now() - began < 2000);
    }
  });

  test('zstd in frames as tools write them is read, however many', async () => {
    const noise = Buffer.from(Array.from({ length: 1500 }, (_, index) => (index * index * 2654435761) >>> 13));
    const bytes = Buffer.concat(Array.from({ length: 2000 }, () => zstdCompressSync(noise)));
    assert.equal((await decompress('zst', bytes, 4 * mebibyte, 'The data')).length, 2000 * 1500);
  });

  test('bzip2 in streams of one byte takes no room for 900 kB each', {
    skip: !canPack('bz2') && 'bzip2 is not installed',
  }, async () => {
    const stream = pack('bz2', Buffer.from('a'));
    const many = Buffer.concat(Array.from({ length: 20_000 }, () => stream));
    const before = process.memoryUsage.rss();
    assert.equal((await decompress('bz2', many, mebibyte, 'The data')).length, 20_000);
    const grown = process.memoryUsage.rss() - before;
    assert.ok(grown < 150 * mebibyte, `${Math.round(grown / mebibyte)} MiB more than before`);
  });
});
