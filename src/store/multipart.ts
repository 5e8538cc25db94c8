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
import { partSizeOf, singleRequestLimit } from './parts.ts';
import { CheckedReader, openFile, type SourceFile } from './source-file.ts';

/** Parts of one file read and not yet written. Bounds the memory: so many times the size of a part. */
const partsInHand = 4;

/**
 * Writes a file: by one PUT up to 16 MiB, by a multipart upload above that, of parts of 8 MiB (more only above 78 GiB),
 * at most four of which are in memory. A file that has changed since it was scanned is a `Problem` before anything appears in the store. A failed
 * multipart upload is aborted before its error goes on.
 *
 * With a `sha256` the bytes sent are checked against it; but what was `scanned` and is sent in parts is not hashed again, which takes as long as to send
 * it within one machine. There the stamp of the file is compared, and the hash of each part goes with it for the store to compare.
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
  if (file.size <= singleRequestLimit && partSize === undefined) {
    const reader = new CheckedReader(source, file.size, attributes.sha256);
    const body = await reader.next(file.size);
    reader.checkEnd();
    return await store.put(key, body, put);
  }
  const hashes = file.scanned?.parts;
  const reader = new CheckedReader(source, file.size, hashes === undefined ? attributes.sha256 : undefined);
  const size = partSize ?? partSizeOf(file.size);
  return await multipart(store, key, reader, { size, hashes, attributes, condition: put.condition });
}

/** What of a multipart upload is the same for all its parts. */
interface Manner {
  readonly size: number;
  /** SHA-256 of each part. */
  readonly hashes: readonly string[] | undefined;
  readonly attributes: ObjectAttributes;
  readonly condition: Condition | undefined;
}

async function multipart(
  store: ObjectStore,
  key: string,
  reader: CheckedReader,
  manner: Manner,
): Promise<Written | PreconditionFailed> {
  const upload = await store.startUpload(key, manner.attributes);
  try {
    const parts = await sendParts(store, upload, reader, manner);
    reader.checkEnd();
    const answer = await store.completeUpload(upload, parts, manner.condition);
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
  { size, hashes }: Manner,
): Promise<UploadedPart[]> {
  const parts: UploadedPart[] = [];
  const failures: unknown[] = [];
  const sending = new Set<Promise<void>>();
  // New memory for every part would cost as much as reading it.
  const free: Buffer[] = [];
  for (let number = 1; reader.remaining > 0 && failures.length === 0; number += 1) {
    const offset = reader.position;
    const room = free.pop() ?? Buffer.allocUnsafeSlow(size);
    let body: Uint8Array;
    try {
      body = await reader.next(size, room);
    } catch (error) {
      failures.push(error);
      break;
    }
    const sha256 = hashes?.[number - 1];
    const sent = store
      .putPart(upload, { number, offset, ...(sha256 === undefined ? {} : { sha256 }) }, body)
      .then(
        (part) => void parts.push(part),
        (error: unknown) => void failures.push(error),
      )
      .finally(() => {
        free.push(room);
        sending.delete(sent);
      });
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
