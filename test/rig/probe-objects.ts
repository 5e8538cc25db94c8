import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  attributes,
  copy,
  deleteMany,
  list,
  md5,
  oddKey,
  type Probe,
  pages,
  put,
  sdkPut,
  stale,
  summary,
  written,
} from './probe-requests.ts';

/** Single objects: writing, reading, copying, deleting, and listing many. */
export const objectProbes: readonly Probe[] = [
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
    ceph: '200',
    likeness: '404 NoSuchKey',
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
      answers.push(String(listed.keys[0] === oddKey), await summary(raw, { method: 'DELETE', key: oddKey }));
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
    name: 'DeleteObjects wants its body vouched for',
    ask: async ({ raw }) => summary(raw, deleteMany(['d/3'], false)),
    aws: '400 InvalidRequest',
    ceph: '200',
  },
  {
    name: 'DeleteObjects of nothing is malformed',
    ask: async ({ raw }) => summary(raw, deleteMany([], true)),
    aws: '400 MalformedXML',
    ceph: '200',
    likeness: '400 MalformedXML',
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
];
