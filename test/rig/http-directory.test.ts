import assert from 'node:assert/strict';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startHttpCache } from './http-cache.ts';
import { type HttpDirectory, serveDirectory } from './http-directory.ts';
import { startS3Server } from './s3-server.ts';
import { temporaryFolder } from './temporary.ts';

const day = 'Tue, 02 Jan 2024 03:04:05 GMT';

async function withSite(ask: (site: HttpDirectory, folder: string) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, 'pool'));
  const file = join(folder.path, 'pool/g++_1:2.deb');
  await writeFile(file, '0123456789');
  await utimes(file, new Date(day), new Date(day));
  await using site = await serveDirectory(folder.path, { cacheControl: () => 'max-age=60' });
  await ask(site, folder.path);
}

test('a folder is served as apt asks for it', () =>
  withSite(async (site) => {
    const url = `${site.url}/pool/g%2b%2b_1%3a2.deb`;
    const got = await fetch(url);
    assert.equal(await got.text(), '0123456789');
    assert.equal(got.headers.get('last-modified'), day);
    assert.equal(got.headers.get('cache-control'), 'max-age=60');
    assert.equal((await fetch(url, { headers: { 'if-modified-since': day } })).status, 304);
    const rest = await fetch(url, { headers: { range: 'bytes=4-', 'if-range': day } });
    assert.deepEqual([rest.status, await rest.text()], [206, '456789']);
    const changed = await fetch(url, { headers: { range: 'bytes=4-', 'if-range': 'Mon, 01 Jan 2024 00:00:00 GMT' } });
    assert.deepEqual([changed.status, await changed.text()], [200, '0123456789']);
    assert.equal((await fetch(url, { headers: { range: 'bytes=10-' } })).status, 416);
    assert.equal((await fetch(`${site.url}/pool`)).status, 404);
    assert.deepEqual(site.requests[0], { path: 'pool/g++_1:2.deb', status: 200 });
  }));

test('a cache serves what it has until its time is over, whatever the origin says', () =>
  withSite(async (site, folder) => {
    let now = 0;
    await using cache = await startHttpCache({ to: site.url, now: () => now, notFoundSeconds: 10 });
    const text = async (path: string): Promise<string> => (await fetch(`${cache.url}/${path}`)).text();
    await writeFile(join(folder, 'Release'), 'old');
    assert.equal(await text('Release'), 'old');
    assert.equal((await fetch(`${cache.url}/new`)).status, 404);
    await writeFile(join(folder, 'Release'), 'changed');
    await writeFile(join(folder, 'new'), 'there');
    now = 9_999;
    assert.equal(await text('Release'), 'old');
    assert.equal((await fetch(`${cache.url}/new`)).status, 404);
    now = 59_999;
    assert.equal(await text('Release'), 'old');
    assert.equal(await text('new'), 'there');
    now = 60_000;
    assert.equal(await text('Release'), 'changed');
    assert.deepEqual(
      cache.requests.map(({ hit }) => hit),
      [false, false, true, true, true, false, false],
    );
  }));

test('a cache in front of a bucket keeps nothing that may not be kept', async () => {
  await using server = await startS3Server();
  const objects = server.objects('apt');
  objects.write('debian/InRelease', '1', { headers: { 'cache-control': 'no-cache' } });
  objects.write('debian/plain', '1');
  await using cache = await startHttpCache({ to: server.publicUrl('apt', 'debian'), now: () => 0, defaultSeconds: 1 });
  const both = async (): Promise<string[]> =>
    Promise.all(['InRelease', 'plain'].map(async (name) => (await fetch(`${cache.url}/${name}`)).text()));
  assert.deepEqual(await both(), ['1', '1']);
  objects.write('debian/InRelease', '2', { headers: { 'cache-control': 'no-cache' } });
  objects.write('debian/plain', '2');
  assert.deepEqual(await both(), ['2', '1']);
});
