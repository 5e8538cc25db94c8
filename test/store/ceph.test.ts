import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { probe } from '../../src/store/probe.ts';
import { S3Store } from '../../src/store/s3.ts';
import { type Ceph, cephMissing, startCeph } from '../rig/ceph.ts';
import { storeContract } from './contract.ts';

const skip = cephMissing();
const stores: S3Store[] = [];
let ceph: Ceph | undefined;

before(async () => {
  if (skip !== false) return;
  ceph = await startCeph();
  await ceph.createBucket('apt');
});

after(async () => {
  for (const store of stores) store.close();
  await ceph?.[Symbol.asyncDispose]();
});

/** A prefix of its own for each test is as good as a bucket of its own, and quicker. */
function open(bucket = 'apt'): S3Store {
  assert.ok(ceph);
  const { endpoint, credentials } = ceph;
  const prefix = `repository-${stores.length}`;
  const store = new S3Store({ bucket, prefix, endpoint, credentials, forcePathStyle: true, version: 'test' });
  stores.push(store);
  return store;
}

storeContract('the S3 store on Ceph', async () => ({ store: open(), [Symbol.asyncDispose]: async () => {} }), {
  attributes: true,
  // Ceph before 20, measured.
  conditionalCompletion: false,
  skip,
});

test('Ceph is found to hold conditions, with bare ETags', { skip }, async () => {
  const store = open();
  assert.deepEqual(await probe(store), { kind: 'enforced', etags: 'bare' });
  assert.deepEqual(await probe(store), { kind: 'enforced', etags: 'bare' });
});

test('Ceph says what is wrong in words that become the right problem', { skip }, async () => {
  assert.ok(ceph);
  await assert.rejects(open('no-such-bucket').get('key'), { code: 'store-bucket-missing' });
  const { endpoint, credentials } = ceph;
  const common = { bucket: 'apt', prefix: '', endpoint, forcePathStyle: true, version: 'test' };
  const wrong = new S3Store({ ...common, credentials: { ...credentials, secretAccessKey: 'wrong' } });
  const unknown = new S3Store({ ...common, credentials: { ...credentials, accessKeyId: 'NOBODY' } });
  stores.push(wrong, unknown);
  await assert.rejects(wrong.get('key'), { code: 'store-credentials-wrong' });
  await assert.rejects(unknown.get('key'), { code: 'store-credentials-unknown' });
  await assert.rejects(unknown.head('key'), { code: 'store-access-denied' });
});
