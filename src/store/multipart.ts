import type {
  Condition,
  ObjectAttributes,
  ObjectStore,
  PreconditionFailed,
  PutOptions,
  Upload,
  UploadedPart,
  Written,
} from './object-store.ts';
import { attributesOf } from './object-store.ts';
import { partSizeOf, singleRequestLimit } from './parts.ts';
import { type CheckedBytes, CheckedReader, openFile, type SourceFile } from './source-file.ts';

/** Parts of one file read and not yet written. Bounds the memory: so many times the size of a part. */
const partsInHand = 4;

/**
 * Writes a file: by one PUT up to 16 MiB, by a multipart upload above that, of parts of 8 MiB (more only above 78 GiB),
 * at most four of which are in memory. With a `sha256`, or the sums of its parts, the bytes sent are checked against them, and a file that has
 * changed since is a `Problem` before anything appears in the store. A failed multipart upload is aborted before its error goes on.
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
  const { parts } = file;
  const attributes = attributesOf(put);
  await using source = file.open?.() ?? (await openFile(file));
  if (file.size <= singleRequestLimit && partSize === undefined) {
    const reader = new CheckedReader(source, file.size, { sha256: attributes.sha256 });
    const { body } = await reader.next(file.size);
    reader.checkEnd();
    return await store.put(key, body, put);
  }
  const size = partSize ?? partSizeOf(file.size);
  const reader = new CheckedReader(source, file.size, {
    sha256: attributes.sha256,
    ...(parts === undefined ? {} : { parts }),
  });
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
  // New memory for every part would cost as much as reading it.
  const free: Buffer[] = [];
  for (let number = 1; reader.remaining > 0 && failures.length === 0; number += 1) {
    const offset = reader.position;
    const room = free.pop() ?? Buffer.allocUnsafeSlow(size);
    let read: CheckedBytes;
    try {
      read = await reader.next(size, room);
    } catch (error) {
      failures.push(error);
      break;
    }
    const { body, ...known } = read;
    const sent = store
      .putPart(upload, { number, offset, ...known }, body)
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
