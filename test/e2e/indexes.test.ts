import assert from 'node:assert/strict';
import { link } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cephMissing } from '../rig/ceph.ts';
import { runSuccessfully, skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import type { RealDeb } from './real-packages.ts';
import { contentsSuite, publishRealPackages, type RealRepository, sourceName, sourceSuite } from './real-repository.ts';
import { byIdentity, poolFolder, publishedIndex, type Stanza, stanzasOf } from './stanzas.ts';

const skip = cephMissing() || skipWithout('apt-get', 'apt-cache', 'apt-ftparchive', 'dpkg-deb');

describe('indexes of real packages', { skip }, () => {
  let repository: RealRepository;
  before(async () => {
    repository = await publishRealPackages();
  });
  after(() => repository?.[Symbol.asyncDispose]());

  test('every stanza of Packages has the fields and values that apt-ftparchive writes', async (t) => {
    let compared = 0;
    for (const { suite, component, debs } of repository.components) {
      const published = stanzasOf(await publishedIndex(repository.bucket, suite, `${component}/binary-amd64/Packages`));
      const expected = byIdentity(stanzasOf(await ftparchive('packages', debs)));
      assert.deepEqual([...byIdentity(published).keys()].sort(), [...expected.keys()].sort());
      for (const [identity, stanza] of byIdentity(published)) {
        const theirs = new Map(expected.get(identity));
        theirs.set('Filename', poolPath(component, theirs));
        assert.deepEqual(asObject(stanza), asObject(theirs), identity);
        compared += 1;
      }
    }
    t.diagnostic(`${compared} stanzas compared`);
  });

  test('the stanza of Sources has the fields and values that apt-ftparchive writes', async () => {
    const published = stanzasOf(await publishedIndex(repository.bucket, sourceSuite, 'main/source/Sources'));
    const options = hashOptions('Sources');
    const written = await runSuccessfully('apt-ftparchive', [...options, 'sources', '.'], {
      cwd: repository.sourceFolder,
    });
    const [theirs, ...others] = stanzasOf(written.toString());
    assert.deepEqual(others, []);
    const expected = new Map(theirs);
    expected.set('Directory', poolFolder('main', sourceName));
    assert.deepEqual(
      published.map((stanza) => asObject(stanza)),
      [asObject(expected)],
    );
  });

  test('Contents lists exactly the files and links that dpkg-deb finds in the packages', async (t) => {
    const parts = repository.components.filter(({ suite }) => suite === contentsSuite);
    assert.equal(parts.length, 2);
    for (const { component, debs } of parts) {
      const published = await publishedIndex(repository.bucket, contentsSuite, `${component}/Contents-amd64`);
      const owners = new Map<string, string[]>();
      for (const deb of debs) {
        const location = await contentsLocation(deb);
        for (const path of await pathsOf(deb)) owners.set(path, [...(owners.get(path) ?? []), location]);
      }
      const expected = Array.from(owners, ([path, locations]) => `${path}\t${locations.sort().join(',')}\n`);
      const bytewise = expected.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      assert.deepEqual(published.split(/(?<=\n)/), bytewise);
      t.diagnostic(`${component}: ${expected.length} paths`);
    }
  });
});

/** What apt-ftparchive writes about these files, with the hashes that the action lists. */
async function ftparchive(command: 'packages', debs: readonly RealDeb[]): Promise<string> {
  await using folder = await temporaryFolder();
  for (const { path } of debs) await link(path, join(folder.path, basename(path)));
  const args = [...hashOptions('Packages'), command, '.'];
  return (await runSuccessfully('apt-ftparchive', args, { cwd: folder.path })).toString();
}

function hashOptions(index: 'Packages' | 'Sources'): string[] {
  return ['SHA1', 'SHA512'].flatMap((hash) => ['-o', `APT::FTPArchive::${index}::${hash}=false`]);
}

/** Policy leaves the epoch out of file names. */
function poolPath(component: string, stanza: Stanza): string {
  const field = (name: string): string => stanza.get(name) ?? '';
  const source = stanza.get('Source')?.replace(/ \(.*$/, '') ?? field('Package');
  const version = field('Version').replace(/^\d+:/, '');
  return `${poolFolder(component, source)}/${field('Package')}_${version}_${field('Architecture')}.deb`;
}

function asObject(stanza: Stanza): Record<string, string> {
  return Object.fromEntries([...stanza].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function contentsLocation({ path }: RealDeb): Promise<string> {
  const section = (await runSuccessfully('dpkg-deb', ['--field', path, 'Section'])).toString().trim();
  const name = (await runSuccessfully('dpkg-deb', ['--field', path, 'Package'])).toString().trim();
  return section === '' ? name : `${section}/${name}`;
}

/** `dpkg-deb -c` prints like `tar -tv`: mode, owner, size, date, time, path and, for links, where they lead. */
async function pathsOf({ path }: RealDeb): Promise<string[]> {
  const lines = (await runSuccessfully('dpkg-deb', ['--contents', path])).toString().split('\n');
  return lines.flatMap((line) => {
    const [, type, name = ''] = /^(.)\S{9}\s+\S+\s+\S+\s+\S+\s+\S+\s+\.\/(.*)$/.exec(line) ?? [];
    if (type === undefined || type === 'd') return [];
    return type === 'l' ? name.replace(/ -> .*$/, '') : name.replace(/ link to .*$/, '');
  });
}
