import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteMany, put, startUpload, summary, written } from './probe-requests.ts';
import { allConditions, likenesses, type Quirks } from './s3-quirks.ts';
import { RawClient } from './s3-raw-client.ts';
import { rigCredentials, type S3Server, startS3Server } from './s3-server.ts';

async function withQuirks(quirks: Quirks, ask: (raw: RawClient, server: S3Server) => Promise<void>): Promise<void> {
  await using server = await startS3Server({ quirks });
  using raw = new RawClient(server.endpoint, 'apt', rigCredentials);
  await ask(raw, server);
}

const create = put('k', { 'if-none-match': '*' });

test('conditions can be ignored, as GCS does', () =>
  withQuirks(likenesses.gcs, async (raw, server) => {
    server.objects('apt').write('k', 'old');
    server.objects('apt').write('m', 'old');
    await new Promise((resolve) => setTimeout(resolve, likenesses.gcs.writeIntervalMs));
    assert.equal(await summary(raw, create), '200');
    assert.equal(server.objects('apt').text('k'), 'body');
    assert.equal(await summary(raw, put('m', { 'if-match': 'stale' })), '200');
  }));

test('conditions can be refused with 501, as B2 does', () =>
  withQuirks(likenesses.b2, async (raw, server) => {
    assert.equal(await summary(raw, create), '501 NotImplemented');
    assert.equal(server.objects('apt').has('k'), false);
  }));

test('Swift wants Content-MD5 and refuses conditions on writes only', () =>
  withQuirks(likenesses.swift, async (raw) => {
    assert.equal(await summary(raw, create), '501 NotImplemented');
    assert.equal(await summary(raw, put('k')), '200');
    assert.equal(
      await summary(raw, { method: 'DELETE', key: 'k', headers: { 'if-match': 'no' } }),
      '412 PreconditionFailed',
    );
    assert.equal(await summary(raw, deleteMany(['k'], false)), '400 InvalidRequest');
    assert.equal(await summary(raw, deleteMany(['k'], true)), '200');
  }));

test('If-Match on a missing key can create it, as old MinIO did', () =>
  withQuirks({ ifMatchOnMissing: 'created' }, async (raw) => {
    assert.equal(await summary(raw, put('k', { 'if-match': 'gone' })), '200');
  }));

for (const [status, code] of [
  [409, 'ConditionalRequestConflict'],
  [500, 'UnknownError'],
] as const) {
  test(`whoever loses against a request in flight can get ${status}, whoever comes afterwards gets 412`, () =>
    withQuirks({ raceLosers: status }, async (raw, server) => {
      const steps = server.hold();
      const both = [raw.send(create), raw.send(create)];
      const first = await steps.next(({ number }) => number === 1);
      const second = await steps.next(({ number }) => number === 2);
      await first.release();
      await second.release();
      const answers = (await Promise.all(both)).map(({ summary: answer }) => answer);
      assert.deepEqual(answers.sort(), ['200', `${status} ${code}`]);
      steps.open();
      assert.equal(await summary(raw, create), '412 PreconditionFailed');
    }));
}

test('checksums can be refused, with 400 as with 501', async () => {
  const sum = put('k', { 'x-amz-checksum-crc32': 'AAAAAA==' });
  await withQuirks({ checksums: 400 }, async (raw) => assert.equal(await summary(raw, sum), '400 InvalidArgument'));
  await withQuirks({ checksums: 501 }, async (raw) => assert.equal(await summary(raw, sum), '501 NotImplemented'));
});

test('a missing key can be forbidden', () =>
  withQuirks({ forbiddenForMissing: true }, async (raw) => {
    assert.equal(await summary(raw, { key: 'none' }), '403 AccessDenied');
    await raw.send(put('there'));
    assert.equal(await summary(raw, { key: 'there' }), '200');
  }));

test('ETags can be opaque and bare, and conditions still hold', () =>
  withQuirks({ opaqueEtags: true, unquotedEtags: true }, async (raw) => {
    const first = await written(raw, 'k', 'same');
    const second = await written(raw, 'k', 'same');
    assert.match(first, /^[0-9a-f]{32}$/);
    assert.notEqual(first, second);
    assert.equal(await summary(raw, put('k', { 'if-match': first })), '412 PreconditionFailed');
    assert.equal(await summary(raw, put('k', { 'if-match': second })), '200');
  }));

test('DeleteObjects can be missing', () =>
  withQuirks({ deleteObjects: 'unsupported' }, async (raw) => {
    assert.equal(await summary(raw, deleteMany(['k'], true)), '501 NotImplemented');
  }));

test('pages can be small whatever was asked for', () =>
  withQuirks({ pageSize: 2 }, async (raw, server) => {
    for (const key of ['1', '2', '3']) server.objects('apt').write(key, '');
    const { body } = await raw.send({ query: { 'list-type': '2', 'max-keys': '1000' } });
    assert.match(body.toString(), /<KeyCount>2<.*<IsTruncated>true</);
  }));

test('two writes of one key within the interval get 429, of two keys do not', () =>
  withQuirks(likenesses.r2, async (raw) => {
    assert.equal(await summary(raw, put('k')), '200');
    assert.equal(await summary(raw, put('k')), '429 TooManyRequests');
    assert.equal(await summary(raw, put('other')), '200');
    assert.equal(await summary(raw, put('third', { 'x-amz-acl': 'private' })), '400 AccessControlListNotSupported');
  }));

test('bodies and parts have a largest and a smallest size', () =>
  withQuirks({ maxBody: 3, minPart: 1 }, async (raw) => {
    assert.equal(await summary(raw, put('k')), '413 EntityTooLarge');
    assert.notEqual(await startUpload(raw, 'k'), '');
  }));

test('a request signed for another region is sent away with the right one named', async () => {
  await withQuirks({ region: { name: 'eu-west-1', others: 301 } }, async (raw) => {
    const answer = await raw.send({ key: 'k' });
    assert.equal(answer.summary, '301 PermanentRedirect');
    assert.equal(answer.headers['x-amz-bucket-region'], 'eu-west-1');
  });
  await withQuirks({ region: { name: 'eu-west-1', others: 400 } }, async (raw) => {
    const answer = await raw.send({ key: 'k' });
    assert.match(answer.body.toString(), /<Region>eu-west-1<\/Region>/);
  });
});

test('conditions can be ignored in one place and refused in another', () =>
  withQuirks({ conditions: { ...allConditions('ignored'), 'put-if-none-match': 'refused' } }, async (raw) => {
    assert.equal(await summary(raw, create), '501 NotImplemented');
    assert.equal(await summary(raw, put('k', { 'if-match': 'stale' })), '200');
  }));

test('large bodies can be forgotten: zeros of their length are read, and their ETags are those of what came', () =>
  withQuirks({ forgets: 4 }, async (raw, server) => {
    const etag = await written(raw, 'k', 'large');
    assert.equal(await summary(raw, put('k', { 'if-match': etag })), '200');
    await written(raw, 'k', 'large');
    assert.equal(server.objects('apt').text('k'), '\0'.repeat(5));
    await written(raw, 'k', 'few');
    assert.equal(server.objects('apt').text('k'), 'few');
  }));
