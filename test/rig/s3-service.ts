import { type Answer, accessDenied, empty, notImplemented, S3Fault } from './s3-answer.ts';
import { Bucket } from './s3-bucket.ts';
import { listObjects } from './s3-listing.ts';
import { abortUpload, completeUpload, createUpload, listUploads, uploadPart } from './s3-multipart.ts';
import {
  type Context,
  copyObject,
  deleteObject,
  deleteObjects,
  getObject,
  malformedXml,
  putObject,
} from './s3-objects.ts';
import { openPayload, type Payload } from './s3-payload.ts';
import type { Quirks } from './s3-quirks.ts';
import type { S3Request } from './s3-request.ts';
import { checkSignature, type S3Credentials } from './s3-signature.ts';

/** What an S3 server does, apart from the network: a request and its body in, an answer out, in one synchronous step. */
export class S3Service {
  readonly #buckets = new Map<string, Bucket>();
  readonly #holders: readonly S3Credentials[];
  readonly #quirks: Quirks;
  readonly #now: () => number;

  constructor(options: { holders: readonly S3Credentials[]; quirks: Quirks; now: () => number }) {
    this.#holders = options.holders;
    this.#quirks = options.quirks;
    this.#now = options.now;
  }

  /** Throws NoSuchBucket. */
  bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      throw new S3Fault(404, 'NoSuchBucket', 'The specified bucket does not exist', { details: { BucketName: name } });
    }
    return bucket;
  }

  createBucket(name: string): Bucket {
    if (this.#buckets.has(name)) {
      throw new S3Fault(409, 'BucketAlreadyOwnedByYou', 'The bucket that you tried to create already exists.');
    }
    const bucket = new Bucket(name, this.#quirks, this.#now);
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** Serves one request; every refusal is an answer. `changesAgo` is how stale a listing is. */
  handle(request: S3Request, raw: Buffer, changesAgo: number): Answer {
    try {
      if (request.headers.authorization === undefined) return this.#anonymous(request);
      checkSignature(request, this.#holders, this.#quirks, this.#now());
      if (this.#quirks.maxBody !== undefined && raw.length > this.#quirks.maxBody) {
        throw new S3Fault(413, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed object size.');
      }
      return this.#dispatch(request, openPayload(request.headers, raw, this.#quirks), changesAgo);
    } catch (error) {
      if (error instanceof S3Fault) return error.answer();
      throw error;
    }
  }

  /** Only reads of what a policy or an ACL opens; a missing key is "forbidden", as listing is not allowed either. */
  #anonymous(request: S3Request): Answer {
    const bucket = this.bucket(request.bucket);
    const object = bucket.get(request.key);
    const open = object?.public === true || [...bucket.publicPrefixes].some((prefix) => request.key.startsWith(prefix));
    if (!open || object === undefined || (request.verb !== 'GET' && request.verb !== 'HEAD')) throw accessDenied();
    return getObject(this.#context(bucket), request);
  }

  #context(bucket: Bucket): Context {
    return { bucket, bucketNamed: (name) => this.bucket(name), quirks: this.#quirks };
  }

  #dispatch(request: S3Request, payload: Payload, changesAgo: number): Answer {
    if (request.verb === 'OTHER') return this.#aboutBucket(request, payload);
    const context = this.#context(this.bucket(request.bucket));
    switch (request.verb) {
      case 'GET':
      case 'HEAD':
        return getObject(context, request);
      case 'PUT':
        return putObject(context, request, payload);
      case 'COPY':
        return copyObject(context, request);
      case 'DELETE':
        return request.key === '' ? deleteObjects(context, request, payload) : deleteObject(context, request);
      case 'LIST':
        return request.query.has('uploads') ? listUploads(context, request) : listObjects(context, request, changesAgo);
      case 'CREATE':
        return createUpload(context, request, this.#now());
      case 'PART':
        return uploadPart(context, request, payload);
      case 'COMPLETE':
        return completeUpload(context, request, payload);
      case 'ABORT':
        return abortUpload(context, request);
    }
  }

  #aboutBucket(request: S3Request, payload: Payload): Answer {
    const parameters = [...request.query.keys()].filter((name) => name !== 'x-id').join(' ');
    if (request.bucket === '' || request.key !== '') throw notImplemented(`${request.method} ?${parameters}`);
    switch (`${request.method} ${parameters}`) {
      case 'PUT ':
        this.createBucket(request.bucket);
        return empty(200, { location: `/${request.bucket}` });
      case 'HEAD ':
        this.bucket(request.bucket);
        return empty(200);
      case 'PUT policy':
        applyPolicy(this.bucket(request.bucket), payload.body.toString());
        return empty(204);
      default:
        throw notImplemented(`${request.method} ?${parameters}`);
    }
  }
}

/** Takes from a bucket policy the one thing this server knows: `s3:GetObject` for everybody on a prefix. */
function applyPolicy(bucket: Bucket, json: string): void {
  let policy: { Statement?: unknown };
  try {
    policy = JSON.parse(json);
  } catch {
    throw malformedXml();
  }
  bucket.publicPrefixes.clear();
  const statements = Array.isArray(policy.Statement) ? policy.Statement : [policy.Statement];
  for (const { Effect, Principal, Action, Resource } of statements) {
    const forAll = Principal === '*' || Principal?.AWS === '*';
    if (Effect !== 'Allow' || !forAll || ![Action].flat().includes('s3:GetObject')) throw notImplemented('policy');
    for (const resource of [Resource].flat()) {
      const prefix = new RegExp(`^arn:aws:s3:::${bucket.name}/(.*)\\*$`, 's').exec(String(resource))?.[1];
      if (prefix === undefined) throw notImplemented('policy resource');
      bucket.publicPrefixes.add(prefix);
    }
  }
}
