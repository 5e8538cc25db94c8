import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { root } from '../../scripts/build.ts';
import { chromiumPath } from '../gallery/browser.ts';
import { hostile, type PublishedSite, publishedSite } from './published-site.ts';
import { accessibilityFaults, SiteBrowser } from './site-browser.ts';

const skip = existsSync(chromiumPath) ? false : 'chromium is not installed';
const pictures = join(root, 'tmp', 'site');

describe('the pages of a repository, in Chromium', { skip }, () => {
  let site: PublishedSite;
  let browser: SiteBrowser;
  before(async () => {
    site = await publishedSite();
    browser = await SiteBrowser.start();
    await mkdir(pictures, { recursive: true });
    const debs = [
      await site.addDeb('amd', { Version: '2.10-3' }),
      await site.addDeb('arm', { Version: '2.10-3', Architecture: 'arm64' }),
      await site.addDeb('old', { Version: '2.9-1' }),
      await site.addDeb('docs', {
        Package: 'hello-doc',
        Architecture: 'all',
        Description: `documents of hello ${hostile}`,
      }),
      await site.addDeb('long', {
        Package: `lib${'very-'.repeat(16)}long-name1`,
        Version: `1:2.0~${'rc.'.repeat(20)}1+dfsg-1`,
      }),
      await site.addSource(),
    ];
    const common = {
      packages: debs.join('\n'),
      origin: 'Example',
      label: 'Example packages',
      description: 'Packages of Example',
    };
    await site.run({ ...common, suites: 'bookworm\ntrixie\nbookworm/updates' });
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  });

  for (const [name, path] of [
    ['overview', 'index.html'],
    ['suite', 'dists/bookworm/index.html'],
    ['nested suite', 'dists/bookworm/updates/index.html'],
  ] as const) {
    for (const look of [{ width: 390 }, { width: 1280 }, { width: 1280, dark: true }]) {
      const how = `${look.width} pixels wide${look.dark === true ? ', dark' : ''}`;
      test(`the ${name} is whole, accessible and asks for nothing else (${how})`, async () => {
        const { page, faults, asked } = await browser.open(`${site.server.url}/${path}`, look);
        if (name === 'overview')
          await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
        await page.screenshot({
          path: join(pictures, `${name.replace(' ', '-')}-${look.width}${look.dark === true ? '-dark' : ''}.png`),
          fullPage: true,
        });
        assert.deepEqual(faults, []);
        assert.deepEqual(
          asked.map((address) => new URL(address).pathname).filter((each) => each !== '/favicon.ico'),
          [`/${path}`],
        );
        const excess = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        assert.equal(excess, 0, 'the page is wider than the window');
        assert.deepEqual(await accessibilityFaults(page), []);
        await page.context().close();
      });
    }
  }

  test('every link of every page leads to a file that is there', async () => {
    for (const path of ['index.html', 'dists/bookworm/index.html', 'dists/bookworm/updates/index.html']) {
      const { page } = await browser.open(`${site.server.url}/${path}`, { width: 1280 });
      const addresses: string[] = await page.evaluate('[...document.links].map(({ href }) => href)');
      assert.ok(addresses.length > 2);
      for (const address of addresses) assert.equal((await fetch(address)).status, 200, address);
      await page.context().close();
    }
  });

  test('the search leaves the rows that have all words, and says how many', async () => {
    const { page, faults } = await browser.open(`${site.server.url}/dists/bookworm/index.html`, { width: 1280 });
    const rows = page.locator('#packages tbody tr:visible');
    const all = await rows.count();
    await page.getByLabel('Search names').fill('HELLO 2.10');
    assert.equal(await rows.count(), 1);
    assert.equal(await page.locator('#found').textContent(), `1 of ${all} rows`);
    await page.getByLabel('Search names').fill('');
    assert.equal(await rows.count(), all);
    assert.deepEqual(faults, []);
    await page.context().close();
  });

  test('without scripts everything can be read, and there is no field that does nothing', async () => {
    const look = { width: 390, scripts: false };
    const { page } = await browser.open(`${site.server.url}/dists/bookworm/index.html`, look);
    assert.equal(await page.locator('#packages tbody tr:visible').count(), 5);
    assert.equal(await page.locator('#search:visible').count(), 0);
    await page.context().close();
  });
});
