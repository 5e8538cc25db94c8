import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { s3Failure } from './s3-errors.ts';

/** Keeps the store's own `Date` of every answer, by the output it belongs to: the SDK does not pass it on. */
export function keepDates(client: S3Client): WeakMap<object, number> {
  const dates = new WeakMap<object, number>();
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const date = Date.parse(s3Failure({ $response: result.response }).headers['date'] ?? '');
      if (typeof result.output === 'object' && !Number.isNaN(date)) dates.set(result.output, date);
      return result;
    },
    { step: 'deserialize', priority: 'high', name: 'keepDates' },
  );
  return dates;
}

/**
 * Puts Content-MD5 in the place of the SDK's checksum extension. DeleteObjects must carry one of them, and Content-MD5 is the
 * one that all servers know: some know no other (Swift, old MinIO), some refuse the extension (B2).
 */
export function sendContentMd5(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      if (context['commandName'] === 'DeleteObjectsCommand')
        withContentMd5('request' in args ? args.request : undefined);
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'sendContentMd5' },
  );
}

/**
 * The SHA-256 that bodies of commands are known to have, by the body: it is signed as it is, instead of being hashed once
 * more, and a stream cannot be. The store refuses a body that has another (`XAmzContentSHA256Mismatch`).
 */
export function sendKnownHashes(client: S3Client): WeakMap<object, string> {
  const hashes = new WeakMap<object, string>();
  client.middlewareStack.add(
    (next) => (args) => {
      const request = 'request' in args ? args.request : undefined;
      if (hasBody(request) && typeof request.body === 'object' && request.body !== null) {
        const sha256 = hashes.get(request.body);
        if (sha256 !== undefined) request.headers['x-amz-content-sha256'] = sha256;
      }
      return next(args);
    },
    { step: 'build', name: 'sendKnownHashes' },
  );
  return hashes;
}

function withContentMd5(request: unknown): void {
  if (!hasBody(request) || !isWhole(request.body)) return;
  for (const name of Object.keys(request.headers)) {
    if (/^x-amz-(checksum-|sdk-checksum-|trailer)/i.test(name)) delete request.headers[name];
  }
  request.headers['content-md5'] = createHash('md5').update(request.body).digest('base64');
}

function hasBody(request: unknown): request is { headers: Record<string, string>; body: unknown } {
  return typeof request === 'object' && request !== null && 'headers' in request && 'body' in request;
}

function isWhole(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}
