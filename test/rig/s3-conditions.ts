import { noSuchKey, notImplemented, S3Fault } from './s3-answer.ts';
import type { Bucket, StoredObject } from './s3-bucket.ts';
import type { ConditionPlace, Quirks } from './s3-quirks.ts';
import type { S3Request } from './s3-request.ts';

/**
 * Holds a write against its `If-None-Match: *` and `If-Match`; throws when it must not take place.
 * Source: Amazon S3 user guide, "How to prevent object overwrites with conditional writes" and "conditional deletes".
 */
export function checkWriteConditions(
  operation: 'put' | 'complete' | 'copy' | 'delete',
  request: S3Request,
  bucket: Bucket,
  quirks: Quirks,
): void {
  const current = bucket.get(request.key);
  const lost = (): S3Fault => lostCondition(request, bucket, quirks);
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch !== undefined && operation !== 'delete' && applies(`${operation}-if-none-match`, quirks)) {
    if (ifNoneMatch !== '*') throw notImplemented('If-None-Match');
    if (current !== undefined) throw lost();
  }
  const ifMatch = request.headers['if-match'];
  if (ifMatch !== undefined && applies(`${operation}-if-match`, quirks)) {
    if (current === undefined) {
      if (quirks.ifMatchOnMissing === 412) throw preconditionFailed();
      if (quirks.ifMatchOnMissing === undefined) throw noSuchKey(request.key);
    } else if (!matches(ifMatch, current, quirks)) throw lost();
  }
}

/** Holds the source of a copy against `x-amz-copy-source-if-match`. */
export function checkCopySource(request: S3Request, source: StoredObject, quirks: Quirks): void {
  const ifMatch = request.headers['x-amz-copy-source-if-match'];
  if (ifMatch === undefined || !applies('copy-source-if-match', quirks)) return;
  if (!matches(String(ifMatch), source, quirks)) throw preconditionFailed();
}

/** Holds a read against its conditions: 304 or 412. RFC 9110 §13.2.2 gives their order. */
export function checkReadConditions(
  request: S3Request,
  object: StoredObject,
  validators: Record<string, string>,
): void {
  const { headers } = request;
  if (headers['if-match'] !== undefined && !matches(headers['if-match'], object, {})) throw preconditionFailed();
  const notModified = (): S3Fault => new S3Fault(304, 'NotModified', 'Not Modified', { headers: validators });
  if (headers['if-none-match'] !== undefined) {
    if (matches(headers['if-none-match'], object, {})) throw notModified();
  } else if (headers['if-modified-since'] !== undefined) {
    if (object.modified <= Date.parse(headers['if-modified-since'])) throw notModified();
  }
}

function applies(place: ConditionPlace, quirks: Quirks): boolean {
  const fate = quirks.conditions?.[place];
  if (fate === 'refused') throw notImplemented(place);
  return fate !== 'ignored';
}

function matches(value: string, object: StoredObject, quirks: Quirks): boolean {
  if (value === '*') return true;
  if (quirks.ifMatchUnquotedOnly === true) return value === object.etag;
  return value.split(',').some((etag) => etag.trim().replace(/^"(.*)"$/, '$1') === object.etag);
}

function lostCondition(request: S3Request, bucket: Bucket, quirks: Quirks): S3Fault {
  const overlapped = (bucket.changedAt(request.key) ?? 0) >= request.start;
  if (overlapped && quirks.raceLosers === 409) {
    return new S3Fault(
      409,
      'ConditionalRequestConflict',
      'A conflicting operation occurred during the request. Try again.',
    );
  }
  if (overlapped && quirks.raceLosers === 500) return new S3Fault(500, 'UnknownError', 'UnknownError');
  return preconditionFailed();
}

const preconditionFailed = (): S3Fault =>
  new S3Fault(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
