import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { rigCredentials, startS3Server } from './s3-server.ts';

test('an object that was put is got back', async () => {
  await using server = await startS3Server();
  const client = new S3Client({
    endpoint: server.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: rigCredentials,
    maxAttempts: 1,
  });
  await client.send(
    new PutObjectCommand({
      Bucket: 'apt',
      Key: 'a+b ü~:',
      Body: 'hello',
      Metadata: { x: 'y' },
      CacheControl: 'no-cache',
    }),
  );
  const got = await client.send(new GetObjectCommand({ Bucket: 'apt', Key: 'a+b ü~:' }));
  assert.equal(await got.Body?.transformToString(), 'hello');
  console.log(got);
  console.log(await client.send(new ListObjectsV2Command({ Bucket: 'apt' })));
  console.log(
    await client.send(new DeleteObjectsCommand({ Bucket: 'apt', Delete: { Objects: [{ Key: 'a+b ü~:' }] } })),
  );
  console.log(server.requests);
  client.destroy();
});
