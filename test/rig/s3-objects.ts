import { type Answer, empty, noSuchKey, S3Fault, xmlAnswer } from './s3-answer.ts';
import type { Bucket, StoredObject } from './s3-bucket.ts';
import { checkCopySource, checkReadConditions, checkWriteConditions } from './s3-conditions.ts';
import type { Payload } from './s3-payload.ts';
import type { Quirks } from './s3-quirks.ts';
import type { S3Request } from './s3-request.ts';
import { childText, element, parseXml } from './s3-xml.ts';

/** What an operation works on. */
export interface Context {
  readonly bucket: Bucket;
  /** Bucket by name, for the source of a copy; throws NoSuchBucket. */
  readonly bucketNamed: (name: string) => Bucket;
  readonly quirks: Quirks;
}

export function putObject(context: Context, request: S3Request, payload: Payload): Answer {
  const { bucket, quirks } = context;
  checkWriteConditions('put', request, bucket, quirks);
  checkWriteRate(context, request.key);
  const object = bucket.write(request.key, payload.body, {
    ...attributesFrom(request, quirks),
    checksums: payload.checksums,
  });
  return empty(200, { etag: etagHeader(object.etag, quirks), ...checksumHeaders(object) });
}

export function getObject(context: Context, request: S3Request): Answer {
  const { bucket, quirks } = context;
  const object = bucket.get(request.key);
  if (object === undefined) throw missing(request.key, quirks);
  const validators = {
    etag: etagHeader(object.etag, quirks),
    'last-modified': new Date(object.modified).toUTCString(),
    ...(object.headers['cache-control'] === undefined ? {} : { 'cache-control': object.headers['cache-control'] }),
  };
  checkReadConditions(request, object, validators);
  const headers = {
    'content-type': 'binary/octet-stream',
    ...object.headers,
    ...validators,
    'accept-ranges': 'bytes',
  };
  const range = request.headers.range;
  if (range !== undefined) return ranged(range, object, headers);
  const checksums = request.headers['x-amz-checksum-mode'] === 'ENABLED' ? checksumHeaders(object) : {};
  return { status: 200, headers: { ...headers, ...checksums }, body: object.body };
}

export function copyObject(context: Context, request: S3Request): Answer {
  const { bucket, quirks } = context;
  const from = String(request.headers['x-amz-copy-source']);
  // AWS reads the source as a form value: `+` stands for a blank, so a key's own `+` must come as %2B.
  const [, name = '', key = ''] = /^\/?([^/]+)\/(.+)$/s.exec(decodeURIComponent(from.replaceAll('+', ' '))) ?? [];
  const source = context.bucketNamed(name).get(key);
  if (source === undefined) throw missing(key, quirks);
  checkCopySource(request, source, quirks);
  checkWriteConditions('copy', request, bucket, quirks);
  const replace = request.headers['x-amz-metadata-directive'] === 'REPLACE';
  if (!replace && name === bucket.name && key === request.key) {
    throw new S3Fault(
      400,
      'InvalidRequest',
      'This copy request is illegal because it changes nothing about the object.',
    );
  }
  checkWriteRate(context, request.key);
  const attributes = attributesFrom(request, quirks);
  const object = bucket.write(request.key, source.body, {
    headers: replace ? attributes.headers : source.headers,
    public: attributes.public,
    checksums: source.checksums,
  });
  return xmlAnswer(
    'CopyObjectResult',
    element('LastModified', new Date(object.modified).toISOString()),
    element('ETag', etagHeader(object.etag, quirks)),
  );
}

export function deleteObject(context: Context, request: S3Request): Answer {
  checkWriteConditions('delete', request, context.bucket, context.quirks);
  context.bucket.remove(request.key);
  return empty(204);
}

/** DeleteObjects: at most 1000 keys, and the body must be vouched for by Content-MD5 or a checksum. */
export function deleteObjects(context: Context, request: S3Request, payload: Payload): Answer {
  const { bucket, quirks } = context;
  if (quirks.deleteObjects === 'unsupported')
    throw new S3Fault(501, 'NotImplemented', 'DeleteObjects is not implemented.');
  const vouched =
    request.headers['content-md5'] !== undefined ||
    (quirks.deleteObjects !== 'content-md5-only' && (payload.checksums.size > 0 || quirks.checksums === 'ignored'));
  if (!vouched) throw new S3Fault(400, 'InvalidRequest', 'Missing required header for this request: Content-MD5');
  const keys = request.keys;
  if (keys.length === 0 || keys.length > 1000) throw malformedXml();
  for (const key of keys) bucket.remove(key);
  const quiet = /<Quiet>\s*true\s*<\/Quiet>/.test(payload.body.toString());
  return xmlAnswer('DeleteResult', ...(quiet ? [] : keys.map((key) => element('Deleted', element('Key', key)))));
}

/** The keys that the body of a DeleteObjects names. */
export function namedKeys(body: Buffer): readonly string[] {
  const root = parseXml(body.toString());
  return (root?.children ?? []).flatMap((node) => (node.name === 'Object' ? [childText(node, 'Key') ?? ''] : []));
}

export const malformedXml = (): S3Fault =>
  new S3Fault(400, 'MalformedXML', 'The XML you provided was not well-formed or did not validate against our schema.');

export function etagHeader(etag: string, quirks: Quirks): string {
  return quirks.unquotedEtags === true ? etag : `"${etag}"`;
}

const keptHeaders = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];

/** The headers of a write that stay with the object, and whether its ACL opens it. */
export function attributesFrom(
  request: S3Request,
  quirks: Quirks,
): { readonly headers: Readonly<Record<string, string>>; readonly public: boolean } {
  const acl = request.headers['x-amz-acl'];
  if (acl !== undefined && quirks.aclRefused === true) {
    throw new S3Fault(400, 'AccessControlListNotSupported', 'The bucket does not allow ACLs');
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && (keptHeaders.includes(name) || name.startsWith('x-amz-meta-')))
      headers[name] = String(value);
  }
  // The framing of the request is not a property of the object.
  const encoding = headers['content-encoding']?.replace(/^aws-chunked(,\s*|$)/, '');
  if (encoding === '') delete headers['content-encoding'];
  else if (encoding !== undefined) headers['content-encoding'] = encoding;
  return { headers, public: acl === 'public-read' };
}

/** Throws 429 when the key was written a moment ago and the store counts. */
export function checkWriteRate({ bucket, quirks }: Context, key: string): void {
  const last = bucket.changedAt(key);
  if (quirks.writeIntervalMs === undefined || last === undefined) return;
  if (performance.now() - last < quirks.writeIntervalMs) {
    throw new S3Fault(429, 'TooManyRequests', 'Reduce your concurrent request rate for the same object.');
  }
}

function ranged(range: string, object: StoredObject, headers: Readonly<Record<string, string>>): Answer {
  const size = object.body.length;
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if ((first === '' && last === '') || from > to) {
    throw new S3Fault(416, 'InvalidRange', 'The requested range is not satisfiable', {
      headers: { 'content-range': `bytes */${size}` },
    });
  }
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${size}` },
    body: object.body.subarray(from, to + 1),
  };
}

function checksumHeaders(object: StoredObject): Record<string, string> {
  return Object.fromEntries([...object.checksums].map(([name, value]) => [`x-amz-checksum-${name}`, value]));
}

function missing(key: string, quirks: Quirks): S3Fault {
  return quirks.forbiddenForMissing === true ? new S3Fault(403, 'AccessDenied', 'Access Denied') : noSuchKey(key);
}
