import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { encode, type RawAnswer, type RawClient, type RawRequest } from './s3-raw-client.ts';

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

const stale = '00000000000000000000000000000000';
const oddKey = "odd/g++ 50% ü日本~1:2.0&<d>'_amd64.deb";
const part = Buffer.alloc(5 * 1024 * 1024, 'p');

export const probes: readonly Probe[] = [
  {
    name: 'a body comes back as it was put, under the quoted MD5 as ETag',
    ask: async ({ raw }) => {
      const put = await raw.send({ method: 'PUT', key: 'w/body', body: 'hello apt\n' });
      const got = await raw.send({ key: 'w/body' });
      return `${put.summary}, ${got.body.toString() === 'hello apt\n'}, ${got.headers.etag === `"${md5('hello apt\n', 'hex')}"`}`;
    },
    aws: '200, true, true',
  },
  {
    name: 'type, Cache-Control and user metadata come back with HEAD, with an HTTP date',
    ask: async ({ raw }) => {
      await raw.send({ method: 'PUT', key: 'w/meta', body: 'x', headers: attributes });
      const { headers } = await raw.send({ method: 'HEAD', key: 'w/meta' });
      const dated = Math.abs(Date.parse(headers['last-modified'] ?? '') - Date.parse(headers.date ?? '')) < 10_000;
      return `${Object.keys(attributes).map((name) => headers[name] === attributes[name])}, ${headers['content-length']}, ${dated}`;
    },
    aws: 'true,true,true, 1, true',
  },
  {
    name: 'a wrong Content-MD5 is refused',
    ask: async ({ raw }) => summary(raw, put('w/md5', { 'content-md5': md5('other', 'base64') })),
    aws: '400 BadDigest',
  },
  {
    name: 'a wrong x-amz-checksum-sha256 is refused',
    ask: async ({ raw }) => {
      const wrong = createHash('sha256').update('other').digest('base64');
      return summary(raw, put('w/sum', { 'x-amz-checksum-sha256': wrong }));
    },
    aws: '400 BadDigest',
    ceph: '200',
  },
  {
    name: 'a body that was changed after signing is refused',
    ask: async ({ raw }) => summary(raw, { ...put('w/tampered'), wrong: { body: 'tampered' } }),
    aws: '400 XAmzContentSHA256Mismatch',
  },
  {
    name: "the SDK's own CRC32 on a buffer is taken",
    ask: async ({ sdk, raw }) => sdkPut(sdk, raw, 'w/crc', Buffer.from('x')),
    aws: '200',
  },
  {
    name: "the SDK's own aws-chunked stream with a trailer is taken",
    ask: async ({ sdk, raw }) => sdkPut(sdk, raw, 'w/stream', Readable.from([Buffer.from('x')])),
    aws: '200',
    ceph: '411',
  },
  {
    name: 'a range is served, one beyond the end refused',
    ask: async ({ raw }) => {
      await raw.send({ method: 'PUT', key: 'w/range', body: '0123456789' });
      const some = await raw.send({ key: 'w/range', headers: { range: 'bytes=2-4' } });
      const beyond = await raw.send({ key: 'w/range', headers: { range: 'bytes=10-' } });
      return `${some.summary} ${some.body} ${some.headers['content-range']}, ${beyond.summary}`;
    },
    aws: '206 234 bytes 2-4/10, 416 InvalidRange',
  },
  {
    name: 'a missing key and a missing bucket are told apart',
    ask: async ({ raw }) => {
      const bucket = await raw.send({ wrong: { path: '/no-such-bucket-here/x' } });
      const head = await raw.send({ method: 'HEAD', key: 'none' });
      return `${await summary(raw, { key: 'none' })}, ${head.summary}, ${bucket.summary}`;
    },
    aws: '404 NoSuchKey, 404, 404 NoSuchBucket',
  },
  {
    name: 'an unchanged object is not sent again',
    ask: async ({ raw }) => {
      const etag = await written(raw, 'w/cached', 'x');
      const modified = (await raw.send({ method: 'HEAD', key: 'w/cached' })).headers['last-modified'] ?? '';
      const byEtag = await summary(raw, { key: 'w/cached', headers: { 'if-none-match': etag } });
      return `${byEtag}, ${await summary(raw, { key: 'w/cached', headers: { 'if-modified-since': modified } })}`;
    },
    aws: '304, 304',
  },

  {
    name: 'a copy with REPLACE has the new attributes and the old bytes',
    ask: async ({ raw }) => {
      await raw.send({ method: 'PUT', key: 'c/from', body: 'bytes', headers: attributes });
      const replace = { 'x-amz-metadata-directive': 'REPLACE', 'cache-control': 'no-cache' };
      const copied = await raw.send(copy(raw, 'c/from', 'c/to', replace));
      const { headers, body } = await raw.send({ key: 'c/to' });
      return `${copied.summary} ${copied.body.includes('<ETag>')}, ${body}, ${headers['cache-control']}, ${headers['x-amz-meta-sha256']}`;
    },
    aws: '200 true, bytes, no-cache, undefined',
  },
  {
    name: 'a copy onto itself works with REPLACE only',
    ask: async ({ raw }) => {
      await raw.send(put('c/self'));
      const replace = { 'x-amz-metadata-directive': 'REPLACE', 'cache-control': 'no-cache' };
      const [plain, replaced] = [copy(raw, 'c/self', 'c/self'), copy(raw, 'c/self', 'c/self', replace)];
      return `${await summary(raw, plain)}, ${await summary(raw, replaced)}`;
    },
    aws: '400 InvalidRequest, 200',
  },
  {
    name: 'a copy of a missing key is "not found"',
    ask: async ({ raw }) => summary(raw, copy(raw, 'c/none', 'c/x')),
    aws: '404 NoSuchKey',
  },
  {
    name: 'a plus in the source of a copy that is not encoded stands for a blank',
    ask: async ({ raw }) => {
      await raw.send(put('c/a+b'));
      return summary(raw, {
        method: 'PUT',
        key: 'c/plus',
        headers: { 'x-amz-copy-source': `/${raw.bucket}/c/a+b` },
      });
    },
    aws: '404 NoSuchKey',
  },
  {
    name: 'a stale x-amz-copy-source-if-match is refused',
    ask: async ({ raw }) => {
      await raw.send(put('c/from2'));
      return summary(raw, copy(raw, 'c/from2', 'c/to2', { 'x-amz-copy-source-if-match': stale }));
    },
    aws: '412 PreconditionFailed',
    ceph: '200',
  },
  {
    name: 'the conditions on the target of a copy hold',
    ask: async ({ raw }) => {
      await raw.send(put('c/from3'));
      const ifAbsent = await summary(raw, copy(raw, 'c/from3', 'c/from3b', { 'if-none-match': '*' }));
      const again = await summary(raw, copy(raw, 'c/from3', 'c/from3b', { 'if-none-match': '*' }));
      return `${ifAbsent}, ${again}, ${await summary(raw, copy(raw, 'c/from3', 'c/from3b', { 'if-match': stale }))}`;
    },
    aws: '200, 412 PreconditionFailed, 412 PreconditionFailed',
    ceph: '200, 200, 200',
  },
  {
    name: 'keys with + ~ : % & < blanks and unicode are put, got, copied, listed and deleted',
    ask: async ({ raw }) => {
      const answers = [await summary(raw, put(oddKey)), await summary(raw, copy(raw, oddKey, `${oddKey}.copy`))];
      answers.push((await raw.send({ key: `${oddKey}.copy` })).body.toString());
      const listed = await list(raw, { prefix: 'odd/' });
      answers.push(String(listed.keys[0] === xml(oddKey)), await summary(raw, { method: 'DELETE', key: oddKey }));
      return answers.join(', ');
    },
    aws: '200, 200, body, true, 204',
  },

  {
    name: 'deleting twice is no error',
    ask: async ({ raw }) => {
      await raw.send(put('d/1'));
      const del = { method: 'DELETE', key: 'd/1' };
      return `${await summary(raw, del)}, ${await summary(raw, del)}, ${await summary(raw, { key: 'd/1' })}`;
    },
    aws: '204, 204, 404 NoSuchKey',
  },
  {
    name: 'a delete with a stale If-Match is refused',
    ask: async ({ raw }) => {
      await raw.send(put('d/2'));
      return summary(raw, { method: 'DELETE', key: 'd/2', headers: { 'if-match': stale } });
    },
    aws: '412 PreconditionFailed',
    ceph: '204',
  },
  {
    name: 'DeleteObjects takes odd and missing keys',
    ask: async ({ raw }) => {
      await raw.send(put(oddKey));
      const answer = await summary(raw, deleteMany([oddKey, 'd/none'], true));
      return `${answer}, ${await summary(raw, { key: oddKey })}`;
    },
    aws: '200, 404 NoSuchKey',
  },
  {
    name: 'DeleteObjects wants its body vouched for, and valid',
    ask: async ({ raw }) =>
      `${await summary(raw, deleteMany(['d/3'], false))}, ${await summary(raw, deleteMany([], true))}`,
    aws: '400 InvalidRequest, 400 MalformedXML',
  },

  {
    name: 'a listing is in the order of UTF-8 bytes',
    ask: async ({ raw }) => {
      for (const key of ['l/b', 'l/a/1', 'l/B', 'l/a-', 'l/a+', 'l/\u{1f600}', 'l/\uff5e']) await raw.send(put(key));
      return (await list(raw, { prefix: 'l/' })).keys.join(' ');
    },
    aws: 'l/B l/a+ l/a- l/a/1 l/b l/\uff5e l/\u{1f600}',
  },
  {
    name: 'a listing comes in pages',
    ask: async ({ raw }) => {
      for (const key of ['p/1', 'p/2', 'p/3', 'p/4', 'p/5']) await raw.send(put(key));
      return pages(raw, { prefix: 'p/', 'max-keys': '2' });
    },
    aws: 'p/1 p/2 | p/3 p/4 | p/5',
  },
  {
    name: 'a listing in pages with a delimiter shows each folder once',
    ask: async ({ raw }) => {
      for (const key of ['q/x/1', 'q/x/2', 'q/y/1', 'q/y/2', 'q/y0']) await raw.send(put(key));
      return pages(raw, { prefix: 'q/', delimiter: '/', 'max-keys': '1' });
    },
    aws: 'q/x/ | q/y/ | q/y0',
  },
  {
    name: 'a listing starts after a key',
    ask: async ({ raw }) => {
      for (const key of ['s/1', 's/2', 's/3']) await raw.send(put(key));
      return (await list(raw, { prefix: 's/', 'start-after': 's/2' })).keys.join(' ');
    },
    aws: 's/3',
  },

  {
    name: 'If-None-Match: * creates and does not overwrite',
    ask: async ({ raw }) => {
      const create = put('i/new', { 'if-none-match': '*' });
      return `${await summary(raw, create)}, ${await summary(raw, create)}`;
    },
    aws: '200, 412 PreconditionFailed',
  },
  {
    name: 'If-Match holds for the ETag in quotes',
    ask: async ({ raw }) => {
      const etag = await written(raw, 'i/quoted', '1');
      return summary(raw, put('i/quoted', { 'if-match': etag }));
    },
    aws: '200',
    ceph: '412 PreconditionFailed',
  },
  {
    name: 'If-Match holds for the ETag without quotes, and no second time',
    ask: async ({ raw }) => {
      const etag = (await written(raw, 'i/bare', '1')).replaceAll('"', '');
      const replace = put('i/bare', { 'if-match': etag });
      return `${await summary(raw, replace)}, ${await summary(raw, replace)}`;
    },
    aws: '200, 412 PreconditionFailed',
  },
  {
    name: 'If-Match on a missing key writes nothing',
    ask: async ({ raw }) => {
      const answer = await raw.send(put('i/none', { 'if-match': stale }));
      return `${answer.summary}, ${await summary(raw, { key: 'i/none' })}`;
    },
    aws: '404 NoSuchKey, 404 NoSuchKey',
  },
  {
    name: 'of 16 that create one key together, one wins and its bytes stay',
    ask: async ({ raw }) => race(raw, 'i/race', { 'if-none-match': '*' }),
    aws: '1 winner, kept',
  },
  {
    name: 'of 16 that replace one object together, one wins and its bytes stay',
    ask: async ({ raw }) => {
      const etag = (await written(raw, 'i/swap', '1')).replaceAll('"', '');
      return race(raw, 'i/swap', { 'if-match': etag });
    },
    aws: '1 winner, kept',
  },

  {
    name: 'two parts become one object with the attributes of the start',
    ask: async ({ raw }) => {
      const id = await startUpload(raw, 'm/two', attributes);
      const parts = [await putPart(raw, 'm/two', id, 1, part), await putPart(raw, 'm/two', id, 2, 'tail')];
      const done = await raw.send(complete('m/two', id, parts));
      const { headers, body } = await raw.send({ key: 'm/two' });
      const etag = /<ETag>([^<]*)/.exec(done.body.toString())?.[1];
      const whole = body.equals(Buffer.concat([part, Buffer.from('tail')]));
      return `${done.summary}, ${etag?.slice(-8, -6)}, ${whole}, ${headers['cache-control']}, ${headers.etag?.slice(-3)}`;
    },
    aws: '200, -2, true, max-age=60, -2"',
    ceph: '200, undefined, true, max-age=60, -2"',
  },
  {
    name: 'If-None-Match: * holds on Complete',
    ask: async ({ raw }) => {
      await raw.send(put('m/there'));
      const id = await startUpload(raw, 'm/there');
      const parts = [await putPart(raw, 'm/there', id, 1, 'tail')];
      return summary(raw, complete('m/there', id, parts, { 'if-none-match': '*' }));
    },
    aws: '412 PreconditionFailed',
    ceph: '200',
  },
  {
    name: 'parts that are too small or have another ETag are refused',
    ask: async ({ raw }) => {
      const id = await startUpload(raw, 'm/small');
      const parts = [await putPart(raw, 'm/small', id, 1, 'small'), await putPart(raw, 'm/small', id, 2, 'tail')];
      const small = await summary(raw, complete('m/small', id, parts));
      return `${small}, ${await summary(raw, complete('m/small', id, [`"${stale}"`]))}`;
    },
    aws: '400 EntityTooSmall, 400 InvalidPart',
  },
  {
    name: 'an upload is listed until it is aborted, and takes no part afterwards',
    ask: async ({ raw }) => {
      const id = await startUpload(raw, 'm/aborted');
      const listed = async (): Promise<boolean> => {
        const { body } = await raw.send({ query: { uploads: '', prefix: 'm/aborted' } });
        return body.includes(id);
      };
      const before = await listed();
      const aborted = await summary(raw, { method: 'DELETE', key: 'm/aborted', query: { uploadId: id } });
      const late = { method: 'PUT', key: 'm/aborted', query: { partNumber: '1', uploadId: id }, body: 'x' };
      return `${before}, ${aborted}, ${await listed()}, ${await summary(raw, late)}`;
    },
    aws: 'true, 204, false, 404 NoSuchUpload',
  },

  {
    name: 'a wrong secret, an unknown key and a wrong clock are told apart',
    ask: async ({ raw }) => {
      const secret = { ...raw.credentials, secretAccessKey: 'wrong' };
      const nobody = { accessKeyId: 'NOBODY', secretAccessKey: 'x' };
      const answers = [{ credentials: secret }, { credentials: nobody }, { clock: -20 * 60_000 }].map((wrong) =>
        summary(raw, { key: 'w/body', wrong }),
      );
      return (await Promise.all(answers)).join(', ');
    },
    aws: '403 SignatureDoesNotMatch, 403 InvalidAccessKeyId, 403 RequestTimeTooSkewed',
  },
  {
    name: 'an x-amz header that is not signed is refused',
    ask: async ({ raw }) => summary(raw, { ...put('a/bare'), wrong: { headers: { 'x-amz-acl': 'public-read' } } }),
    aws: '403 AccessDenied',
  },
  {
    name: 'without a signature nothing is written, and only what the policy opens is read',
    ask: async ({ raw }) => {
      await raw.send(put('open/g++_1:2~rc1_amd64.deb'));
      await raw.send(put('shut/x'));
      const wrong = { unsigned: true };
      const asApt = { wrong: { ...wrong, path: `/${raw.bucket}/open/g%2b%2b_1%3a2%7erc1_amd64.deb` } };
      return [
        await summary(raw, { ...put('open/x'), wrong }),
        await summary(raw, asApt),
        await summary(raw, { key: 'shut/x', wrong }),
      ].join(', ');
    },
    aws: '403 AccessDenied, 200, 403 AccessDenied',
  },
  {
    name: 'without a signature a missing key is not told from a forbidden one',
    ask: async ({ raw }) => summary(raw, { key: 'open/none', wrong: { unsigned: true } }),
    aws: '403 AccessDenied',
  },
  {
    name: 'an ACL opens one object',
    ask: async ({ raw }) => {
      await raw.send(put('a/open', { 'x-amz-acl': 'public-read' }));
      return summary(raw, { key: 'a/open', wrong: { unsigned: true } });
    },
    aws: '200',
  },
];

const attributes: Readonly<Record<string, string>> = {
  'content-type': 'application/vnd.debian.binary-package',
  'cache-control': 'max-age=60',
  'x-amz-meta-sha256': 'abc',
};

function put(key: string, headers: Readonly<Record<string, string>> = {}): RawRequest {
  return { method: 'PUT', key, body: 'body', headers };
}

function copy(raw: RawClient, from: string, to: string, headers: Readonly<Record<string, string>> = {}): RawRequest {
  const source = `/${raw.bucket}/${from.split('/').map(encode).join('/')}`;
  return { method: 'PUT', key: to, headers: { ...headers, 'x-amz-copy-source': source } };
}

async function summary(raw: RawClient, request: RawRequest): Promise<string> {
  return (await raw.send(request)).summary;
}

/** Writes an object and gives its ETag as the header has it. */
async function written(raw: RawClient, key: string, body: string): Promise<string> {
  return (await raw.send({ method: 'PUT', key, body })).headers.etag ?? '';
}

async function sdkPut(sdk: S3Client, raw: RawClient, Key: string, Body: Buffer | Readable): Promise<string> {
  const command = new PutObjectCommand({ Bucket: raw.bucket, Key, Body, ContentLength: 1 });
  const status = await sdk.send(command).then(
    ({ $metadata }) => $metadata.httpStatusCode,
    (error) => error.$metadata?.httpStatusCode,
  );
  if (status !== 200) return String(status);
  return (await raw.send({ key: Key })).body.equals(Buffer.from('x')) ? '200' : 'other bytes stored';
}

function deleteMany(keys: readonly string[], vouched: boolean): RawRequest {
  const objects = keys.map((key) => `<Object><Key>${xml(key)}</Key></Object>`).join('');
  const body = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
  const headers = vouched ? { 'content-md5': md5(body, 'base64') } : {};
  return { method: 'POST', query: { delete: '' }, body, headers };
}

async function list(
  raw: RawClient,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly keys: readonly string[]; readonly next: string | undefined }> {
  const answer: RawAnswer = await raw.send({ query: { 'list-type': '2', ...query } });
  const text = answer.body.toString();
  const entries = text.matchAll(/<(?:Contents|CommonPrefixes)>.*?<(?:Key|Prefix)>(.*?)<\/(?:Key|Prefix)>/gs);
  const next = /<NextContinuationToken>(.*?)<\/NextContinuationToken>/.exec(text)?.[1];
  return { keys: [...entries].map(([, key]) => key ?? ''), next };
}

async function pages(raw: RawClient, query: Readonly<Record<string, string>>): Promise<string> {
  const seen: string[] = [];
  let token: string | undefined;
  do {
    const page = await list(raw, token === undefined ? query : { ...query, 'continuation-token': token });
    seen.push(page.keys.join(' '));
    token = page.next;
  } while (token !== undefined && seen.length < 20);
  return seen.join(' | ');
}

async function race(raw: RawClient, key: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const writers = Array.from({ length: 16 }, (_, number) => `writer ${number}`);
  const answers = await Promise.all(writers.map((body) => raw.send({ method: 'PUT', key, body, headers })));
  const winners = writers.filter((_, number) => answers[number]?.status === 200);
  const kept = (await raw.send({ key })).body.toString();
  return `${winners.length} winner, ${winners[0] === kept ? 'kept' : 'lost'}`;
}

async function startUpload(
  raw: RawClient,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { body } = await raw.send({ method: 'POST', key, query: { uploads: '' }, headers });
  return /<UploadId>(.*?)<\/UploadId>/.exec(body.toString())?.[1] ?? '';
}

async function putPart(
  raw: RawClient,
  key: string,
  id: string,
  number: number,
  body: Uint8Array | string,
): Promise<string> {
  const query = { partNumber: String(number), uploadId: id };
  return (await raw.send({ method: 'PUT', key, query, body })).headers.etag ?? '';
}

function complete(
  key: string,
  id: string,
  etags: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): RawRequest {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  return { method: 'POST', key, query: { uploadId: id }, body, headers };
}

const md5 = (text: string, encoding: 'hex' | 'base64'): string => createHash('md5').update(text).digest(encoding);

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
