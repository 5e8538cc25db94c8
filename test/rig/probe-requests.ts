import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { encode, type RawClient, type RawRequest } from './s3-raw-client.ts';
import { childText, parseXml } from './s3-xml.ts';

/** A server under probe. Everything below `open/` may be read by everybody. */
export interface ProbeTarget {
  readonly raw: RawClient;
  /** With the SDK's own defaults: checksums wherever it can. */
  readonly sdk: S3Client;
}

/** One question to an S3 server, and what each answers. */
export interface Probe {
  readonly name: string;
  ask(target: ProbeTarget): Promise<string>;
  /** As AWS documents it, and so the rig's server. */
  readonly aws: string;
  /** Ceph 16.2 (Debian bookworm) when it differs. */
  readonly ceph?: string;
  /** The rig's likeness of Ceph when it differs from the real one in something that no publisher looks at. */
  readonly likeness?: string;
}
/** An ETag that no object has. */
export const stale = '00000000000000000000000000000000';
/** A key with everything that is spelt differently in paths, headers and XML. */
export const oddKey = "odd/g++ 50% ü日本~1:2.0&<d>'_amd64.deb";

export const attributes: Readonly<Record<string, string>> = {
  'content-type': 'application/vnd.debian.binary-package',
  'cache-control': 'max-age=60',
  'x-amz-meta-sha256': 'abc',
};

export function put(key: string, headers: Readonly<Record<string, string>> = {}): RawRequest {
  return { method: 'PUT', key, body: 'body', headers };
}

export function copy(
  raw: RawClient,
  from: string,
  to: string,
  headers: Readonly<Record<string, string>> = {},
): RawRequest {
  const source = `/${raw.bucket}/${from.split('/').map(encode).join('/')}`;
  return { method: 'PUT', key: to, headers: { ...headers, 'x-amz-copy-source': source } };
}

export async function summary(raw: RawClient, request: RawRequest): Promise<string> {
  return (await raw.send(request)).summary;
}

/** Writes an object and gives its ETag as the header has it. */
export async function written(raw: RawClient, key: string, body: string): Promise<string> {
  return (await raw.send({ method: 'PUT', key, body })).headers.etag ?? '';
}

export async function sdkPut(sdk: S3Client, raw: RawClient, Key: string, Body: Buffer | Readable): Promise<string> {
  const command = new PutObjectCommand({ Bucket: raw.bucket, Key, Body, ContentLength: 1 });
  const status = await sdk.send(command).then(
    ({ $metadata }) => $metadata.httpStatusCode,
    (error) => error.$metadata?.httpStatusCode,
  );
  if (status !== 200) return String(status);
  return (await raw.send({ key: Key })).body.equals(Buffer.from('x')) ? '200' : 'other bytes stored';
}

export function deleteMany(keys: readonly string[], vouched: boolean): RawRequest {
  const objects = keys.map((key) => `<Object><Key>${xml(key)}</Key></Object>`).join('');
  const body = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
  const headers = vouched ? { 'content-md5': md5(body, 'base64') } : {};
  return { method: 'POST', query: { delete: '' }, body, headers };
}

export async function list(
  raw: RawClient,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly keys: readonly string[]; readonly next: string | undefined }> {
  const answer = await raw.send({ query: { 'list-type': '2', ...query } });
  const root = parseXml(answer.body.toString());
  if (root === undefined) throw new Error(`not a listing: ${answer.summary}`);
  const keys = root.children.flatMap((node) => {
    if (node.name === 'Contents') return [childText(node, 'Key') ?? ''];
    return node.name === 'CommonPrefixes' ? [childText(node, 'Prefix') ?? ''] : [];
  });
  return { keys, next: childText(root, 'NextContinuationToken') };
}

export async function pages(raw: RawClient, query: Readonly<Record<string, string>>): Promise<string> {
  const seen: string[] = [];
  let token: string | undefined;
  do {
    const page = await list(raw, token === undefined ? query : { ...query, 'continuation-token': token });
    seen.push(page.keys.join(' '));
    token = page.next;
  } while (token !== undefined && seen.length < 20);
  return seen.join(' | ');
}

export async function race(raw: RawClient, key: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const writers = Array.from({ length: 16 }, (_, number) => `writer ${number}`);
  const answers = await Promise.all(writers.map((body) => raw.send({ method: 'PUT', key, body, headers })));
  const winners = writers.filter((_, number) => answers[number]?.status === 200);
  const kept = (await raw.send({ key })).body.toString();
  return `${winners.length} winner, ${winners[0] === kept ? 'kept' : 'lost'}`;
}

export async function startUpload(
  raw: RawClient,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { body } = await raw.send({ method: 'POST', key, query: { uploads: '' }, headers });
  return /<UploadId>(.*?)<\/UploadId>/.exec(body.toString())?.[1] ?? '';
}

export async function putPart(
  raw: RawClient,
  key: string,
  id: string,
  number: number,
  body: Uint8Array | string,
): Promise<string> {
  const query = { partNumber: String(number), uploadId: id };
  return (await raw.send({ method: 'PUT', key, query, body })).headers.etag ?? '';
}

export function complete(
  key: string,
  id: string,
  etags: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): RawRequest {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  return { method: 'POST', key, query: { uploadId: id }, body, headers };
}

export const md5 = (text: string, encoding: 'hex' | 'base64'): string =>
  createHash('md5').update(text).digest(encoding);

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
