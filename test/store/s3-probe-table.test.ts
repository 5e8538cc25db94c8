import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { S3Client } from '@aws-sdk/client-s3';
import { type Ceph, cephMissing, startCeph } from '../rig/ceph.ts';
import { guardProbes } from '../rig/probe-guards.ts';
import { objectProbes } from '../rig/probe-objects.ts';
import type { ProbeTarget } from '../rig/probe-requests.ts';
import { likenesses } from '../rig/s3-quirks.ts';
import { RawClient } from '../rig/s3-raw-client.ts';
import { rigCredentials, type S3Server, startS3Server } from '../rig/s3-server.ts';
import type { S3Credentials } from '../rig/s3-signature.ts';

const bucket = 'probe';
const probes = [...objectProbes, ...guardProbes];

function target(endpoint: string, credentials: S3Credentials): ProbeTarget & Disposable {
  const raw = new RawClient(endpoint, bucket, credentials);
  const sdk = new S3Client({
    ...{ endpoint, region: 'us-east-1', forcePathStyle: true, credentials, maxAttempts: 1 },
    // It warns on the console of refusals that the table expects.
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  return {
    raw,
    sdk,
    [Symbol.dispose]: () => {
      raw[Symbol.dispose]();
      sdk.destroy();
    },
  };
}

describe('the rig answers as AWS documents:', () => {
  let server: S3Server;
  let probed: ReturnType<typeof target>;
  before(async () => {
    server = await startS3Server({ buckets: [bucket] });
    server.publicUrl(bucket, 'open');
    probed = target(server.endpoint, rigCredentials);
  });
  after(async () => {
    probed[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  for (const { name, ask, aws } of probes) test(name, async () => assert.equal(await ask(probed), aws));
});

describe('the rig in the likeness of Ceph answers as Ceph does:', () => {
  let server: S3Server;
  let probed: ReturnType<typeof target>;
  before(async () => {
    server = await startS3Server({ buckets: [bucket], quirks: likenesses.ceph16 });
    server.publicUrl(bucket, 'open');
    probed = target(server.endpoint, rigCredentials);
  });
  after(async () => {
    probed[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  for (const { name, ask, aws, ceph = aws, likeness = ceph } of probes) {
    test(name, async () => assert.equal(await ask(probed), likeness));
  }
});

describe('Ceph answers as the table says:', { skip: cephMissing() }, () => {
  let server: Ceph;
  let probed: ReturnType<typeof target>;
  before(async () => {
    server = await startCeph();
    await server.createBucket(bucket, 'open');
    probed = target(server.endpoint, server.credentials);
  });
  after(async () => {
    probed[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  for (const { name, ask, aws, ceph = aws } of probes) test(name, async () => assert.equal(await ask(probed), ceph));
});
