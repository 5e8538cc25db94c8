import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Problem } from '../problem.ts';
import {
  attributesOf,
  type Condition,
  type ObjectAttributes,
  type ObjectStore,
  type PreconditionFailed,
  type PutOptions,
  type Upload,
  type UploadedPart,
  type Written,
} from './object-store.ts';

/** A file to write: one on the runner's disk, as it was when it was scanned, unless it says how else it is read. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  readonly open?: () => ByteReader;
}

/** Reads a file from its beginning, once. Disposed of when nothing more is wanted of it. */
export interface ByteReader extends AsyncDisposable {
  /** The next `length` bytes. Throws when there are fewer. */
  next(length: number): Promise<Uint8Array>;
  /** What to tell the user when the bytes turn out to be others than those that were promised. */
  changed(): Problem;
}

const mebibyte = 1024 ** 2;
/** Bytes up to which a file is one PUT: both simpler and faster, and proxies have been seen to refuse more (aptly-dev/aptly#1179). */
export const singleRequestLimit = 16 * mebibyte;
const smallestPart = 8 * mebibyte;
/** S3's limit on the number of parts (user guide, "Amazon S3 multipart upload limits"). */
const mostParts = 10_000;
/** Parts of one file read and not yet written. Bounds the memory: so many times the size of a part. */
const partsInHand = 4;

/**
 * Writes a file: by one PUT up to 16 MiB, by a multipart upload above that, of parts of 8 MiB (more only above 78 GiB),
 * at most four of which are in memory. With a `sha256` the bytes sent are checked against it, and a file that has changed since
 * is a `Problem` before anything appears in the store. A failed multipart upload is aborted before its error goes on.
 *
 * The condition of a large file is on the completion, after all of it was sent, and some stores (Ceph before 20) ignore it there:
 * who cares for either looks for the object first.
 */
export async function putFile(
  store: ObjectStore,
  key: string,
  file: SourceFile,
  options: PutOptions & { readonly partSize?: number },
): Promise<Written | PreconditionFailed> {
  const { partSize, ...put } = options;
  const attributes = attributesOf(put);
  await using source = file.open?.() ?? (await openFile(file));
  const reader = new CheckedReader(source, file.size, attributes.sha256);
  if (file.size <= singleRequestLimit && partSize === undefined) {
    const body = await reader.next(file.size);
    reader.checkEnd();
    return await store.put(key, body, put);
  }
  const size = partSize ?? Math.max(smallestPart, Math.ceil(file.size / mostParts / mebibyte) * mebibyte);
  return await multipart(store, key, reader, { size, attributes, condition: put.condition });
}

async function multipart(
  store: ObjectStore,
  key: string,
  reader: CheckedReader,
  options: { size: number; attributes: ObjectAttributes; condition: Condition | undefined },
): Promise<Written | PreconditionFailed> {
  const upload = await store.startUpload(key, options.attributes);
  try {
    const parts = await sendParts(store, upload, reader, options.size);
    reader.checkEnd();
    const answer = await store.completeUpload(upload, parts, options.condition);
    // S3 keeps the parts, and charges for them, when the condition of the completion does not hold.
    if (!answer.written) await abort(store, upload);
    return answer;
  } catch (error) {
    await abort(store, upload);
    throw error;
  }
}

/** Reads in order and sends side by side. After the first failure nothing more is sent; it rejects when all parts are settled. */
async function sendParts(
  store: ObjectStore,
  upload: Upload,
  reader: CheckedReader,
  size: number,
): Promise<UploadedPart[]> {
  const parts: UploadedPart[] = [];
  const failures: unknown[] = [];
  const sending = new Set<Promise<void>>();
  for (let number = 1; reader.remaining > 0 && failures.length === 0; number += 1) {
    const offset = reader.position;
    let body: Uint8Array;
    try {
      body = await reader.next(size);
    } catch (error) {
      failures.push(error);
      break;
    }
    const sent = store
      .putPart(upload, { number, offset }, body)
      .then(
        (part) => void parts.push(part),
        (error: unknown) => void failures.push(error),
      )
      .finally(() => sending.delete(sent));
    sending.add(sent);
    if (sending.size >= partsInHand) await Promise.race(sending);
  }
  await Promise.all(sending);
  if (failures.length > 0) throw failures[0];
  return parts;
}

/** The failure that led here is the one to report; an upload that cannot be aborted either is left to a lifecycle rule. */
async function abort(store: ObjectStore, upload: Upload): Promise<void> {
  await store.abortUpload(upload).catch(() => undefined);
}

/** Hashes what it reads, and knows whether it is what was promised. */
class CheckedReader {
  readonly #source: ByteReader;
  readonly #size: number;
  readonly #expected: string | undefined;
  readonly #hash: Hash = createHash('sha256');
  position = 0;

  constructor(source: ByteReader, size: number, sha256: string | undefined) {
    this.#source = source;
    this.#size = size;
    this.#expected = sha256;
  }

  get remaining(): number {
    return this.#size - this.position;
  }

  /** The next `length` bytes, or what is left. */
  async next(length: number): Promise<Uint8Array> {
    const body = await this.#source.next(Math.min(length, this.remaining));
    this.position += body.length;
    if (this.#expected !== undefined) this.#hash.update(body);
    return body;
  }

  checkEnd(): void {
    if (this.#expected !== undefined && this.#hash.digest('hex') !== this.#expected) throw this.#source.changed();
  }
}

/** A file on disk. */
async function openFile(file: SourceFile): Promise<ByteReader> {
  const handle = await open(file.path).catch((error: unknown) => {
    throw changed(file, error);
  });
  let position = 0;
  return {
    next: async (length) => {
      const body = Buffer.allocUnsafeSlow(length);
      for (let filled = 0; filled < length; ) {
        const { bytesRead } = await handle.read(body, filled, length - filled, position);
        if (bytesRead === 0) throw changed(file);
        filled += bytesRead;
        position += bytesRead;
      }
      return body;
    },
    changed: () => changed(file),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function changed(file: SourceFile, cause?: unknown): Problem {
  return new Problem({
    code: 'file-changed',
    title: 'A file changed while it was being published',
    what: `${file.path} is not the file any more that was read at the beginning of the run.`,
    advice: 'Let nothing write to the packages until this action has ended, then run the job again.',
    cause,
  });
}
