import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type SourcesEntry, sourcesEntry } from '../../src/debian/sources-entry.ts';
import { needs, run, temporaryFolder } from './debian-tools.ts';

const key = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZVPx
=abcd
-----END PGP PUBLIC KEY BLOCK-----
`;

const entry: SourcesEntry = {
  uri: 'https://apt.example.org/debian',
  suites: ['bookworm'],
  components: ['main', 'contrib'],
  architectures: ['all', 'amd64', 'arm64'],
  hasSources: true,
  trust: { key },
};

const embedded = `Types: deb deb-src
URIs: https://apt.example.org/debian
Suites: bookworm
Components: main contrib
Architectures: amd64 arm64
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEZVPx
 =abcd
 -----END PGP PUBLIC KEY BLOCK-----
`;

describe('the .sources entry of a suite', () => {
  it('embeds the key, empty lines as dots', () => {
    assert.equal(sourcesEntry(entry), embedded);
    assert.equal(sourcesEntry({ ...entry, trust: { key: `\n${key.replaceAll('\n', '\r\n')}` } }), embedded);
  });

  it('names a keyring, or says that nothing is signed', () => {
    const rest = `Types: deb\nURIs: ${entry.uri}\nSuites: bookworm\nComponents: main contrib\nArchitectures: amd64 arm64\n`;
    const keyring = '/etc/apt/keyrings/example.asc';
    assert.equal(sourcesEntry({ ...entry, hasSources: false, trust: { keyring } }), `${rest}Signed-By: ${keyring}\n`);
    assert.equal(sourcesEntry({ ...entry, hasSources: false, trust: 'unsigned' }), `${rest}Trusted: yes\n`);
  });

  it('leaves the architectures to the machine where everything is for all of them', () => {
    assert.doesNotMatch(sourcesEntry({ ...entry, architectures: ['all'] }), /Architectures/);
  });

  it('makes real apt ask for exactly these indexes', needs('apt-get'), (test) => {
    const folder = temporaryFolder(test);
    mkdirSync(join(folder, 'lists/partial'), { recursive: true });
    writeFileSync(join(folder, 'example.sources'), sourcesEntry(entry));
    const options = [
      `Dir::Etc::SourceList=${folder}/example.sources`,
      'Dir::Etc::SourceParts=/dev/null',
      `Dir::State::Lists=${folder}/lists`,
      'APT::Architecture=amd64',
      'APT::Architectures::=amd64',
      'Acquire::Languages=none',
    ].flatMap((option) => ['-o', option]);
    const targets = run('apt-get', [
      ...options,
      'indextargets',
      '--no-release-info',
      '--format',
      '$(SITE) $(RELEASE) $(METAKEY)',
    ]);
    const asked = targets
      .trim()
      .split('\n')
      .filter((line) => !line.includes('binary-all'));
    assert.deepEqual(
      asked.sort(),
      ['main', 'contrib']
        .flatMap((component) => [
          `${component}/source/Sources`,
          `${component}/binary-amd64/Packages`,
          `${component}/binary-arm64/Packages`,
        ])
        .map((path) => `https://apt.example.org/debian bookworm ${path}`)
        .sort(),
    );
  });
});
