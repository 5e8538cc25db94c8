import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import pLimit from 'p-limit';
import { Problem } from '../problem.ts';
import { Connections } from './connections.ts';
import type {
  ByteRange,
  Condition,
  Found,
  FoundHead,
  ListedPage,
  NotFound,
  ObjectAttributes,
  ObjectStore,
  PartBody,
  PartPosition,
  PreconditionFailed,
  PutOptions,
  Upload,
  UploadedPart,
  Written,
} from './object-store.ts';
import { readBody } from './s3-body.ts';
import { clientSettings, connectionSettings, type S3Settings } from './s3-connection.ts';
import {
  deleteError,
  isPreconditionFailed,
  notFound,
  notS3,
  refusedCode,
  type S3Failure,
  s3Failure,
  storeError,
} from './s3-errors.ts';
import { keepDates, sendContentMd5, sendKnownHashes } from './s3-middleware.ts';
import { PartStreams } from './s3-part.ts';
import {
  asBuffer,
  attributeInput,
  bareEtag,
  conditionInput,
  copySource,
  pageOf,
  rangeInput,
  writtenAs,
} from './s3-spelling.ts';

/** A call holds one slot of its limiter however many requests it is; where batches are not supported, so many at once. */
const singleDeletes = 8;

/**
 * S3, one attempt per call. What is sent is what every S3 server understands: whole bodies of known length with their real
 * hash, no checksum extension, no chunked framing, no ACL, no Content-Encoding, and never RenameObject, which servers that do
 * not know it take for a PUT of nothing.
 */
export class S3Store implements ObjectStore {
  readonly #client: S3Client;
  readonly #connections = new Connections();
  readonly #bucket: string;
  readonly #folder: string;
  readonly #dates: WeakMap<object, number>;
  readonly #hashes: WeakMap<object, string>;
  readonly #parts = new PartStreams();
  #answered = false;
  #batchDelete = true;

  constructor(settings: S3Settings) {
    this.#bucket = settings.bucket;
    this.#folder = settings.prefix === '' ? '' : `${settings.prefix}/`;
    this.#client = new S3Client({
      ...clientSettings(settings),
      requestHandler: new NodeHttpHandler(connectionSettings(settings, this.#connections)),
    });
    this.#dates = keepDates(this.#client);
    this.#hashes = sendKnownHashes(this.#client);
    sendContentMd5(this.#client);
  }

  /** Opens connections for so many requests at once, without making any. */
  warm(requests: number): void {
    this.#connections.warm(requests);
  }

  /** Closes the connections that are kept open. */
  close(): void {
    this.#client.destroy();
  }

  async get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Found | NotFound> {
    const doing = `to read ${key}`;
    const send = async (): Promise<Found> => {
      const output = await this.#client.send(
        new GetObjectCommand({ ...this.#object(key), ...rangeInput(range) }),
        until(signal),
      );
      const etag = bareEtag(output.ETag, doing);
      const body = await readBody(output.Body, output.ContentLength, key, signal);
      const date = this.#dates.get(output);
      const written = output.LastModified?.getTime();
      if (date === undefined || written === undefined) return { found: true, body, etag };
      return { found: true, body, etag, age: Math.max(0, (date - written) / 1000) };
    };
    return this.#attempt(doing, key, send, notFound);
  }

  async head(key: string, signal?: AbortSignal): Promise<FoundHead | NotFound> {
    const doing = `to look at ${key}`;
    const send = async (): Promise<FoundHead> => {
      const output = await this.#client.send(new HeadObjectCommand(this.#object(key)), until(signal));
      const sha256 = output.Metadata?.['sha256'];
      return {
        found: true,
        size: output.ContentLength ?? 0,
        etag: bareEtag(output.ETag, doing),
        ...(sha256 === undefined ? {} : { sha256 }),
        ...(output.CacheControl === undefined ? {} : { cacheControl: output.CacheControl }),
        ...(output.ContentType === undefined ? {} : { contentType: output.ContentType }),
      };
    };
    return this.#attempt(doing, key, send, notFound);
  }

  async put(
    key: string,
    body: Uint8Array,
    options: PutOptions,
    signal?: AbortSignal,
  ): Promise<Written | PreconditionFailed> {
    const doing = `to write ${key}`;
    const command = new PutObjectCommand({
      ...this.#object(key),
      Body: this.#known(asBuffer(body), options.sha256),
      ...attributeInput(options),
      ...conditionInput(options.condition),
    });
    const send = async (): Promise<Written> => {
      const output = await this.#client.send(command, until(signal));
      return { written: true, etag: bareEtag(output.ETag, doing) };
    };
    return this.#conditional(doing, key, options.condition, send);
  }

  async copy(from: string, to: string, attributes: ObjectAttributes): Promise<Written | NotFound> {
    const command = new CopyObjectCommand({
      ...this.#object(to),
      CopySource: copySource(this.#bucket, this.#folder + from),
      MetadataDirective: 'REPLACE',
      ...attributeInput(attributes),
    });
    const doing = `to copy ${from} to ${to}`;
    const send = async () => {
      const { CopyObjectResult } = await this.#client.send(command);
      return writtenAs(CopyObjectResult?.ETag, [CopyObjectResult?.LastModified], doing);
    };
    return this.#attempt(doing, to, send, notFound);
  }

  async listPage(prefix: string, from?: string, signal?: AbortSignal): Promise<ListedPage> {
    const command = new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: this.#folder + prefix,
      ...(from === undefined ? {} : { ContinuationToken: from }),
    });
    const doing = `to list ${prefix === '' ? 'everything' : prefix}`;
    const send = async () =>
      pageOf(await this.#client.send(command, until(signal)), { folder: this.#folder, prefix }, doing);
    return this.#attempt(doing, prefix, send);
  }

  async delete(keys: readonly string[]): Promise<void> {
    const [first] = keys;
    if (first === undefined) return;
    if (keys.length === 1 || !this.#batchDelete) return this.#deleteSingly(keys);
    const doing = `to delete ${first} and ${keys.length - 1} more`;
    const command = new DeleteObjectsCommand({
      Bucket: this.#bucket,
      Delete: { Objects: keys.map((key) => ({ Key: this.#folder + key })), Quiet: true },
    });
    try {
      const output = await this.#attempt(doing, first, () => this.#client.send(command));
      const failed = output.Errors?.find(({ Code }) => Code !== 'NoSuchKey');
      if (failed !== undefined) throw deleteError(failed.Code, failed.Key?.slice(this.#folder.length) ?? first);
      return;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== refusedCode) throw error;
      this.#batchDelete = false;
      return this.#deleteSingly(keys);
    }
  }

  async startUpload(key: string, attributes: ObjectAttributes): Promise<Upload> {
    const doing = `to start an upload of ${key}`;
    const command = new CreateMultipartUploadCommand({ ...this.#object(key), ...attributeInput(attributes) });
    return this.#attempt(doing, key, async () => {
      const { UploadId } = await this.#client.send(command);
      if (UploadId === undefined) throw notS3({ doing });
      return { key, id: UploadId, attributes };
    });
  }

  async putPart(upload: Upload, part: PartPosition, body: PartBody): Promise<UploadedPart> {
    const doing = `to write part ${part.number} of ${upload.key}`;
    const input = { ...this.#object(upload.key), UploadId: upload.id, PartNumber: part.number };
    const send = async (stream: Readable, signal: AbortSignal) => {
      const sent = { ...input, Body: this.#known(stream, body.sha256), ContentLength: body.length };
      const output = await this.#client.send(new UploadPartCommand(sent), until(signal));
      return { number: part.number, etag: bareEtag(output.ETag, doing) };
    };
    return this.#attempt(doing, upload.key, () => this.#parts.send(body, send));
  }

  async completeUpload(
    upload: Upload,
    parts: readonly UploadedPart[],
    condition?: Condition,
  ): Promise<Written | PreconditionFailed> {
    const sorted = parts.toSorted((a, b) => a.number - b.number);
    const command = new CompleteMultipartUploadCommand({
      ...this.#object(upload.key),
      UploadId: upload.id,
      MultipartUpload: { Parts: sorted.map(({ number, etag }) => ({ PartNumber: number, ETag: `"${etag}"` })) },
      ...conditionInput(condition),
    });
    const doing = `to complete the upload of ${upload.key}`;
    const send = async () => {
      const { ETag, Bucket, Key } = await this.#client.send(command);
      return writtenAs(ETag, [Bucket, Key], doing);
    };
    return this.#conditional(doing, upload.key, condition, send);
  }

  async abortUpload(upload: Upload): Promise<void> {
    const command = new AbortMultipartUploadCommand({ ...this.#object(upload.key), UploadId: upload.id });
    const gone = (failure: S3Failure) => (failure.status === 404 ? true : undefined);
    await this.#attempt(`to abort the upload of ${upload.key}`, upload.key, () => this.#client.send(command), gone);
  }

  async #deleteSingly(keys: readonly string[]): Promise<void> {
    await pLimit(singleDeletes).map(keys, (key) => {
      const send = () => this.#client.send(new DeleteObjectCommand(this.#object(key)));
      return this.#attempt(`to delete ${key}`, key, send, notFound);
    });
  }

  #conditional(doing: string, key: string, condition: Condition | undefined, send: () => Promise<Written>) {
    const lost = (failure: S3Failure): PreconditionFailed | undefined =>
      condition !== undefined && isPreconditionFailed(failure) ? { written: false } : undefined;
    return this.#attempt(doing, key, send, lost, condition !== undefined);
  }

  /** One request; `expected` turns failures that are answers into values, everything else is thrown as the port says. */
  async #attempt<T, E = never>(
    doing: string,
    key: string,
    send: () => Promise<T>,
    expected: (failure: S3Failure) => E | undefined = () => undefined,
    conditional = false,
  ): Promise<T | E> {
    try {
      const answer = await send();
      this.#answered = true;
      return answer;
    } catch (error) {
      if (error instanceof Problem) throw error;
      const failure = s3Failure(error);
      const value = expected(failure);
      if (value === undefined) throw storeError(failure, { doing, key, conditional, answered: this.#answered });
      this.#answered = true;
      return value;
    }
  }

  #known<T extends Buffer | Readable>(body: T, sha256: string | undefined): T {
    if (sha256 !== undefined) this.#hashes.set(body, sha256);
    return body;
  }

  #object(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#folder + key };
  }
}

/** How the SDK is told when to give a request up: its connection is closed then. */
function until(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
