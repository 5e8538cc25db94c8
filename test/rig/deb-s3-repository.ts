import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** A package as it is given to deb-s3. */
export interface GivenDeb {
  /** Of the file. */
  readonly name: string;
  readonly body: Buffer;
  /** The text of its control file. */
  readonly control: string;
}

/** It writes lists for these whether there are packages or not. */
const ownArchitectures = ['amd64', 'i386', 'armhf'];

/**
 * What deb-s3 0.11 stores for packages of one suite (deb-s3/deb-s3, lib/deb/s3/{manifest,release,package}.rb and templates), but for the
 * signatures: no by-hash names, each list plain and gzipped, stanzas of its own order with fields of its own, the pool in a folder by suite,
 * lists in the order of arrival, empty ones for architectures without packages, and `Suite:` without a word. Path → content.
 */
export function debS3Repository(codename: string, debs: readonly GivenDeb[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const stanzas = debs.map((deb) => ({ ...describe(codename, deb), body: deb.body }));
  for (const { filename, body } of stanzas) files.set(filename, body);
  const own = stanzas.map(({ architecture }) => architecture).filter((architecture) => architecture !== 'all');
  const architectures = [...new Set([...own, ...ownArchitectures])];
  const lists = architectures.flatMap((architecture): [string, Buffer][] => {
    const listed = stanzas.filter((each) => each.architecture === architecture || each.architecture === 'all');
    const text = Buffer.from(listed.map(({ stanza }) => stanza).join('\n'));
    const path = `main/binary-${architecture}/Packages`;
    return [
      [path, text],
      [`${path}.gz`, gzipSync(text)],
    ];
  });
  for (const [path, content] of lists) files.set(`dists/${codename}/${path}`, content);
  files.set(`dists/${codename}/Release`, Buffer.from(release(codename, architectures, lists)));
  return files;
}

function describe(codename: string, { name, body, control }: GivenDeb) {
  const field = (wanted: string): string => new RegExp(`^${wanted}: (.*)$`, 'm').exec(control)?.[1] ?? '';
  const given = ['Depends', 'Provides'].filter((each) => field(each) !== '').map((each) => `${each}: ${field(each)}\n`);
  const [, description = ''] = /^Description: (.*(?:\n .*)*)$/m.exec(control) ?? [];
  const package_ = field('Package');
  const filename = `pool/${codename}/${package_.slice(0, 1)}/${package_.slice(0, 2)}/${name}`;
  const stanza =
    `Package: ${package_}\nVersion: ${field('Version')}\nLicense: unknown\nVendor: none\nArchitecture: ${field('Architecture')}\n` +
    `Maintainer: ${field('Maintainer')}\nInstalled-Size: ${field('Installed-Size')}\n${given.join('')}` +
    `Section: ${field('Section')}\nPriority: ${field('Priority')}\nHomepage: http://nourlgiven.example.com/\n` +
    `Filename: ${filename}\nSize: ${body.length}\nSHA1: ${hash('sha1', body)}\nSHA256: ${hash('sha256', body)}\n` +
    `MD5sum: ${hash('md5', body)}\nDescription: ${description}\n`;
  return { filename, stanza, architecture: field('Architecture') };
}

function release(codename: string, architectures: readonly string[], lists: readonly [string, Buffer][]): string {
  const section = (title: string, algorithm: string): string =>
    `${title}:\n${lists
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, bytes]) => ` ${hash(algorithm, bytes)} ${String(bytes.length).padStart(16)} ${path}\n`)
      .join('')}`;
  return (
    `Codename: ${codename}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nArchitectures: ${architectures.join(' ')}\nComponents: main\nSuite: \n` +
    `${section('MD5Sum', 'md5')}${section('SHA1', 'sha1')}${section('SHA256', 'sha256')}`
  );
}

function hash(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex');
}
