import type { ByteRange, Condition, ListedPage, ObjectAttributes, Written } from './object-store.ts';
import { notS3 } from './s3-errors.ts';

/** How the port's words are spelled in S3's requests, and S3's answers in the port's. */

/** Attributes as the SDK's inputs name them. */
export function attributeInput(attributes: ObjectAttributes) {
  return {
    ContentType: attributes.contentType,
    CacheControl: attributes.cacheControl,
    ...(attributes.sha256 === undefined ? {} : { Metadata: { sha256: attributes.sha256 } }),
  };
}

export function conditionInput(condition: Condition | undefined) {
  if (condition === undefined) return {};
  if ('absent' in condition) return { IfNoneMatch: '*' };
  return { IfMatch: condition.spelled === 'quoted' ? `"${condition.etag}"` : condition.etag };
}

export function rangeInput(range: ByteRange | undefined) {
  return range === undefined ? {} : { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` };
}

/** A header that the SDK sends as it is. `+` must be encoded, since servers read it as a blank; `/` must not. */
export function copySource(bucket: string, key: string): string {
  return `${bucket}/${key}`.split('/').map(encodeURIComponent).join('/');
}

/** An ETag as the port has it. Every read and every write of a body has one; an answer without was not given by S3. */
export function bareEtag(etag: string | undefined, doing: string): string {
  if (etag === undefined || etag === '') throw notS3({ doing });
  return etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');
}

/** The answer to a copy or a completion. Old Ceph leaves the ETag out; an answer with nothing of what it should have is not S3's. */
export function writtenAs(etag: string | undefined, others: readonly unknown[], doing: string): Written {
  if (etag !== undefined && etag !== '') return { written: true, etag: bareEtag(etag, doing) };
  if (others.every((other) => other === undefined)) throw notS3({ doing });
  return { written: true };
}

interface ListOutput {
  readonly IsTruncated?: boolean | undefined;
  readonly NextContinuationToken?: string | undefined;
  readonly Contents?:
    | readonly { Key?: string | undefined; Size?: number | undefined; LastModified?: Date | undefined }[]
    | undefined;
}

/**
 * The answer to a listing, strictly: what cleaning removes depends on listings being complete, so one that is not S3's, or that
 * goes on without saying where, must not pass for a short one. Keys outside of the prefix (a server that ignores it) are left out.
 */
export function pageOf(output: ListOutput, asked: { folder: string; prefix: string }, doing: string): ListedPage {
  const { IsTruncated, NextContinuationToken, Contents } = output;
  if (IsTruncated === undefined || (IsTruncated && NextContinuationToken === undefined)) throw notS3({ doing });
  const objects = (Contents ?? []).flatMap(({ Key, Size, LastModified }) => {
    if (Key === undefined || Size === undefined || LastModified === undefined) throw notS3({ doing });
    if (!Key.startsWith(asked.folder + asked.prefix)) return [];
    return [{ key: Key.slice(asked.folder.length), size: Size, modified: LastModified.getTime() }];
  });
  return IsTruncated && NextContinuationToken !== undefined ? { objects, next: NextContinuationToken } : { objects };
}

/** The same bytes as a Buffer: the SDK hashes and sends those as they are, with their length. */
export function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
