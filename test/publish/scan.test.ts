import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fieldValue } from '../../src/debian/deb822.ts';
import { Problem, Problems } from '../../src/problem.ts';
import { scanAll, scanFile } from '../../src/publish/scan.ts';
import type { Scanned, ScannedBinary } from '../../src/publish/scanned.ts';
import type { PhaseScope } from '../../src/timing/recorder.ts';
import {
  type ArPart,
  buildAr,
  buildChanges,
  buildDeb,
  buildDsc,
  buildTar,
  canPack,
  controlText,
  debMembers,
  machineHas,
  type NamedFiles,
  pack,
} from '../debs.ts';

const mebibyte = 1024 * 1024;

/** A phase that counts what it is told; `around` is called for each read, once the file is open. */
function phase(around: (run: () => unknown) => unknown = (run) => run()) {
  const seen = { work: [] as string[], expected: 0, open: 0, mostOpen: 0 };
  const scope: PhaseScope = {
    id: 0,
    name: 'scan',
    now: () => 0,
    request: () => assert.fail('scanning makes no store request'),
    expect: (total) => {
      seen.expected = total;
    },
    work: async (work, bytes, run) => {
      seen.work.push(`${work} ${bytes}`);
      seen.open += 1;
      seen.mostOpen = Math.max(seen.mostOpen, seen.open);
      let result: ReturnType<typeof run> | undefined;
      await around(() => {
        result = run();
        return result;
      });
      seen.open -= 1;
      assert(result !== undefined);
      return result;
    },
  };
  return { scope, seen };
}

function folder(t: TestContext, files: NamedFiles = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'apt-publish-scan-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes);
  return directory;
}

async function scanBytes(t: TestContext, bytes: Uint8Array, contents = true, name = 'x.deb'): Promise<ScannedBinary> {
  const directory = folder(t, { [name]: bytes });
  const scanned = await scanFile(join(directory, name), { contents, scope: phase().scope });
  assert(scanned.kind !== 'source');
  return scanned;
}

function all(paths: readonly string[], concurrency = 4, contents = false): Promise<Scanned[]> {
  return scanAll(paths, { contents, concurrency, scope: phase().scope });
}

/** Expects exactly these problems, each `code file`: the file is the first that the message names. */
async function refused(scanning: Promise<unknown>, ...expected: string[]): Promise<void> {
  const failure = await scanning.then(
    () => assert.fail('the input was taken'),
    (reason: unknown) => reason,
  );
  const problems = failure instanceof Problems ? failure.all : [failure];
  const found = problems.map((problem) => {
    assert(problem instanceof Problem, String(problem));
    return `${problem.code} ${basename(/[^\s:]+\.(?:[ud]?deb|dsc|changes|rpm|gz)\b/.exec(problem.what)?.[0] ?? '')}`;
  });
  assert.deepEqual(found, expected);
}

function digest(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex');
}

test('one read yields sums, control fields, identity and paths', async (t) => {
  const bytes = buildDeb({
    fields: { Source: 'greetings (0.9)', 'X-Unknown': 'kept' },
    files: { 'usr/bin/hello': 'x', 'etc/hello.conf': '' },
  });
  const scanned = await scanBytes(t, bytes);
  assert.deepEqual(
    { ...scanned, control: scanned.control.map(({ name }) => name), file: { ...scanned.file, path: '' } },
    {
      kind: 'deb',
      file: { path: '', size: bytes.length, md5: digest('md5', bytes), sha256: digest('sha256', bytes) },
      package: 'hello',
      version: '1.0',
      architecture: 'amd64',
      source: 'greetings',
      control: [
        'Package',
        'Version',
        'Architecture',
        'Maintainer',
        'Section',
        'Priority',
        'Description',
        'Source',
        'X-Unknown',
      ],
      contents: ['usr/bin/hello', 'etc/hello.conf'],
    },
  );
});

for (const controlPacking of ['none', 'gz', 'xz', 'zst'] as const) {
  for (const dataPacking of ['none', 'gz', 'xz', 'bz2', 'lzma', 'zst'] as const) {
    const skip = canPack(controlPacking) && canPack(dataPacking) ? false : 'xz or bzip2 is not installed';
    test(`control.tar as ${controlPacking} with data.tar as ${dataPacking} is read`, { skip }, async (t) => {
      const files = { 'usr/share/doc/hello': 'x'.repeat(5000) };
      const scanned = await scanBytes(t, buildDeb({ controlPacking, dataPacking, files }));
      assert.equal(fieldValue(scanned.control, 'Package'), 'hello');
      assert.deepEqual(scanned.contents, ['usr/share/doc/hello']);
    });
  }
}

const noDpkg = machineHas('dpkg-deb') ? false : 'dpkg-deb is not installed';

test('packages built by dpkg-deb are read as dpkg-deb reads them', { skip: noDpkg }, async (t) => {
  const directory = folder(t);
  const tree = join(directory, 'tree');
  const deep = `usr/${'d'.repeat(110)}/${'f'.repeat(90)}`;
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true });
  mkdirSync(join(tree, deep, '..'), { recursive: true });
  writeFileSync(join(tree, 'DEBIAN/control'), controlText({ 'Multi-Arch': 'foreign' }));
  writeFileSync(join(tree, deep), 'x'.repeat(3000));
  execFileSync('sh', ['-c', 'ln -s target usr/link && echo y > "usr/a name é" && ln usr/link usr/hard'], { cwd: tree });
  for (const options of [['-Zxz'], ['-Zgzip'], ['-Znone'], ['-Zzstd'], ['-Zxz', '--no-uniform-compression']]) {
    const path = join(directory, 'built.deb');
    execFileSync('dpkg-deb', ['--root-owner-group', ...options, '--build', tree, path], { stdio: 'ignore' });
    const scanned = await scanFile(path, { contents: true, scope: phase().scope });
    assert(scanned.kind !== 'source');
    const listed = execFileSync(
      'sh',
      ['-c', 'dpkg-deb --fsys-tarfile "$1" | tar -t --quoting-style=literal', '-', path],
      {
        encoding: 'utf8',
      },
    );
    const expected = listed.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
    assert.deepEqual(
      scanned.contents,
      expected.map((name) => name.slice(2)),
      options.join(' '),
    );
    const lines = execFileSync('dpkg-deb', ['-c', path], { encoding: 'utf8' }).trimEnd().split('\n');
    assert.equal(scanned.contents?.length, lines.filter((line) => !line.startsWith('d')).length);
    for (const { name, value } of scanned.control) {
      assert.equal(execFileSync('dpkg-deb', ['-f', path, name], { encoding: 'utf8' }), `${value}\n`);
    }
  }
});

test('packages built for these tests are sound to dpkg-deb', { skip: noDpkg }, (t) => {
  const path = join(folder(t, { 'x.deb': buildDeb({ files: { 'usr/bin/hello': 'x' } }) }), 'x.deb');
  assert.equal(execFileSync('dpkg-deb', ['-f', path, 'Package'], { encoding: 'utf8' }), 'hello\n');
  assert.match(execFileSync('dpkg-deb', ['-c', path], { encoding: 'utf8' }), /\.\/usr\/bin\/hello\n$/);
});

const [format, control, data] = debMembers({ files: { a: 'x' } });
assert(format !== undefined && control !== undefined && data !== undefined);

function controlTar(...entries: Parameters<typeof buildTar>[0]): ArPart {
  return { name: 'control.tar', body: buildTar(entries) };
}

const good = controlText();
const refusedArchives: readonly [sentence: string, bytes: Uint8Array, code: string][] = [
  [
    'control.tar.bz2',
    buildAr([format, { name: 'control.tar.bz2', body: control.body }, data]),
    'deb-member-unsupported',
  ],
  ['debian-binary 3.0', buildAr([{ name: 'debian-binary', body: '3.0\n' }, control, data]), 'deb-format-version'],
  ['a foreign member in front', buildAr([format, { name: 'foreign', body: '' }, control, data]), 'deb-member-order'],
  ['data.tar before control.tar', buildAr([format, data, control]), 'deb-member-order'],
  ['no debian-binary', buildAr([control, data]), 'deb-member-order'],
  ['no data.tar', buildAr([format, control]), 'deb-incomplete'],
  ['a cut inside data.tar', buildAr([format, control, data]).subarray(0, -20), 'ar-truncated'],
  ['bytes after the last member', Buffer.concat([buildAr([format, control, data]), Buffer.from('x')]), 'ar-truncated'],
  ['two control.tar members', buildAr([format, control, control, data]), 'deb-member-order'],
  [
    'control twice in control.tar',
    buildAr([format, controlTar({ name: 'control', body: good }, { name: './control', body: good }), data]),
    'deb-control-twice',
  ],
  [
    'control as a symlink',
    buildAr([format, controlTar({ name: './control', type: '2', link: '/etc/passwd' }), data]),
    'deb-control-not-a-file',
  ],
  [
    'control of 64 MiB',
    buildAr([
      format,
      { name: 'control.tar.gz', body: pack('gz', buildTar([{ name: 'control', body: Buffer.alloc(64 * mebibyte) }])) },
      data,
    ]),
    'decompression-limit',
  ],
  [
    'control.tar.gz of 256 MiB zeros',
    buildAr([format, { name: 'control.tar.gz', body: pack('gz', Buffer.alloc(256 * mebibyte)) }, data]),
    'decompression-limit',
  ],
  [
    'control.tar.gz that is not gzip',
    buildAr([format, { name: 'control.tar.gz', body: 'no gzip at all' }, data]),
    'compressed-data-corrupt',
  ],
  ['a Package that leaves its folder', buildDeb({ fields: { Package: '../up' } }), 'control-package'],
];

for (const [sentence, bytes, code] of refusedArchives) {
  test(`a package with ${sentence} is refused, with and without contents`, async (t) => {
    for (const contents of [true, false]) await refused(scanBytes(t, bytes, contents), `${code} x.deb`);
  });
}

test('a package cut at any byte is refused, without a crash and without an end to wait for', async (t) => {
  const whole = buildDeb({ files: { a: 'x' }, controlPacking: 'zst' });
  const path = join(folder(t, { 'x.deb': whole }), 'x.deb');
  for (let length = whole.length - 1; length >= 0; length--) {
    truncateSync(path, length);
    const scanning = scanFile(path, { contents: true, scope: phase().scope });
    await assert.rejects(scanning, Problem, `cut after ${length} bytes`);
  }
});

test('a data.tar cut inside, in a sound ar archive, is noticed when contents are wanted', async (t) => {
  const bytes = buildAr([format, control, { name: data.name, body: data.body.slice(0, -10) }]);
  await refused(scanBytes(t, bytes), 'compressed-data-corrupt x.deb');
  assert.equal((await scanBytes(t, bytes, false)).contents, undefined);
});

test('a data.tar that unpacks to a multiple out of all proportion is refused when contents are wanted', async (t) => {
  const zeros = buildTar([{ name: './zeros', body: Buffer.alloc(65 * mebibyte) }]);
  const bytes = buildAr([format, control, { name: 'data.tar.zst', body: pack('zst', zeros) }]);
  await refused(scanBytes(t, bytes), 'decompression-limit x.deb');
  assert.equal((await scanBytes(t, bytes, false)).package, 'hello');
});

for (const dataPacking of ['none', 'gz', 'xz', 'bz2', 'lzma', 'zst'] as const) {
  const skip = canPack(dataPacking) ? false : 'xz or bzip2 is not installed';
  test(`a fault early in a long data.tar as ${dataPacking} ends the read cleanly`, { skip }, async (t) => {
    const noise = createHash('shake256', { outputLength: 2 * mebibyte }).digest();
    const suffix = dataPacking === 'none' ? '' : `.${dataPacking}`;
    const bytes = buildAr([format, control, { name: `data.tar${suffix}`, body: pack(dataPacking, noise) }]);
    await refused(scanBytes(t, bytes), 'tar-invalid x.deb');
    assert.equal((await scanBytes(t, bytes, false)).package, 'hello');
  });
}

test('a large package is read in bounded memory, its data.tar passed over or listed', async (t) => {
  const size = 256 * mebibyte;
  const header = buildTar([{ name: './big', size }]).subarray(0, 512);
  const start = buildAr([format, control, { name: 'data.tar', body: header }]);
  start.write(String(size + 1536).padEnd(10), start.length - 512 - 12, 'latin1');
  const path = join(folder(t, { 'x.deb': start }), 'x.deb');
  truncateSync(path, start.length + size + 1024);
  for (const contents of [false, true]) {
    const before = process.resourceUsage().maxRSS;
    const scanned = await scanFile(path, { contents, scope: phase().scope });
    assert.equal(scanned.kind === 'deb' && scanned.file.size, start.length + size + 1024);
    assert(process.resourceUsage().maxRSS - before < size / 2 / 1024, 'resident memory grows with the package');
    if (contents) assert.deepEqual(scanned.kind === 'deb' && scanned.contents, ['big']);
  }
});

function tarOf(size: number): Buffer {
  return buildTar([{ name: './file', body: randomBytes(size) }]);
}

test('a package that is sent in parts has the sums of each, and a smaller one none', async (t) => {
  const data = { name: 'data.tar', body: tarOf(17 * mebibyte) };
  const large = buildAr([format, control, data]);
  for (const contents of [true, false]) {
    const { file } = await scanBytes(t, large, contents);
    const parts = [0, 8, 16].map((start) => large.subarray(start * mebibyte, (start + 8) * mebibyte));
    assert.deepEqual(
      file.scanned?.parts,
      parts.map((part) => createHash('sha256').update(part).digest('hex')),
    );
    assert.equal(file.sha256, createHash('sha256').update(large).digest('hex'));
    assert.equal(file.md5, createHash('md5').update(large).digest('hex'));
  }
  const small = { ...data, body: tarOf(5 * mebibyte) };
  assert.equal((await scanBytes(t, buildAr([format, control, small]))).file.scanned, undefined);
});

test('Package-Type makes a .deb a udeb, and a file name that contradicts it is refused', async (t) => {
  const udeb = buildDeb({ fields: { 'Package-Type': 'udeb' } });
  assert.equal((await scanBytes(t, udeb)).kind, 'udeb');
  assert.equal((await scanBytes(t, buildDeb(), false, 'x.ddeb')).kind, 'ddeb');
  await refused(scanBytes(t, udeb, false, 'x.ddeb'), 'deb-package-type x.ddeb');
});

test('a file that is missing, a directory, a fifo or of another kind is refused', async (t) => {
  const directory = folder(t, { 'x.rpm': Buffer.alloc(0) });
  mkdirSync(join(directory, 'dir.deb'));
  execFileSync('mkfifo', [join(directory, 'fifo.deb')]);
  await refused(
    all(['gone.deb', 'dir.deb', 'fifo.deb', 'x.rpm'].map((name) => join(directory, name))),
    'input-not-found gone.deb',
    'input-not-a-file dir.deb',
    'input-not-a-file fifo.deb',
    'input-kind-unknown x.rpm',
  );
});

test('a file that grows, shrinks, is overwritten or replaced while it is read is refused as changed', async (t) => {
  // The larger is hashed by another thread.
  for (const bytes of [buildDeb(), buildAr([format, control, { name: 'data.tar', body: tarOf(5 * mebibyte) }])]) {
    await refusedAsChanged(t, bytes);
  }
});

async function refusedAsChanged(t: TestContext, bytes: Buffer): Promise<void> {
  const directory = folder(t, { 'other.deb': bytes });
  const path = join(directory, 'x.deb');
  const changes = {
    grows: () => appendFileSync(path, 'x'),
    shrinks: () => truncateSync(path, 100),
    'is overwritten': () => writeFileSync(path, Buffer.alloc(bytes.length)),
    'is replaced': () => renameSync(join(directory, 'other.deb'), path),
    'is removed': () => rmSync(path),
  };
  for (const [how, change] of Object.entries(changes)) {
    for (const first of [true, false]) {
      writeFileSync(path, bytes);
      utimesSync(path, 1, 1);
      writeFileSync(join(directory, 'other.deb'), bytes);
      const { scope } = phase(async (run) => {
        if (first) change();
        await run();
        if (!first) change();
      });
      const scanning = scanFile(path, { contents: true, scope });
      await assert.rejects(scanning, { code: 'file-changed' }, `${how} ${first ? 'before' : 'after'} the read`);
    }
  }
}

const tarballs = {
  'hello_1.0.orig.tar.gz': Buffer.from('upstream'),
  'hello_1.0-1.debian.tar.xz': Buffer.from('debian'),
};
const dsc = buildDsc(tarballs);
const source: NamedFiles = { 'hello_1.0-1.dsc': dsc, ...tarballs };

test('a .dsc yields itself and the files it names, each hashed', async (t) => {
  const directory = folder(t, source);
  const [scanned, ...others] = await all([join(directory, 'hello_1.0-1.dsc')]);
  assert(scanned?.kind === 'source');
  assert.deepEqual(others, []);
  assert.deepEqual([scanned.package, scanned.version], ['hello', '1.0-1']);
  assert.deepEqual(
    scanned.files,
    Object.entries(source).map(([name, bytes]) => ({
      path: join(directory, name),
      size: bytes.length,
      md5: digest('md5', bytes),
      sha256: digest('sha256', bytes),
    })),
  );
});

test('every file of a .dsc that is missing or has another size or other sums is named', async (t) => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => Buffer.from(letter.repeat(4)));
  assert(a !== undefined && b !== undefined && c !== undefined && d !== undefined);
  const text = buildDsc({ hello_a: a, hello_b: b, hello_c: c, hello_d: d })
    .toString()
    .replaceAll(digest('md5', d), digest('md5', c));
  const directory = folder(t, {
    'h.dsc': Buffer.from(text),
    hello_b: b.subarray(2),
    hello_c: Buffer.from('cxcc'),
    hello_d: d,
  });
  const scanning = all([join(directory, 'h.dsc')]);
  await refused(
    scanning,
    'listed-file-missing h.dsc',
    'listed-file-differs h.dsc',
    'listed-file-differs h.dsc',
    'listed-file-differs h.dsc',
  );
  await assert.rejects(
    scanning,
    /lists hello_a, .*lists hello_b, .*2 bytes instead of 4.*lists hello_c, .*SHA-256.*lists hello_d, .*MD5/s,
  );
});

test('a .changes stands for the packages it lists, in the order of the list', async (t) => {
  const files = { 'hello_1.0-1_amd64.deb': buildDeb(), ...source, 'hello_1.0-1_amd64.buildinfo': Buffer.from('x') };
  const directory = folder(t, { ...files, 'h.changes': buildChanges(files) });
  const scanned = await all([join(directory, 'h.changes')]);
  assert.deepEqual(
    scanned.map(({ kind, package: name }) => [kind, name]),
    [
      ['deb', 'hello'],
      ['source', 'hello'],
    ],
  );
});

test('every file of a .changes is held against it, those that are no packages too', async (t) => {
  const files = { 'h.deb': buildDeb(), 'h.buildinfo': Buffer.from('x'), 'gone.udeb': Buffer.from('x') };
  const changes = buildChanges(files);
  const other = { 'h.deb': buildDeb({ fields: { Section: 'misc' } }), 'h.buildinfo': Buffer.from('y') };
  const directory = folder(t, { ...other, 'h.changes': changes });
  await refused(
    all([join(directory, 'h.changes')]),
    'listed-file-differs h.changes',
    'listed-file-differs h.changes',
    'listed-file-missing h.changes',
  );
});

test('a file that is given, given again and listed is read once and counts once', async (t) => {
  const files = { 'h.deb': buildDeb(), ...source };
  const directory = folder(t, { ...files, 'h.changes': buildChanges(files) });
  const { scope, seen } = phase();
  const given = ['h.deb', 'h.changes', './h.deb', 'hello_1.0-1.dsc', 'h.changes'].map((name) => `${directory}/${name}`);
  const scanned = await scanAll(given, { contents: false, concurrency: 2, scope });
  assert.deepEqual(
    scanned.map(({ kind }) => kind),
    ['deb', 'source'],
  );
  assert.equal(seen.work.length, 5);
  assert.equal(seen.expected, 5);
  assert(seen.work.includes(`unpack ${files['h.deb'].length}`) && seen.work.includes(`hash ${dsc.length}`));
});

test('results keep the order of the inputs, and no more files are open than allowed', async (t) => {
  const names = Array.from({ length: 12 }, (_, index) => `p${String((index * 5) % 12).padStart(2, '0')}`);
  const directory = folder(
    t,
    Object.fromEntries(names.map((name) => [`${name}.deb`, buildDeb({ fields: { Package: name } })])),
  );
  for (const concurrency of [1, 3, 50]) {
    // Files that come late end first when they may.
    let left = names.length;
    const { scope, seen } = phase(async (run) => {
      const turns = left--;
      await run();
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    });
    const paths = names.map((name) => join(directory, `${name}.deb`));
    const scanned = await scanAll(paths, { contents: false, concurrency, scope });
    assert.deepEqual(
      scanned.map((found) => found.package),
      names,
    );
    assert.equal(seen.mostOpen, Math.min(concurrency, names.length));
  }
});

test('source packages wait for their files without blocking one another at concurrency 1', async (t) => {
  const directory = folder(t, source);
  mkdirSync(join(directory, 'two'));
  const other = { 'bye_1.tar.xz': Buffer.from('bye') };
  writeFileSync(join(directory, 'two/bye_1.dsc'), buildDsc(other, { Source: 'bye', Version: '1' }));
  writeFileSync(join(directory, 'two/bye_1.tar.xz'), other['bye_1.tar.xz']);
  const scanned = await all([join(directory, 'hello_1.0-1.dsc'), join(directory, 'two/bye_1.dsc')], 1);
  assert.deepEqual(
    scanned.map((found) => found.package),
    ['hello', 'bye'],
  );
});

test('the problems of all files are thrown together, in the order of the inputs', async (t) => {
  const directory = folder(t, {
    'a.deb': Buffer.from('no'),
    'b.deb': buildDeb(),
    'c.deb': buildDeb({ fields: { Package: 'Upper' } }),
  });
  await refused(
    all(['a.deb', 'b.deb', 'c.deb', 'd.deb'].map((name) => join(directory, name))),
    'ar-not-an-archive a.deb',
    'control-package c.deb',
    'input-not-found d.deb',
  );
});

test('the problem of a file that is given and listed is thrown once', async (t) => {
  const files = { 'h.deb': Buffer.from('no') };
  const directory = folder(t, { ...files, 'h.changes': buildChanges(files) });
  await refused(all(['h.deb', 'h.changes'].map((name) => join(directory, name))), 'ar-not-an-archive h.deb');
});

test('one package as a .deb and as a .udeb is a problem even when the bytes are the same', async (t) => {
  const directory = folder(t, { 'h.deb': buildDeb(), 'h.udeb': buildDeb() });
  await refused(all(['h.deb', 'h.udeb'].map((name) => join(directory, name))), 'package-twice h.deb');
});

test('a package twice in the batch with the same bytes counts once', async (t) => {
  const directory = folder(t, { 'a.deb': buildDeb(), 'b.deb': buildDeb() });
  const scanned = await all([join(directory, 'a.deb'), join(directory, 'b.deb')]);
  assert.deepEqual(
    scanned.map((found) => found.kind !== 'source' && basename(found.file.path)),
    ['a.deb'],
  );
});

test('a package twice in the batch with other bytes is a problem that names both files', async (t) => {
  const directory = folder(t, { 'a.deb': buildDeb(), 'b.deb': buildDeb({ files: { a: 'x' } }) });
  const scanning = all([join(directory, 'a.deb'), join(directory, 'b.deb')]);
  await refused(scanning, 'package-twice a.deb');
  await assert.rejects(scanning, /b\.deb are both hello 1\.0 \(amd64\)/);
});

test('two revisions of one source share the upstream tarball, and must mean the same bytes', async (t) => {
  const directory = folder(t, source);
  for (const upstream of ['upstream', 'something else']) {
    const second = join(directory, upstream.replace(' ', '-'));
    const files = { 'hello_1.0.orig.tar.gz': Buffer.from(upstream), 'hello_1.0-2.debian.tar.xz': Buffer.from('newer') };
    mkdirSync(second);
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(second, name), bytes);
    writeFileSync(join(second, 'hello_1.0-2.dsc'), buildDsc(files, { Version: '1.0-2' }));
    const scanning = all([join(directory, 'hello_1.0-1.dsc'), join(second, 'hello_1.0-2.dsc')]);
    if (upstream === 'upstream') assert.equal((await scanning).length, 2);
    else await refused(scanning, 'source-file-twice hello_1.0.orig.tar.gz');
  }
});

test('a .changes that lists itself is refused rather than waited for', async (t) => {
  const directory = folder(t, { 'h.changes': buildChanges({ 'h.changes': Buffer.from('x') }) });
  await refused(all([join(directory, 'h.changes')]), 'listed-file-differs h.changes');
});

test('a .dsc or .changes too large to be held is refused before it is read', async (t) => {
  const directory = folder(t, { 'h.dsc': Buffer.alloc(0), 'h.changes': Buffer.alloc(0) });
  const paths = ['h.dsc', 'h.changes'].map((name) => join(directory, name));
  for (const path of paths) truncateSync(path, 4 * mebibyte + 1);
  await refused(all(paths), 'input-too-large h.dsc', 'input-too-large h.changes');
});

test('an error that is no fault of the input goes before those that are', async (t) => {
  const directory = folder(t, { 'a.deb': Buffer.from('no'), 'b.deb': buildDeb() });
  const defect = new TypeError('a defect');
  let reads = 0;
  const { scope } = phase((run) => {
    reads += 1;
    if (reads === 2) throw defect;
    return run();
  });
  const paths = ['a.deb', 'b.deb'].map((name) => join(directory, name));
  await assert.rejects(scanAll(paths, { contents: false, concurrency: 1, scope }), defect);
});
