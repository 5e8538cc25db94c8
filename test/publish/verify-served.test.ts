import assert from 'node:assert/strict';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BrokenRepository } from '../../src/publish/finding.ts';
import type { VerifyRequest } from '../../src/publish/request.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const keys = await fixture('ed25519');

/** How a server answers for an object, by breaking off with status 0; undefined for as a good one does. */
type Answer = (
  key: string,
  body: Uint8Array,
) => { status?: number; headers?: OutgoingHttpHeaders; body?: Uint8Array } | undefined;

const forGood = 'public, max-age=31536000, immutable';
function cacheControl(key: string): string {
  return key.startsWith('pool/') || key.includes('/by-hash/') ? forGood : 'no-cache';
}

/** What verifying says of a repository that such a server shows to readers; each line ends with how often the server was asked. */
async function verdict(answer: Answer): Promise<{ found: string[]; asked: readonly string[]; broken: boolean }> {
  using repository = new Repository();
  const { debs } = repository;
  await repository.publish([suiteOf('sid', debs.add('g++', { Package: 'g++', Version: '1:2.0~rc1+b1' }))]);
  await repository.publish([suiteOf('sid', debs.add('hello'))]);
  const objects = await repository.snapshot();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const key = decodeURIComponent((request.url ?? '').slice('/debian/'.length));
    asked.push(`${request.method} ${key} ${request.headers['accept-encoding']}`);
    const body = objects.get(key);
    const special = body === undefined ? { status: 404 } : answer(key, body);
    if (special?.status === 0) {
      response.destroy();
      return;
    }
    const sent = special?.body ?? body ?? Buffer.from('404');
    const headers = { 'cache-control': cacheControl(key), 'content-length': sent.length, ...special?.headers };
    response.writeHead(special?.status ?? 200, headers);
    response.end(request.method === 'HEAD' ? undefined : sent);
  });
  const publicUrl = `${await listenLocally(server)}/debian`;
  const request: VerifyRequest = {
    command: 'verify',
    suites: [{ suite: 'sid' }],
    renameConcurrency: 'auto',
    uploadConcurrency: 'auto',
    deep: false,
    repair: false,
    publicUrl,
  };
  try {
    const { results } = await repository.perform(request, keys);
    return { found: results.flatMap(tell), asked, broken: false };
  } catch (error) {
    if (!(error instanceof BrokenRepository)) throw error;
    return { found: error.results.flatMap(tell), asked, broken: true };
  } finally {
    await closeServer(server);
  }
}

function tell({ verification }: BrokenRepository['results'][number]): string[] {
  const found = verification?.findings ?? [];
  return found.map(({ kind, key, what }) => `${kind} ${key.replace(/[0-9a-f]{64}/, 'SUM')}: ${what}`).sort();
}

const list = 'dists/sid/main/binary-amd64/Packages.gz';
const byHash = 'dists/sid/main/binary-amd64/by-hash/SHA256/SUM';
const deb = /^pool\/main\/.*\.deb$/;

test('one object of each kind is asked for as apt does, and a good server is let off', async () => {
  const { found, asked, broken } = await verdict(() => undefined);
  assert.deepEqual(found, []);
  assert.equal(broken, false);
  assert.deepEqual(asked.map((line) => line.replace(/[0-9a-f]{64}/, 'SUM').replace(/pool\S*/, 'pool')).sort(), [
    `GET dists/sid/InRelease identity`,
    `HEAD ${list} identity`,
    `HEAD ${byHash} identity`,
    'HEAD pool identity',
  ]);
});

test('a server that compresses on its way breaks the repository', async () => {
  const { found, broken } = await verdict((key, body) =>
    key === list || key.endsWith('InRelease')
      ? { headers: { 'content-encoding': 'gzip' }, body: gzipSync(body) }
      : undefined,
  );
  assert.equal(broken, true);
  assert.deepEqual(
    found.map((line) => line.replace(/:.*/, '')),
    [`served ${'dists/sid/InRelease'}`, `served ${list}`],
  );
  assert.match(found[0] ?? '', /Content-Encoding: gzip/);
});

test('what readers do not get, or get with other bytes, breaks the repository', async () => {
  const { found, broken } = await verdict((key) => {
    if (key.startsWith('pool/')) return { status: 403 };
    if (key.endsWith('InRelease')) return { body: Buffer.from('<html>Sign in</html>') };
    return key === list ? { body: Buffer.from('short') } : undefined;
  });
  assert.equal(broken, true);
  assert.equal(found.length, 3);
  assert.match(found[0] ?? '', /^served dists\/sid\/InRelease: What readers get as dists\/sid\/InRelease/);
  assert.match(found[1] ?? '', /Packages\.gz: It is served with 5 bytes/);
  assert.match(found[2] ?? '', /^served pool\/.*: Readers get the status 403/);
});

test('names that caches may keep, and objects that they may not, are told and fail no run', async () => {
  const turned = (key: string) => (cacheControl(key) === forGood ? 'no-cache' : 'public, max-age=600');
  const { found, broken } = await verdict((key) => ({ headers: { 'cache-control': turned(key) } }));
  assert.equal(broken, false);
  assert.equal(found.length, 4);
  assert.ok(found.every((line) => line.startsWith('caching ')));
  assert.ok(found.some((line) => line.includes(`${byHash}: It never changes`)));
  assert.ok(
    found.some((line) => line.includes('InRelease: It changes, and is served with Cache-Control: public, max-age=600')),
  );
  assert.ok(found.some((line) => deb.test(line.split(' ')[1]?.replace(/:$/, '') ?? '')));
});

test('a server that fails now and then is asked again, one that is not there is a finding', async () => {
  let fails = 2;
  const passing = await verdict((key) => (key === list && fails-- > 0 ? { status: 503 } : undefined));
  assert.deepEqual(passing.found, []);
  const failing = await verdict((key) => (key === list ? { status: 503 } : undefined));
  assert.deepEqual(failing.found, [`served ${list}: Readers get the status 503 for it.`]);
  const silent = await verdict((key) => (key === list ? { status: 0 } : undefined));
  assert.match(
    silent.found.join('\n'),
    /^served dists\/sid\/main\/binary-amd64\/Packages\.gz: There was no answer: \w+\.$/,
  );
  assert.equal(silent.asked.filter((line) => line.includes(list)).length, 3);
});
