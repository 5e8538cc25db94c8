import { Problem } from '../problem.ts';
import { conditionRefused, type NotFound, TransientStoreError } from './object-store.ts';
import { type Refusal, refusals } from './s3-refusals.ts';

/** What an S3 client's error says, without anything that may hold a secret (S3 quotes the string to sign and the access key). */
export interface S3Failure {
  /** Absent when no answer came. */
  readonly status?: number;
  /** S3's error code, or the system's (`ECONNREFUSED`), or the name of the error. */
  readonly code: string;
  /** Of the answer: lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the bucket is, when the store says so. */
  readonly region?: string;
  /** The time-out ran out before there was a connection. */
  readonly beforeConnection: boolean;
}

/** The request that failed. */
export interface FailedRequest {
  /** As it fits after "The store refused": `to read dists/sid/InRelease`. */
  readonly doing: string;
  readonly key: string;
  readonly conditional: boolean;
  /** Whether this endpoint has answered as S3 does before: if not, it is the endpoint that is in doubt. */
  readonly answered: boolean;
}

/** Reads the error of an AWS client by its shape, so that only one file has to know the SDK. */
export function s3Failure(error: unknown): S3Failure {
  const fields = record(error);
  const response = record(fields['$response']);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(record(response['headers']))) headers[name.toLowerCase()] = String(value);
  const status = number(record(fields['$metadata'])['httpStatusCode']) ?? number(response['statusCode']);
  const named = text(fields['Code']) ?? text(fields['name']) ?? 'unknown error';
  const region = headers['x-amz-bucket-region'] ?? text(fields['Region']);
  // An answer whose body was cut short says nothing: the client then reports the error of reading it, not one of S3's.
  const cut = /^(?:Error|TimeoutError|AbortError)$/.test(named) && !isHtml(headers);
  return {
    ...(status === undefined || cut ? {} : { status }),
    code: status === undefined ? (text(fields['code']) ?? named) : named,
    headers,
    ...(region === undefined ? {} : { region }),
    beforeConnection: named === 'TimeoutError' && /establish a connection/.test(text(fields['message']) ?? ''),
  };
}

/**
 * Whether this answer means "there is no such object". 403 never does: stores give it for a missing key to whoever may not
 * list, but a reader that took it for "new repository" would overwrite a live one. Nor does a web server's own 404 page.
 */
function isMissing(failure: S3Failure): boolean {
  if (failure.status !== 404 || isPage(failure)) return false;
  return failure.code === 'NoSuchKey' || failure.code === 'NotFound';
}

/** There is no such object, or nothing of it in the range that was asked for (RFC 9110 §15.5.17). */
export function notFound(failure: S3Failure): NotFound | undefined {
  return isMissing(failure) || failure.status === 416 ? { found: false } : undefined;
}

/** Whether a conditional write lost. `NoSuchKey` answers an `If-Match` on an object that is gone. */
export function isPreconditionFailed(failure: S3Failure): boolean {
  return failure.status === 412 || failure.code === 'PreconditionFailed' || isMissing(failure);
}

/** A refusal that has no better name here. */
export const refusedCode = 'store-refused';

/** Codes of a race between two writers of a key in which this one certainly did nothing; asked again, the store says who won. */
const races = new Set(['ConditionalRequestConflict', 'ConcurrentModification', 'OperationAborted']);
const damaged = new Set(['BadDigest', 'XAmzContentSHA256Mismatch', 'IncompleteBody', 'RequestTimeout']);

/** The error to throw for a failure: a `Problem` when another attempt would fail as well, else a `TransientStoreError`. */
export function storeError(failure: S3Failure, request: FailedRequest): Problem | TransientStoreError {
  const cause = new Error(`${failure.status ?? 'no answer'}: ${failure.code}`);
  const transient = (kind: TransientStoreError['kind'], ambiguous: boolean, why: string) => {
    const retryAfter = retryAfterMs(failure.headers['retry-after']);
    const message = `The store failed ${request.doing}: ${why} (${failure.status ?? failure.code}).`;
    return new TransientStoreError({
      kind,
      ambiguous,
      message,
      cause,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  };
  const refused = ({ code, title, because, advice }: Refusal) =>
    new Problem({
      code,
      title,
      what: `The store refused ${request.doing}: ${because} (${[failure.status, failure.code].join(' ')}).`,
      advice,
      cause,
    });

  const { status, code } = failure;
  if (status === undefined) return unanswered(failure, request, transient, cause);
  if (status === 429 || code === 'SlowDown' || code === 'ServiceUnavailable') {
    return transient('throttled', false, 'it is asked for too much at once');
  }
  if (races.has(code)) return transient('server', false, 'somebody else was writing the same object');
  if (damaged.has(code) || status === 408) return transient('timeout', false, 'the request arrived late or damaged');
  // S3 answers 200 and puts the error into the body when a copy or a completion fails late; the client reports it as 503.
  if (code === 'InternalError') return transient('server', true, 'it had an internal error');
  const refusal = refusals[code];
  if (refusal !== undefined) return refused(refusal);
  if (request.conditional && (status === 501 || status === 400)) return conditionRefused(request.key, cause);
  if (status === 503) return transient('throttled', false, 'it is not available');
  if (status >= 500 && status !== 501 && status !== 507) return transient('server', true, 'it had an internal error');
  if (failure.region !== undefined && (status === 301 || status === 307 || status === 400)) {
    return wrongRegion(failure.region, request, cause);
  }
  if (isPage(failure) || status < 400) return notS3(request, cause);
  const byStatus = refusals[`${status}`];
  if (byStatus !== undefined) return refused(byStatus);
  return new Problem({
    code: refusedCode,
    title: 'The store refused a request',
    what: `The store refused ${request.doing} with ${status} ${code}.`,
    advice: 'Look the code up in the documentation of the store; its log may say more.',
    cause,
  });
}

/** For one of the keys of a batch: such codes come without a status, so they get the one that a single request would have had. */
export function deleteError(code: string | undefined, key: string): Problem | TransientStoreError {
  const status = code === 'InternalError' ? 500 : 403;
  const failure = { status, code: code ?? 'unknown error', headers: {}, beforeConnection: false };
  return storeError(failure, { doing: `to delete ${key}`, key, conditional: false, answered: true });
}

/** For a success that no S3 server gives: without an ETag, or with a body that is not what was asked for. */
export function notS3(request: Pick<FailedRequest, 'doing'>, cause?: unknown): Problem {
  return new Problem({
    code: 'store-not-s3',
    title: 'The endpoint does not speak S3',
    what: `What answered when the store was asked ${request.doing} is not an S3 server.`,
    advice:
      'Set `endpoint` to the address of the S3 API, not to that of a web console, a website or a CDN in front of it.',
    cause,
  });
}

function unanswered(
  failure: S3Failure,
  request: FailedRequest,
  transient: (kind: TransientStoreError['kind'], ambiguous: boolean, why: string) => TransientStoreError,
  cause: Error,
): Problem | TransientStoreError {
  const { code } = failure;
  const endpoint = (title: string, why: string, advice: string) =>
    new Problem({
      code: 'store-unreachable',
      title,
      what: `The store could not be asked ${request.doing}: ${why} (${code}).`,
      advice,
      cause,
    });
  const credentials = refusals[code];
  if (credentials !== undefined) {
    return new Problem({
      ...credentials,
      what: `The store could not be asked ${request.doing}: ${credentials.because}.`,
      cause,
    });
  }
  if (!request.answered && (code === 'ENOTFOUND' || code === 'ECONNREFUSED')) {
    const why = code === 'ENOTFOUND' ? 'its host name does not exist' : 'nothing listens at its address';
    return endpoint(
      'The store cannot be reached',
      why,
      'Check `endpoint` and `region`, and whether the runner may reach that address.',
    );
  }
  if (!request.answered && /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code)) {
    const advice =
      'Check the scheme and port of `endpoint`; for a private certificate authority set NODE_EXTRA_CA_CERTS on the step.';
    return endpoint('No secure connection to the store', 'TLS failed', advice);
  }
  if (!request.answered && code.startsWith('HPE_')) return notS3(request, cause);
  const connecting = /^(ENOTFOUND|ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code);
  if (code === 'TimeoutError' || code === 'ETIMEDOUT')
    return transient('timeout', !failure.beforeConnection, 'no answer came in time');
  return transient('connection', !connecting, connecting ? 'there was no connection' : 'the connection broke');
}

function wrongRegion(region: string, request: FailedRequest, cause: Error): Problem {
  return new Problem({
    code: 'store-wrong-region',
    title: 'The bucket is in another region',
    what: `The store refused ${request.doing} because the bucket is in region ${region}.`,
    advice: `Set \`region: ${region}\`.`,
    cause,
  });
}

function isPage(failure: S3Failure): boolean {
  return isHtml(failure.headers);
}

function isHtml(headers: Readonly<Record<string, string>>): boolean {
  return /^text\/html\b/i.test(headers['content-type'] ?? '');
}

/** RFC 9110 §10.2.3, the form in seconds; a date would need the store's clock and is left alone. */
function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header.trim()) ? Number(header) * 1000 : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
