import { createHash, createHmac } from 'node:crypto';
import { accessDenied, S3Fault } from './s3-answer.ts';
import type { Quirks } from './s3-quirks.ts';
import type { RequestVerb, S3Request } from './s3-request.ts';

/** Somebody who may send signed requests. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** When set, the request must carry it as `x-amz-security-token`. */
  readonly sessionToken?: string;
  /** What this holder may not do: answered with 403 AccessDenied. */
  readonly deny?: readonly RequestVerb[];
}

const allowedSkewMs = 15 * 60_000;

/**
 * Checks Signature Version 4 in the Authorization header, strictly: the clock, the scope, that `host` and every `x-amz-*`
 * header is covered, then the signature itself. Throws S3's own errors.
 * Source: Amazon S3 API reference, "Signature Calculations for the Authorization Header".
 */
export function checkSignature(
  request: S3Request,
  holders: readonly S3Credentials[],
  quirks: Quirks,
  now: number,
): S3Credentials {
  const { headers } = request;
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  const [, accessKeyId, day, region, signedList, signature] = parsed ?? [];
  if (accessKeyId === undefined || day === undefined || region === undefined || signedList === undefined) {
    throw new S3Fault(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.');
  }
  const holder = holders.find((candidate) => candidate.accessKeyId === accessKeyId);
  if (holder === undefined) {
    throw new S3Fault(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  }
  const date = single(headers['x-amz-date']);
  checkDate(date, day, now);
  checkRegion(region, quirks);
  const signed = signedList.split(';');
  checkHeaderSet(Object.keys(headers), signed);
  const payloadHash = single(headers['x-amz-content-sha256']);
  if (payloadHash === '') {
    throw new S3Fault(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  const canonical = [
    request.method,
    encodePath(request.path),
    canonicalQuery(request.query),
    ...signed.map((name) => `${name}:${single(headers[name]).trim().replace(/\s+/g, ' ')}`),
    '',
    signedList,
    payloadHash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${holder.secretAccessKey}`,
  );
  if (hmac(key, toSign).toString('hex') !== signature) {
    throw new S3Fault(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    );
  }
  if (holder.sessionToken !== undefined && single(headers['x-amz-security-token']) !== holder.sessionToken) {
    throw new S3Fault(400, 'InvalidToken', 'The provided token is malformed or otherwise invalid.');
  }
  if (holder.deny?.includes(request.verb) === true) throw accessDenied();
  return holder;
}

function checkDate(date: string, day: string, now: number): void {
  const [, year, month, dayOfMonth, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const time = Date.parse(`${year}-${month}-${dayOfMonth}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) {
    throw new S3Fault(403, 'AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header');
  }
  if (Math.abs(time - now) > allowedSkewMs) {
    throw new S3Fault(
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
      {
        details: {
          RequestTime: date,
          ServerTime: new Date(now).toISOString(),
          MaxAllowedSkewMilliseconds: `${allowedSkewMs}`,
        },
      },
    );
  }
  if (!date.startsWith(day)) {
    throw new S3Fault(
      400,
      'AuthorizationHeaderMalformed',
      'The authorization header is malformed; Invalid credential date.',
    );
  }
}

function checkRegion(region: string, quirks: Quirks): void {
  if (quirks.region === undefined || quirks.region.name === region) return;
  const { name, others } = quirks.region;
  const headers = { 'x-amz-bucket-region': name };
  if (others === 400) {
    throw new S3Fault(
      400,
      'AuthorizationHeaderMalformed',
      `The authorization header is malformed; the region '${region}' is wrong; expecting '${name}'`,
      { details: { Region: name }, headers },
    );
  }
  throw new S3Fault(
    301,
    'PermanentRedirect',
    'The bucket you are attempting to access must be addressed using the specified endpoint.',
    { details: { Endpoint: `s3.${name}.amazonaws.com` }, headers },
  );
}

function checkHeaderSet(present: readonly string[], signed: readonly string[]): void {
  const bare = present.filter((name) => (name === 'host' || name.startsWith('x-amz-')) && !signed.includes(name));
  if (bare.length === 0) return;
  throw new S3Fault(403, 'AccessDenied', 'There were headers present in the request which were not signed', {
    details: { HeadersNotSigned: bare.join(', ') },
  });
}

function canonicalQuery(query: ReadonlyMap<string, string>): string {
  return [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&');
}

const encodePath = (path: string): string =>
  path
    .split('/')
    .map((part) => encode(decodeURIComponent(part)))
    .join('/');

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** A header's value; repeated ones joined as Node joins them. */
function single(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).join(', ');
}
