import {
  attributesOf,
  type ObjectStore,
  type PartBody,
  type PreconditionFailed,
  type PutOptions,
  type Upload,
  type UploadedPart,
  type Written,
} from './object-store.ts';
import { heldParts, type PartReader, scannedParts } from './part-reader.ts';
import { partSizeOf, singleRequestLimit } from './parts.ts';
import { CheckedReader, openFile, type SourceFile } from './source-file.ts';

/**
 * Writes a file: by one PUT up to 16 MiB, by a multipart upload above that, of parts of 8 MiB (more only above 78 GiB).
 * A file that has changed since it was scanned is a `Problem` before anything appears in the store. A failed
 * multipart upload is aborted before its error goes on.
 *
 * With a `sha256` the bytes sent are checked against it, but for what was `scanned` and is sent in parts (`scannedParts`).
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
  const opened = async () => file.open?.() ?? (await openFile(file));
  if (file.size <= singleRequestLimit && partSize === undefined) {
    await using source = await opened();
    const reader = new CheckedReader(source, file.size, attributes.sha256);
    const body = await reader.next(file.size);
    reader.checkEnd();
    return await store.put(key, body, put);
  }
  await using parts =
    file.scanned === undefined
      ? heldParts(await opened(), file.size, attributes.sha256)
      : await scannedParts(file, file.scanned);
  const lengths = { whole: file.size, part: partSize ?? partSizeOf(file.size) };
  const upload = await store.startUpload(key, attributes);
  try {
    const sent = await sendParts(store, upload, parts, lengths);
    parts.checkEnd();
    const answer = await store.completeUpload(upload, sent, put.condition);
    // S3 keeps the parts, and charges for them, when the condition of the completion does not hold.
    if (!answer.written) await abort(store, upload);
    return answer;
  } catch (error) {
    await abort(store, upload);
    throw error;
  }
}

/** Cuts in order and sends side by side. After the first failure nothing more is sent; it rejects when all parts are settled. */
async function sendParts(
  store: ObjectStore,
  upload: Upload,
  parts: PartReader,
  lengths: { readonly whole: number; readonly part: number },
): Promise<UploadedPart[]> {
  const sent: UploadedPart[] = [];
  const failures: unknown[] = [];
  const sending = new Set<Promise<void>>();
  for (let offset = 0, number = 1; offset < lengths.whole && failures.length === 0; number += 1) {
    const position = { number, offset };
    let body: PartBody;
    try {
      body = await parts.next(Math.min(lengths.part, lengths.whole - offset));
    } catch (error) {
      failures.push(error);
      break;
    }
    offset += body.length;
    const settled = store
      .putPart(upload, position, body)
      .then(
        (part) => void sent.push(part),
        (error: unknown) => void failures.push(error),
      )
      .finally(() => sending.delete(settled));
    sending.add(settled);
    if (sending.size >= parts.inHand) await Promise.race(sending);
  }
  await Promise.all(sending);
  if (failures.length > 0) throw failures[0];
  return sent;
}

/** The failure that led here is the one to report; an upload that cannot be aborted either is left to a lifecycle rule. */
async function abort(store: ObjectStore, upload: Upload): Promise<void> {
  await store.abortUpload(upload).catch(() => undefined);
}
