import { createReadStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { buildAr, buildTar, debMembers, pack, type TarPart } from '../test/debs.ts';
import { runSuccessfully } from '../test/rig/process.ts';

/** One stanza of Debian's own Packages, byte for byte, without the empty line after it. */
export interface Stanza {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly text: string;
}

/** Package → the paths in it, without leading slash. */
export type FileLists = ReadonlyMap<string, readonly string[]>;

const lists = '/var/lib/apt/lists';

/** The list of main for amd64 that the machine's apt has fetched: about 63,000 stanzas in bookworm. */
export async function debianMain(): Promise<Stanza[]> {
  const name = (await readdir(lists)).find((file) => /_debian_dists_[a-z]+_main_binary-amd64_Packages/.test(file));
  if (name === undefined) throw new Error('apt has no list of Debian main for amd64: run apt-get update.');
  const text = (await runSuccessfully('/usr/lib/apt/apt-helper', ['cat-file', join(lists, name)])).toString();
  return text
    .split('\n\n')
    .filter((stanza) => stanza.trim() !== '')
    .map((stanza) => stanzaOf(stanza.trimEnd()));
}

/**
 * A suite of this size: every n-th stanza of a smaller one, so that it is as mixed as the whole; for a larger one, some of them twice, the second time under
 * another name.
 */
export function resized(stanzas: readonly Stanza[], count: number): Stanza[] {
  if (count <= stanzas.length) {
    const step = stanzas.length / count;
    return Array.from({ length: count }, (_, index) => stanzas[Math.floor(index * step)]).filter(
      (stanza) => stanza !== undefined,
    );
  }
  const again = count - stanzas.length;
  return stanzas.flatMap((stanza, index) => (index < again ? [stanza, renamed(stanza)] : [stanza]));
}

function renamed({ name, text }: Stanza): Stanza {
  const other = `${name}-again`;
  return stanzaOf(
    text
      .replace(/^Package: .*$/m, `Package: ${other}`)
      .replace(/^Filename: (.*)\/[^/]*$/m, `Filename: $1/${other}.deb`),
  );
}

function stanzaOf(text: string): Stanza {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  return { name: field('Package'), version: field('Version'), architecture: field('Architecture'), text };
}

/** Debian's Contents of main for amd64, fetched into `folder` by apt's own helper, as far as it is about these packages. */
export async function debianContents(folder: string, stanzas: readonly Stanza[]): Promise<FileLists> {
  const archive = join(folder, 'Contents-amd64.gz');
  const uri = 'http://deb.debian.org/debian/dists/bookworm/main/Contents-amd64.gz';
  await runSuccessfully('/usr/lib/apt/apt-helper', ['-o', 'APT::Sandbox::User=root', 'download-file', uri, archive]);
  const wanted = new Map<string, string[]>(stanzas.map(({ name }) => [name, []]));
  for await (const line of createInterface({ input: createReadStream(archive).pipe(createGunzip()) })) {
    const [, path = '', packages = ''] = /^(.*?)\s+(\S+)$/.exec(line) ?? [];
    for (const qualified of packages.split(','))
      wanted.get(qualified.slice(qualified.lastIndexOf('/') + 1))?.push(path);
  }
  return wanted;
}

/** What our suite is seeded with: Contents as Debian writes it. */
export function contentsText(stanzas: readonly Stanza[], files: FileLists): Buffer {
  const places = new Map<string, string[]>();
  for (const { name, text } of stanzas) {
    const section = /^Section: (.*)$/m.exec(text)?.[1] ?? 'misc';
    for (const path of files.get(name) ?? []) {
      const known = places.get(path);
      if (known === undefined) places.set(path, [`${section}/${name}`]);
      else known.push(`${section}/${name}`);
    }
  }
  const lines = [...places].map(([path, packages]) => Buffer.from(`${path.padEnd(55)} ${packages.join(',')}\n`));
  return Buffer.concat(lines.sort(Buffer.compare));
}

/**
 * A .deb with each stanza's description and file list and nothing else, for tools that make their indexes from packages. They are tiny, which
 * favours those tools.
 */
export async function writeTinyDebs(folder: string, stanzas: readonly Stanza[], files?: FileLists): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, version, architecture, text } of stanzas) {
    const control = `${text.replaceAll(/^(Filename|Size|MD5sum|SHA\d+|Description-md5): .*\n?/gm, '').trimEnd()}\n`;
    const data = pack('gz', buildTar((files?.get(name) ?? []).flatMap(emptyFile)));
    const members = debMembers({ control }).map((member) =>
      member.name.startsWith('data.tar') ? { ...member, body: data } : member,
    );
    const file = `${name}_${version.replaceAll(':', '%3a')}_${architecture}.deb`;
    await writeFile(join(folder, file), buildAr(members));
  }
}

/** A name of more than a hundred bytes goes into an entry of its own before the file's (tar(5), GNU). */
function emptyFile(path: string): TarPart[] {
  const name = Buffer.from(`./${path}`);
  if (name.length <= 100) return [{ name }];
  return [
    { name: '././@LongLink', type: 'L', body: Buffer.concat([name, Buffer.alloc(1)]) },
    { name: name.subarray(0, 100) },
  ];
}
