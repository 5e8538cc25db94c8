import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseStanzas } from '../../src/debian/deb822.ts';
import { packagesStanza } from '../../src/debian/packages.ts';
import { type ReleaseFile, renderRelease } from '../../src/debian/release.ts';
import { nextDate, releaseDate } from '../../src/debian/release-date.ts';
import { sourcesStanza } from '../../src/debian/sources.ts';
import { sourcesEntry } from '../../src/debian/sources-entry.ts';
import { type ArrivingStanza, mergeEntries, scanStanzas } from '../../src/debian/stanza-index.ts';
import { needs, run, temporaryFolder } from './debian-tools.ts';

const published = Date.UTC(2023, 10, 14, 22, 13, 20);

it(
  'real apt reads every stanza of a suite made of these parts, and the next one of the same second (invariant 9)',
  needs('apt-get', 'apt-cache'),
  (test) => {
    const folder = temporaryFolder(test);
    const first = merged(new Uint8Array(), [binary('zeta', '1:1.0-1'), binary('alpha', '2.0~rc1')]);
    writeSuite(folder, first, published);
    const apt = privateApt(folder);

    apt('apt-get', 'update');
    assert.match(apt('apt-cache', 'policy', 'zeta'), /Candidate: 1:1\.0-1/);
    const shown = parseStanzas(apt('apt-cache', 'show', 'alpha'))[0] ?? [];
    assert.equal(
      shown.find((field) => field.name.startsWith('Description'))?.value,
      'what alpha does\n A long text.\n .\n Its end.',
    );
    assert.match(
      apt('apt-get', 'source', '--print-uris', '--download-only', 'hello'),
      /hello_1\.0-1\.dsc' hello_1\.0-1\.dsc 7 SHA256:/,
    );

    // Same second as before: apt would silently keep the old lists, had the date not moved on.
    const second = merged(first, [binary('alpha', '2.0')]);
    const { date } = nextDate({ now: published, published });
    writeSuite(folder, second, date);
    apt('apt-get', 'update');
    assert.match(apt('apt-cache', 'policy', 'alpha'), /Candidate: 2\.0\n.*2\.0~rc1/s);

    // What the date guards against, so that the check above is known to be able to fail.
    writeSuite(folder, merged(second, [binary('omega', '1')]), published);
    apt('apt-get', 'update');
    assert.doesNotMatch(apt('apt-cache', 'pkgnames'), /omega/);
  },
);

function binary(name: string, version: string): ArrivingStanza {
  const text = `Package: ${name}\nVersion: ${version}\nArchitecture: amd64\nMaintainer: M <m@example.org>\nDescription: what ${name} does\n A long text.\n .\n Its end.\n`;
  const [control = []] = parseStanzas(text);
  const file = {
    filename: `pool/main/x/${name}.deb`,
    size: 7,
    md5: digest('md5', name),
    sha256: digest('sha256', name),
  };
  return { package: name, version, architecture: 'amd64', bytes: packagesStanza({ control, ...file }) };
}

function source(): Uint8Array {
  const control = [
    { name: 'Format', value: '3.0 (native)' },
    { name: 'Source', value: 'hello' },
    { name: 'Binary', value: 'hello' },
    { name: 'Architecture', value: 'any' },
    { name: 'Version', value: '1.0-1' },
    { name: 'Maintainer', value: 'M <m@example.org>' },
  ];
  const dsc = { name: 'hello_1.0-1.dsc', size: 7, md5: digest('md5', 'dsc'), sha256: digest('sha256', 'dsc') };
  return sourcesStanza({ control, directory: 'pool/main/h/hello', files: [dsc] });
}

function merged(index: Uint8Array, add: readonly ArrivingStanza[]): Uint8Array {
  return mergeEntries(index, scanStanzas(index, 'Packages'), { add, remove: new Set() });
}

/** Stores the .gz forms only and lists the uncompressed names too, as every suite of this tool does. */
function writeSuite(folder: string, packages: Uint8Array, date: number): void {
  const files: ReleaseFile[] = [];
  for (const [path, bytes] of [
    ['main/binary-amd64/Packages', packages],
    ['main/source/Sources', source()],
  ] as const) {
    const stored = gzipSync(bytes);
    files.push({ path, size: bytes.length, sha256: digest('sha256', bytes) });
    files.push({ path: `${path}.gz`, size: stored.length, sha256: digest('sha256', stored) });
    write(join(folder, 'site/dists/s', `${path}.gz`), stored);
  }
  const fields = { Origin: 'Example', Suite: 's', Date: releaseDate(date), Architectures: 'amd64', Components: 'main' };
  const release = { fields: Object.entries(fields).map(([name, value]) => ({ name, value })), files };
  write(join(folder, 'site/dists/s/Release'), renderRelease(release));
}

/** apt with everything it reads and writes inside the folder; answers with standard output. */
function privateApt(folder: string): (program: string, ...args: string[]) => string {
  const trust = { components: ['main'], architectures: ['amd64'], hasSources: true, trust: 'unsigned' } as const;
  write(
    join(folder, 'sources.list.d/s.sources'),
    sourcesEntry({ uri: `file:${folder}/site`, suites: ['s'], ...trust }),
  );
  for (const empty of ['lists/partial', 'cache/archives/partial', 'etc'])
    mkdirSync(join(folder, empty), { recursive: true });
  write(join(folder, 'status'), '');
  const options = [
    `Dir::Etc=${folder}/etc`,
    'Dir::Etc::SourceList=/dev/null',
    `Dir::Etc::SourceParts=${folder}/sources.list.d`,
    `Dir::State=${folder}`,
    `Dir::State::Lists=${folder}/lists`,
    `Dir::State::Status=${folder}/status`,
    `Dir::Cache=${folder}/cache`,
    'APT::Architecture=amd64',
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
  ].flatMap((option) => ['-o', option]);
  return (program, ...args) => run(program, [...options, ...args], { cwd: folder });
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function digest(algorithm: string, content: string | Uint8Array): string {
  return createHash(algorithm).update(content).digest('hex');
}
