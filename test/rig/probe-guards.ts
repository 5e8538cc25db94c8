import {
  attributes,
  complete,
  type Probe,
  put,
  putPart,
  race,
  stale,
  startUpload,
  summary,
  written,
} from './probe-requests.ts';

const part = Buffer.alloc(5 * 1024 * 1024, 'p');

/** What a publisher's safety rests on: conditions, uploads in parts, signatures and permissions. */
export const guardProbes: readonly Probe[] = [
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
    ceph: '412 PreconditionFailed, 404 NoSuchKey',
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
    ceph: '200, , true, max-age=60, -2"',
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
    ceph: '200',
    likeness: '403 AccessDenied',
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
