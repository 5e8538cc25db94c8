/** How large files are cut, and what the parts are known by. */

const mebibyte = 1024 ** 2;
/** Bytes up to which a file is one PUT: both simpler and faster, and proxies have been seen to refuse more (aptly-dev/aptly#1179). */
export const singleRequestLimit = 16 * mebibyte;
const smallestPart = 8 * mebibyte;
/** S3's limit on the number of parts (user guide, "Amazon S3 multipart upload limits"). */
const mostParts = 10_000;

/** Bytes of every part but the last, for a file of `size` bytes: 8 MiB, and more only above 78 GiB. */
export function partSizeOf(size: number): number {
  return Math.max(smallestPart, Math.ceil(size / mostParts / mebibyte) * mebibyte);
}

/**
 * What a part had when its file was scanned. The CRC is what it is compared by before it is sent; the SHA-256 goes with it, signed, so that the
 * store compares as well (Signature Version 4, `x-amz-content-sha256`).
 */
export interface PartSums {
  readonly crc32: number;
  readonly sha256: string;
}
