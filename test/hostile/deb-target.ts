import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { binaryIdentity, parseControl } from '../../src/debian/control.ts';
import { parseStanzas } from '../../src/debian/deb822.ts';
import { packagesStanza } from '../../src/debian/packages.ts';
import { scanStanzas } from '../../src/debian/stanza-index.ts';
import { throwProblems } from '../../src/problem.ts';
import { planSuite } from '../../src/publish/plan.ts';
import { scanFile } from '../../src/publish/scan.ts';
import type { Scanned } from '../../src/publish/scanned.ts';
import { shapeOf } from '../../src/publish/shape.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import type { Generator } from '../debian/generator.ts';
import { type ArPart, buildAr, buildTar, canPack, controlText, type Packing, pack } from '../debs.ts';
import { TestClock } from '../store/clocks.ts';
import { assertReadableContents, mutatedTar } from './archive-targets.ts';
import { type Dictionary, mutated } from './mutation.ts';
import type { Target } from './target.ts';
import { assertOneStanza, assertPoolKey, mutatedControl } from './text-targets.ts';

const dictionary: Dictionary = [
  '!<arch>\n',
  '`\n',
  'debian-binary   ',
  'control.tar     ',
  'data.tar        ',
  '2.0\n',
  '/',
];
const packings = (['none', 'gz', 'zst', 'xz', 'bz2', 'lzma'] as const).filter((packing) => canPack(packing));
/** Packing with a program takes a hundred times as long: once in a while is enough. */
const quick = ['none', 'gz', 'zst'] as const;

function packed(generator: Generator, stem: string, tar: Buffer): ArPart {
  const packing: Packing =
    generator.below(40) === 0 ? (packings[generator.below(packings.length)] ?? 'gz') : generator.of(quick);
  const suffix = packing === 'none' ? '' : `.${packing}`;
  const body = pack(packing, tar);
  return {
    name: `${stem}.tar${suffix}`,
    body: generator.below(12) === 0 ? mutated(body, generator, dictionary) : body,
  };
}

/** A .deb in which one layer, now and then two, are not what dpkg-deb would write. */
function mutatedDeb(generator: Generator): Buffer {
  const layer = generator.below(5);
  const control = layer === 0 ? mutatedControl(generator) : Buffer.from(controlText());
  const controlTar = layer === 1 ? mutatedTar(generator) : buildTar([{ name: './control', body: control }]);
  const dataTar = layer === 2 ? mutatedTar(generator) : buildTar([{ name: './usr/bin/hello', body: 'x' }]);
  const members = [
    { name: 'debian-binary', body: generator.below(20) === 0 ? '2.0\nx' : '2.0\n' },
    packed(generator, 'control', controlTar),
    packed(generator, 'data', dataTar),
    ...(generator.below(8) === 0 ? [{ name: '_x', body: 'x' }] : []),
  ];
  const archive = buildAr(generator.below(12) === 0 ? generator.shuffled(members) : members);
  return layer === 3 ? mutated(archive, generator, dictionary) : archive;
}

function listedText(version: string): Uint8Array {
  const control = parseControl(Buffer.from(controlText({ Package: 'resident', Version: version })), 'x.deb');
  const filename = `pool/main/r/resident/resident_${version}_amd64.deb`;
  return packagesStanza({ control, filename, size: 1, md5: 'cd'.repeat(16), sha256: 'ab'.repeat(32) });
}

const published = Buffer.concat([listedText('1'), listedText('2')]);
const list = 'main/binary-amd64/Packages';

/** Scan and plan, as a publish does it: what comes out is what would be signed. */
async function assertPlanned(scanned: Scanned): Promise<void> {
  const shape = shapeOf({
    suite: 'bookworm',
    published: { components: ['main'], architectures: ['amd64'], indexes: new Set([list]) },
    incoming: [{ component: 'main', packages: [scanned] }],
    declared: ['amd64'],
    contents: true,
  });
  const indexes = new Map(shape.needed.map((index) => [index, published]));
  const plan = planSuite({ suite: 'bookworm', shape, indexes, reserved: [], onConflict: 'error' });
  throwProblems(plan.problems);
  for (const { key } of plan.poolFiles) assertPoolKey(key);
  const merged = plan.lists.get(list);
  if (scanned.kind !== 'deb' || merged === undefined) return;
  const names = scanStanzas(merged, list).map((entry) => `${entry.package} ${entry.version} ${entry.architecture}`);
  const own = `${scanned.package} ${scanned.version} ${scanned.architecture}`;
  assert.deepEqual(names.sort(), [own, 'resident 1 amd64', 'resident 2 amd64'].sort());
  assert.equal(parseStanzas(Buffer.from(merged).toString()).length, 3);
}

export const debTarget: Target = {
  name: 'deb',
  cost: 5,
  make: mutatedDeb,
  async check(input, folder) {
    const path = join(folder, 'x.deb');
    await writeFile(path, input);
    const recorder = new Recorder(new TestClock());
    const scanned = await recorder.phase('scan', undefined, (scope) => scanFile(path, { contents: true, scope }));
    assert.equal(scanned.kind === 'source', false);
    if (scanned.kind === 'source') return;
    const { file, control, contents = [] } = scanned;
    const identity = binaryIdentity(control, path);
    const filename = 'pool/main/h/hello/hello.deb';
    assertOneStanza(packagesStanza({ control, filename, ...file }), {
      Package: identity.package,
      Version: identity.version,
      Architecture: identity.architecture,
      Filename: filename,
      SHA256: file.sha256,
    });
    assertReadableContents(contents);
    await assertPlanned(scanned);
  },
};
