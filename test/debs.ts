import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';

/**
 * Small real packages made of nothing but Node, the same bytes every time: for every test that needs a .deb, a .dsc or a
 * .changes. Each layer (ar, tar, .deb) is there by itself, so that tests can also build what no tool would.
 */

export interface ArPart {
  readonly name: string;
  readonly body: Uint8Array | string;
}

/** An ar archive. `size` fields and padding are right whatever the names are. */
export function buildAr(members: readonly ArPart[]): Buffer {
  const parts: Buffer[] = [Buffer.from('!<arch>\n')];
  for (const { name, body } of members) {
    const bytes = Buffer.from(body);
    const header = `${name.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}`;
    parts.push(Buffer.from(`${header}${String(bytes.length).padEnd(10)}\`\n`, 'latin1'), bytes);
    if (bytes.length % 2 === 1) parts.push(Buffer.from('\n'));
  }
  return Buffer.concat(parts);
}

export interface TarPart {
  /** At most 100 bytes; longer names need a part of type `L` before. */
  readonly name: string | Uint8Array;
  /** The type flag of tar(5); `0`, a file, unless given. */
  readonly type?: string;
  readonly body?: Uint8Array | string;
  readonly link?: string;
  /** What the size field says, when not the size of `body`; as bytes, the field itself. */
  readonly size?: number | Uint8Array;
  /** ustar's prefix field. */
  readonly prefix?: string;
  /** `ustar\0` followed by `00` unless given. */
  readonly magic?: string;
}

/** A tar archive with its end mark. */
export function buildTar(entries: readonly TarPart[]): Buffer {
  return Buffer.concat([...entries.map(tarPart), Buffer.alloc(1024)]);
}

function tarPart(part: TarPart): Buffer {
  const body = Buffer.from(part.body ?? '');
  const block = Buffer.alloc(512);
  block.set(Buffer.from(part.name), 0);
  block.write(part.type === '5' ? '0000755\0' : '0000644\0', 100);
  block.write('0000000\0'.repeat(2), 108);
  const size = part.size ?? body.length;
  if (typeof size === 'number') block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  else block.set(size, 124);
  block.write('00000000000\0', 136);
  block.write(part.type ?? '0', 156, 'latin1');
  block.write(part.link ?? '', 157);
  block.write(part.magic ?? 'ustar\x0000', 257, 'latin1');
  block.write(part.prefix ?? '', 345);
  writeChecksum(block);
  return Buffer.concat([block, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

/** Makes the checksum of a tar header fit what the header has become. */
export function writeChecksum(block: Buffer): void {
  block.fill(' ', 148, 156);
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
}

export type Packing = 'none' | 'gz' | 'xz' | 'bz2' | 'lzma' | 'zst';

/** The command that packs what Node cannot. */
const tools = { xz: ['xz', '-c'], lzma: ['xz', '-c', '--format=lzma'], bz2: ['bzip2', '-c'] } as const;

/** Whether `pack` can do it on this machine: xz, lzma and bz2 need xz(1) and bzip2(1). */
export function canPack(packing: Packing): boolean {
  return packing === 'none' || packing === 'gz' || packing === 'zst' || machineHas(tools[packing][0]);
}

/** Whether the machine has a command. */
export function machineHas(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

export function pack(packing: Packing, bytes: Uint8Array): Buffer {
  if (packing === 'none') return Buffer.from(bytes);
  if (packing === 'gz') return gzipSync(bytes);
  if (packing === 'zst') return zstdCompressSync(bytes);
  const [command, ...options] = tools[packing];
  return execFileSync(command, options, { input: bytes, maxBuffer: 1024 ** 3 });
}

export interface DebRecipe {
  /** Fields of `control` beyond, or instead of, those that `controlText` writes by itself. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Takes the place of the whole file `control`. */
  readonly control?: string | Uint8Array;
  /** Path without leading slash, and content. Directories are added. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly controlPacking?: Packing;
  readonly dataPacking?: Packing;
}

/** Package `hello`, version 1.0, amd64, unless the fields say otherwise. */
export function controlText(fields: Readonly<Record<string, string>> = {}): string {
  const all = {
    Package: 'hello',
    Version: '1.0',
    Architecture: 'amd64',
    Maintainer: 'Ada Example <ada@example.org>',
    Section: 'utils',
    Priority: 'optional',
    Description: 'says hello\n It does so in a friendly manner.',
    ...fields,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

/** The members of a .deb, to be changed before `buildAr` puts them together. */
export function debMembers(recipe: DebRecipe = {}): ArPart[] {
  const controlPacking = recipe.controlPacking ?? 'gz';
  const dataPacking = recipe.dataPacking ?? 'gz';
  const control = buildTar([
    { name: './', type: '5' },
    { name: './control', body: recipe.control ?? controlText(recipe.fields) },
  ]);
  return [
    { name: 'debian-binary', body: '2.0\n' },
    { name: `control.tar${suffix(controlPacking)}`, body: pack(controlPacking, control) },
    { name: `data.tar${suffix(dataPacking)}`, body: pack(dataPacking, buildTar(dataEntries(recipe.files ?? {}))) },
  ];
}

/** A .deb. Two calls with equal recipes give equal bytes. */
export function buildDeb(recipe: DebRecipe = {}): Buffer {
  return buildAr(debMembers(recipe));
}

function dataEntries(files: Readonly<Record<string, string | Uint8Array>>): TarPart[] {
  const directories = new Set(['./']);
  for (const path of Object.keys(files)) {
    const steps = path.split('/').slice(0, -1);
    for (const [index] of steps.entries()) directories.add(`./${steps.slice(0, index + 1).join('/')}/`);
  }
  return [
    ...[...directories].map((name) => ({ name, type: '5' })),
    ...Object.entries(files).map(([path, body]) => ({ name: `./${path}`, body })),
  ];
}

function suffix(packing: Packing): string {
  return packing === 'none' ? '' : `.${packing}`;
}

export type NamedFiles = Readonly<Record<string, Uint8Array>>;

/** A .dsc for source files of these names, unsigned. Package `hello`, version 1.0-1, unless the fields say otherwise. */
export function buildDsc(files: NamedFiles, fields: Readonly<Record<string, string>> = {}): Buffer {
  const head = {
    Format: '3.0 (quilt)',
    Source: 'hello',
    Binary: 'hello',
    Architecture: 'any',
    Version: '1.0-1',
    Maintainer: 'Ada Example <ada@example.org>',
    ...fields,
  };
  return Buffer.from(`${lines(head)}${sums(files, (md5, size, name) => `${md5} ${size} ${name}`)}`);
}

/** A .changes (format 1.8) that lists these files, unsigned. */
export function buildChanges(files: NamedFiles, fields: Readonly<Record<string, string>> = {}): Buffer {
  const head = {
    Format: '1.8',
    Date: 'Thu, 01 Jan 2026 00:00:00 +0000',
    Source: 'hello',
    Architecture: 'source amd64',
    Version: '1.0-1',
    Distribution: 'bookworm',
    Urgency: 'medium',
    Maintainer: 'Ada Example <ada@example.org>',
    Description: '\n hello - says hello',
    Changes: '\n hello (1.0-1) bookworm; urgency=medium\n .\n   * Say hello.',
    ...fields,
  };
  return Buffer.from(`${lines(head)}${sums(files, (md5, size, name) => `${md5} ${size} utils optional ${name}`)}`);
}

function lines(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => (value.startsWith('\n') ? `${name}:${value}\n` : `${name}: ${value}\n`))
    .join('');
}

function sums(files: NamedFiles, filesLine: (md5: string, size: number, name: string) => string): string {
  const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
  const entries = Object.entries(files);
  const checksums = (algorithm: string) =>
    entries.map(([name, bytes]) => ` ${hash(algorithm, bytes)} ${bytes.length} ${name}\n`).join('');
  const listed = entries.map(([name, bytes]) => ` ${filesLine(hash('md5', bytes), bytes.length, name)}\n`).join('');
  return `Checksums-Sha1:\n${checksums('sha1')}Checksums-Sha256:\n${checksums('sha256')}Files:\n${listed}`;
}
