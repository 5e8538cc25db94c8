import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scenarioNames } from '../../src/perf/comparison-record.ts';
import { sampleFile } from '../../src/perf/sample-package.ts';
import { workloads } from '../../src/perf/workloads.ts';
import { bytesPart } from '../../src/store/part-body.ts';
import { S3Store } from '../../src/store/s3.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';

const all = workloads(2048);

describe('the workloads', () => {
  it('each have files of different names, none of which is published already unless that is the point', () => {
    for (const name of scenarioNames) {
      const { published, incoming } = all[name];
      const names = [...published, ...incoming].map((each) => sampleFile({ ...each, size: 0 }).fileName);
      assert.equal(all[name].name, name);
      assert.equal(new Set(names).size, names.length - (name === 'no-op' ? 1 : 0), name);
    }
  });

  it('have the sizes that they are known by', () => {
    assert.deepEqual(
      scenarioNames.map((name) => [name, all[name].published.length, all[name].incoming.length]),
      [
        ['incremental', 1000, 1],
        ['cold', 0, 200],
        ['large', 0, 1],
        ['no-op', 1000, 1],
        ['prune', 1000, 50],
      ],
    );
    assert.equal(all.large.incoming[0]?.size, 2 * 1024 ** 3);
    assert.equal(workloads(16).large.incoming[0]?.size, 16 * 1024 ** 2);
  });

  it('prune nine versions of each package that comes in', () => {
    const { published, incoming, inputs } = all.prune;
    assert.deepEqual(inputs, { 'keep-versions': '2' });
    for (const { name } of incoming) assert.equal(published.filter((each) => each.name === name).length, 10);
  });
});

describe('the emulator', () => {
  it('takes 200 MB in parts without keeping them', async () => {
    await using server = await startS3Server({ quirks: { forgets: 4 * 1024 ** 2 } });
    const store = new S3Store({
      bucket: 'apt',
      prefix: '',
      endpoint: server.endpoint,
      forcePathStyle: true,
      credentials: rigCredentials,
      version: '0.0.0',
    });
    const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-store' };
    const part = Buffer.alloc(8 * 1024 ** 2, 'x');
    const upload = await store.startUpload('k', attributes);
    const parts = [];
    const before = process.memoryUsage().rss;
    for (let number = 1; number <= 25; number += 1)
      parts.push(await store.putPart(upload, { number, offset: (number - 1) * part.length }, bytesPart(part)));
    await store.completeUpload(upload, parts);
    const grown = process.memoryUsage().rss - before;
    const head = await store.head('k');
    assert.equal(head.found && head.size, 25 * part.length);
    assert.ok(grown < 120e6, `${grown} bytes`);
  });
});
