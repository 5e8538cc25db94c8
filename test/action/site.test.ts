import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fingerprints } from '../../src/signing/verify.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { type PublishedSite, publishedSite } from '../site/published-site.ts';

const files = ['index.html', 'key.asc', 'key.gpg', 'dists/bookworm/index.html', 'dists/bookworm/repository.sources'];

/** Every file of the site but the tool's own, by path. */
async function stateOf({ folder }: PublishedSite): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const shown = paths.filter((path) => !path.includes('.apt-publish')).sort();
  return new Map(await Promise.all(shown.map(async (path) => [path, await readFile(path, 'base64')] as const)));
}

describe('the pages of a repository', () => {
  it('are written after a publish, and only when they are asked for', async () => {
    await using site = await publishedSite();
    const packages = await site.addDeb('hello', {});
    await site.run({ packages, suites: 'bookworm', site: 'false' });
    const before = await stateOf(site);
    for (const file of files) assert.ok(!before.has(join(site.folder, file)), file);
    await site.run({ packages, suites: 'bookworm' });
    const after = await stateOf(site);
    for (const file of files) assert.ok(after.has(join(site.folder, file)), file);
    for (const [path, bytes] of before) assert.equal(after.get(path), bytes, `${path} was changed`);
    const page = await readFile(join(site.folder, 'index.html'), 'utf8');
    const [fingerprint = ''] = fingerprints(await fixture('ed25519'));
    assert.ok(page.replaceAll(' ', '').includes(fingerprint));
  });

  it('show every suite, and are renewed by every command that changes one', async () => {
    await using site = await publishedSite();
    const [one, two] = [await site.addDeb('one', { Version: '1' }), await site.addDeb('two', { Version: '2' })];
    await site.run({ packages: one, suites: 'bookworm' });
    await site.run({ packages: two, suites: 'trixie/updates' });
    const overview = await readFile(join(site.folder, 'index.html'), 'utf8');
    assert.match(overview, /dists\/bookworm\/index\.html.*dists\/trixie\/updates\/index\.html/s);
    await site.run({ command: 'promote', from: 'trixie/updates', suites: 'bookworm' });
    const page = () => readFile(join(site.folder, 'dists/bookworm/index.html'), 'utf8');
    assert.match(await page(), /<td>2<\/td>.*<td>1<\/td>/s);
    await site.run({ command: 'remove', remove: 'hello (= 1)', suites: 'bookworm' });
    assert.doesNotMatch(await page(), /<td>1<\/td>/);
  });

  it('stay as they are when nothing has changed, and come back when they were lost', async () => {
    await using site = await publishedSite();
    const packages = await site.addDeb('hello', {});
    await site.run({ packages, suites: 'bookworm' });
    const before = await stateOf(site);
    await rm(join(site.folder, 'index.html'));
    await rm(join(site.folder, 'dists/bookworm/index.html'));
    await site.run({ packages, suites: 'bookworm' });
    assert.deepEqual(await stateOf(site), before);
  });

  it('are no reason for a run to fail that has published', async () => {
    await using site = await publishedSite();
    const packages = await site.addDeb('hello', {});
    await mkdir(join(site.folder, 'index.html', 'in the way'), { recursive: true });
    const warnings = await site.run({ packages, suites: 'bookworm' });
    assert.match(warnings.join('\n'), /The suites are published; the page of the repository is not what it should be/);
    assert.ok((await stateOf(site)).has(join(site.folder, 'dists/bookworm/InRelease')));
  });

  it('are not written by a dry run', async () => {
    await using site = await publishedSite();
    await site.run({ packages: await site.addDeb('hello', {}), suites: 'bookworm', 'dry-run': 'true' });
    assert.deepEqual([...(await stateOf(site).catch(() => new Map())).keys()], []);
  });
});
