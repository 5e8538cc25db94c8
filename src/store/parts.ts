/** How large files are cut. */

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
