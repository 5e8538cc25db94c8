import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoggedRequest, sampleOf } from '../../bench/request-log.ts';

const cost = { ms: 1000, cpuMs: 10, peakBytes: 1 };

function request(method: string, key: string, start: number, end: number, status = 200): LoggedRequest {
  return { method, target: `/bucket/${key}`, start, end, status, bytesUp: 10, bytesDown: 5 };
}

test('the window runs from the first write sent to the answer of the last name that clients read', () => {
  const { windows, requests, bytesUp, bytesDown } = sampleOf(cost, [
    request('GET', 'dists/s/InRelease', 0, 100),
    request('PUT', 'pool/main/h/hello/hello.deb', 150, 250),
    request('PUT', 'dists/s/main/binary-amd64/by-hash/SHA256/00', 150, 260),
    request('PUT', '.apt-publish/s.json', 260, 360),
    request('PUT', 'dists/s/main/binary-amd64/Packages.gz', 360, 465),
    request('PUT', 'dists/s/InRelease', 470, 575),
    request('POST', '?delete', 580, 680),
  ]);
  assert.deepEqual(windows, { 'first write to commit': 425, mixture: 110 });
  assert.deepEqual([requests, bytesUp, bytesDown], [7, 70, 35]);
});

test('staging names of aptly, refused writes and reads change nothing that a client reads', () => {
  const { windows } = sampleOf(cost, [
    request('PUT', 'dists/s/main/binary-amd64/Packages.tmp.gz', 0, 100),
    request('PUT', 'dists/s/InRelease.tmp', 0, 110),
    request('PUT', 'dists/s/InRelease', 110, 120, 412),
    request('GET', 'dists/s/Release', 110, 130),
  ]);
  assert.equal(windows, undefined);
});
