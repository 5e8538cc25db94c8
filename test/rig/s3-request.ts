import type { IncomingHttpHeaders } from 'node:http';
import type { Verb } from '../../src/timing/span.ts';
import { S3Fault } from './s3-answer.ts';

/** What a request does, in the words of the run record; `OTHER` is what no publisher sends (bucket and policy requests). */
export type RequestVerb = Verb | 'OTHER';

/** One request, as it is handed to the hooks and as it stays in the server's record. */
export interface S3Request {
  /** 1 for the first request of this server, in the order of arrival. */
  readonly number: number;
  readonly method: string;
  readonly verb: RequestVerb;
  readonly bucket: string;
  /** Decoded; empty for requests about a bucket. */
  readonly key: string;
  /** What a DeleteObjects names. */
  keys: readonly string[];
  /** As sent, without the query. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: IncomingHttpHeaders;
  /** Whose signature it bears (not yet checked when a hook sees it); absent on anonymous requests. */
  readonly accessKey?: string;
  /** Milliseconds of `performance.now()` at which its headers had come. */
  readonly start: number;
  /** Requests that were being served at that moment, this one included. */
  readonly inFlight: number;
  /** Bytes of the body as sent, framing included. */
  bytesUp: number;
  /** The following are set once it has been answered or dropped. */
  end?: number;
  bytesDown?: number;
  /** Absent when the connection was dropped in place of an answer. */
  status?: number;
  /** S3's error code, when the answer is an error. */
  code?: string;
}

export function describeRequest(request: S3Request): string {
  return `#${request.number} ${request.verb} ${request.bucket}/${request.key}`;
}

/** The parts of a request that its first lines tell. Throws `InvalidURI` for a path that cannot be decoded. */
export function parseTarget(
  method: string,
  url: string,
  headers: IncomingHttpHeaders,
): Pick<S3Request, 'method' | 'verb' | 'bucket' | 'key' | 'path' | 'query' | 'headers' | 'accessKey'> {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new Map<string, string>();
  for (const pair of mark < 0 ? [] : url.slice(mark + 1).split('&')) {
    const equals = pair.indexOf('=');
    if (pair !== '')
      query.set(decode(equals < 0 ? pair : pair.slice(0, equals)), equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  const slash = path.indexOf('/', 1);
  const bucket = decode(slash < 0 ? path.slice(1) : path.slice(1, slash));
  const key = slash < 0 ? '' : decode(path.slice(slash + 1));
  const accessKey = /Credential=([^/,\s]+)\//.exec(headers.authorization ?? '')?.[1];
  const verb = verbOf(method, key, query, headers);
  return { method, verb, bucket, key, path, query, headers, ...(accessKey === undefined ? {} : { accessKey }) };
}

function verbOf(
  method: string,
  key: string,
  query: ReadonlyMap<string, string>,
  headers: IncomingHttpHeaders,
): RequestVerb {
  if (key === '') {
    if (method === 'GET' && (query.has('list-type') || query.has('uploads'))) return 'LIST';
    return method === 'POST' && query.has('delete') ? 'DELETE' : 'OTHER';
  }
  // `x-id` is the SDK's note about the operation; it says nothing to a server.
  const parts = [...query.keys()]
    .filter((name) => name !== 'x-id')
    .sort()
    .join(' ');
  switch (`${method} ${parts}`.trim()) {
    case 'GET':
      return 'GET';
    case 'HEAD':
      return 'HEAD';
    case 'PUT':
      return headers['x-amz-copy-source'] === undefined ? 'PUT' : 'COPY';
    case 'DELETE':
      return 'DELETE';
    case 'POST uploads':
      return 'CREATE';
    case 'PUT partNumber uploadId':
      return headers['x-amz-copy-source'] === undefined ? 'PART' : 'OTHER';
    case 'POST uploadId':
      return 'COMPLETE';
    case 'DELETE uploadId':
      return 'ABORT';
    default:
      return 'OTHER';
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Fault(400, 'InvalidURI', "Couldn't parse the specified URI.");
  }
}
