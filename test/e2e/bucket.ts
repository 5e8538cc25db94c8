import assert from 'node:assert/strict';
import { type Ceph, startCeph } from '../rig/ceph.ts';
import { RawClient } from '../rig/s3-raw-client.ts';
import { childText, parseXml } from '../rig/s3-xml.ts';
import type { Inputs } from './runner.ts';

/** A bucket that everybody may read and one key may write, and what a workflow says to reach it. */
export interface RepositoryBucket {
  /** What apt is pointed at. */
  readonly url: string;
  readonly inputs: Inputs;
  /** Key below the prefix → what the store says of the object. */
  list(): Promise<Map<string, StoredObject>>;
  /** An object's bytes as an anonymous reader gets them. Throws when it gets none. */
  read(key: string): Promise<Buffer>;
  /** Writes an object past the action. */
  write(key: string, body: Uint8Array | string): Promise<void>;
}

export interface StoredObject {
  readonly etag: string;
  readonly size: number;
  readonly modified: string;
}

/** A fresh Ceph for one test file. */
export interface CephStore extends AsyncDisposable {
  readonly ceph: Ceph;
  /** A new bucket with an empty repository below `prefix`. */
  bucket(name: string, prefix?: string): Promise<RepositoryBucket>;
}

export async function startStore(): Promise<CephStore> {
  const ceph = await startCeph();
  const buckets = new Map<string, string>();
  return {
    ceph,
    bucket: async (name, prefix = 'debian') => {
      // One bucket, opened as a whole, may hold several repositories.
      const base = buckets.get(name) ?? (await ceph.createBucket(name, ''));
      buckets.set(name, base);
      return repositoryBucket(ceph, name, prefix, base);
    },
    [Symbol.asyncDispose]: () => ceph[Symbol.asyncDispose](),
  };
}

function repositoryBucket(ceph: Ceph, name: string, prefix: string, base: string): RepositoryBucket {
  const url = `${base}/${prefix}`;
  return {
    url,
    inputs: {
      endpoint: ceph.endpoint,
      bucket: name,
      prefix,
      'access-key-id': ceph.credentials.accessKeyId,
      'secret-access-key': ceph.credentials.secretAccessKey,
      'public-url': url,
    },
    list: () => listObjects(ceph, name, `${prefix}/`),
    read: async (key) => {
      const answer = await fetch(`${url}/${key.split('/').map(encodeURIComponent).join('/')}`);
      assert.equal(answer.status, 200, `${key}: ${answer.status}`);
      return Buffer.from(await answer.arrayBuffer());
    },
    write: async (key, body) => {
      using client = new RawClient(ceph.endpoint, name, ceph.credentials);
      const answer = await client.send({ method: 'PUT', key: `${prefix}/${key}`, body });
      assert.equal(answer.summary, '200');
    },
  };
}

async function listObjects(ceph: Ceph, bucket: string, prefix: string): Promise<Map<string, StoredObject>> {
  using client = new RawClient(ceph.endpoint, bucket, ceph.credentials);
  const objects = new Map<string, StoredObject>();
  for (let token: string | undefined = ''; token !== undefined; ) {
    const page: Record<string, string> = token === '' ? {} : { 'continuation-token': token };
    const { body, summary } = await client.send({ query: { 'list-type': '2', prefix, ...page } });
    assert.equal(summary, '200');
    const listing = parseXml(body.toString());
    assert.ok(listing !== undefined, body.toString());
    for (const entry of listing.children.filter(({ name }) => name === 'Contents')) {
      const text = (name: string): string => childText(entry, name) ?? '';
      const facts = { etag: text('ETag'), size: Number(text('Size')), modified: text('LastModified') };
      objects.set(text('Key').slice(prefix.length), facts);
    }
    token = childText(listing, 'NextContinuationToken');
  }
  return objects;
}
