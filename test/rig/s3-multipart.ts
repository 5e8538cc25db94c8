import { createHash } from 'node:crypto';
import { type Answer, empty, S3Fault, xmlAnswer } from './s3-answer.ts';
import type { PendingUpload } from './s3-bucket.ts';
import { checkWriteConditions } from './s3-conditions.ts';
import { attributesFrom, type Context, checkWriteRate, etagHeader, malformedXml } from './s3-objects.ts';
import type { Payload } from './s3-payload.ts';
import type { S3Request } from './s3-request.ts';
import { childText, element, parseXml } from './s3-xml.ts';

const documentedMinimum = 5 * 1024 * 1024;

export function createUpload({ bucket, quirks }: Context, request: S3Request, now: number): Answer {
  const id = createHash('sha256').update(`${bucket.name} ${request.number}`).digest('hex').slice(0, 40);
  bucket.uploads.set(id, { id, key: request.key, started: now, ...attributesFrom(request, quirks), parts: new Map() });
  return xmlAnswer(
    'InitiateMultipartUploadResult',
    element('Bucket', bucket.name),
    element('Key', request.key),
    element('UploadId', id),
  );
}

export function uploadPart(context: Context, request: S3Request, payload: Payload): Answer {
  const upload = pendingUpload(context, request);
  const number = Number(request.query.get('partNumber'));
  if (!Number.isInteger(number) || number < 1 || number > 10_000) {
    throw new S3Fault(400, 'InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive');
  }
  const etag = createHash('md5').update(payload.body).digest('hex');
  upload.parts.set(number, { body: context.bucket.kept([payload.body]), etag });
  const checksums = [...payload.checksums].map(([name, value]) => [`x-amz-checksum-${name}`, value]);
  return empty(200, { etag: etagHeader(etag, context.quirks), ...Object.fromEntries(checksums) });
}

/** Puts the named parts together. A refused condition leaves the upload as it was. */
export function completeUpload(context: Context, request: S3Request, payload: Payload): Answer {
  const { bucket, quirks } = context;
  const upload = pendingUpload(context, request);
  const parts = namedParts(payload.body).map(({ number, etag }, index, all) => {
    const before = all[index - 1];
    if (before !== undefined && before.number >= number) {
      throw new S3Fault(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.');
    }
    const part = upload.parts.get(number);
    if (part === undefined || part.etag !== etag) {
      throw new S3Fault(
        400,
        'InvalidPart',
        'One or more of the specified parts could not be found or has another ETag.',
      );
    }
    if (index < all.length - 1 && part.body.length < (quirks.minPart ?? documentedMinimum)) {
      throw new S3Fault(400, 'EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed object size.');
    }
    return part;
  });
  checkWriteConditions('complete', request, bucket, quirks);
  checkWriteRate(context, request.key);
  const sums = createHash('md5');
  for (const part of parts) sums.update(Buffer.from(part.etag, 'hex'));
  const object = bucket.write(upload.key, bucket.kept(parts.map((part) => part.body)), {
    headers: upload.headers,
    public: upload.public,
    etag: `${sums.digest('hex')}-${parts.length}`,
  });
  bucket.uploads.delete(upload.id);
  return xmlAnswer(
    'CompleteMultipartUploadResult',
    element('Bucket', bucket.name),
    element('Key', upload.key),
    element('ETag', quirks.completeWithoutEtag === true ? '' : etagHeader(object.etag, quirks)),
  );
}

export function abortUpload(context: Context, request: S3Request): Answer {
  context.bucket.uploads.delete(pendingUpload(context, request).id);
  return empty(204);
}

export function listUploads({ bucket }: Context, request: S3Request): Answer {
  const prefix = request.query.get('prefix') ?? '';
  const uploads = [...bucket.uploads.values()].filter((upload) => upload.key.startsWith(prefix));
  return xmlAnswer(
    'ListMultipartUploadsResult',
    element('Bucket', bucket.name),
    element('Prefix', prefix),
    element('IsTruncated', false),
    ...uploads.map((upload) =>
      element(
        'Upload',
        element('Key', upload.key),
        element('UploadId', upload.id),
        element('Initiated', new Date(upload.started).toISOString()),
      ),
    ),
  );
}

function pendingUpload({ bucket }: Context, request: S3Request): PendingUpload {
  const upload = bucket.uploads.get(request.query.get('uploadId') ?? '');
  if (upload === undefined || upload.key !== request.key) {
    throw new S3Fault(
      404,
      'NoSuchUpload',
      'The specified upload does not exist. It may have been aborted or completed.',
    );
  }
  return upload;
}

function namedParts(body: Buffer): readonly { readonly number: number; readonly etag: string }[] {
  const root = parseXml(body.toString());
  const parts = (root?.children ?? []).flatMap((node) =>
    node.name === 'Part'
      ? [{ number: Number(childText(node, 'PartNumber')), etag: (childText(node, 'ETag') ?? '').replaceAll('"', '') }]
      : [],
  );
  if (parts.length === 0) throw malformedXml();
  return parts;
}
