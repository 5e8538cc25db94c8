import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, type FileHandle, link, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../timing/clock.ts';
import { directoryError, isMissingFile, systemCode } from './directory-errors.ts';
import { exclusively } from './directory-lock.ts';
import { DurableWrites } from './directory-sync.ts';
import { DirectoryTree, isLock, isReserved, lockName, unfinishedPrefix } from './directory-tree.ts';
import type {
  ByteRange,
  Condition,
  Found,
  FoundHead,
  ListedObject,
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
import { pieces } from './part-body.ts';

/** Bytes of a part that are in memory together. */
const pieceSize = 1024 ** 2;
/** Older files of unfinished writes are leftovers: their writer was killed. */
const leftoverMs = 24 * 3600 * 1000;

/**
 * A folder as a store. Objects appear whole, by link or rename of a finished file, so plain readers (a web server, apt's `file:`)
 * never see half of one and need no lock. The ETag is the SHA-256 of the content; Content-Type and Cache-Control are not kept.
 *
 * `absent` is link(2), which never replaces. An ETag is compared and replaced under a lock of the directory that dies with its
 * process. Conditions are atomic against each other, between all processes of the machine; an unconditional write or a removal
 * in the same instant is not part of that, as nothing in this project writes one key both ways.
 *
 * A conditional write is acknowledged when it and everything written before it is on disk: what a head or a record names is
 * there after a power cut too.
 */
export class DirectoryStore implements ObjectStore {
  readonly #tree: DirectoryTree;
  readonly #clock: Clock;
  readonly #writes = new DurableWrites();
  readonly #writer: string;
  #nextUnfinished = 1;

  /** `root`: an absolute path, made when first written to. `writer`: the pid or the like, for the names of unfinished files. */
  constructor(settings: { root: string; clock: Clock; writer: string }) {
    this.#tree = new DirectoryTree(settings.root);
    this.#clock = settings.clock;
    this.#writer = settings.writer;
  }

  /** Of a range, the ETag is that of the range: a directory has no other than the hash of what was read. */
  get(key: string, range?: ByteRange): Promise<Found | NotFound> {
    return explained(`to read ${key}`, async () => {
      const path = await this.#tree.existing(key);
      if (path === undefined) return { found: false };
      try {
        await using file = await open(path);
        const { mtimeMs, size } = await file.stat();
        if (range !== undefined && range.offset > 0 && range.offset >= size) return { found: false };
        const body = range === undefined ? await file.readFile() : await readRange(file, range);
        return { found: true, body, etag: contentHash(body), age: Math.max(0, (this.#clock.now() - mtimeMs) / 1000) };
      } catch (error) {
        if (isMissingFile(error)) return { found: false };
        throw error;
      }
    });
  }

  head(key: string): Promise<FoundHead | NotFound> {
    return explained(`to look at ${key}`, async () => {
      const path = await this.#tree.existing(key);
      if (path === undefined) return { found: false };
      const hash = createHash('sha256');
      let size = 0;
      try {
        for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
          hash.update(chunk);
          size += chunk.length;
        }
      } catch (error) {
        if (isMissingFile(error)) return { found: false };
        throw error;
      }
      const sha256 = hash.digest('hex');
      return { found: true, size, etag: sha256, sha256 };
    });
  }

  put(key: string, body: Uint8Array, options: PutOptions): Promise<Written | PreconditionFailed> {
    return explained(`to write ${key}`, async () => {
      const unfinished = await this.#start(key, (file) => file.writeFile(body));
      return this.#finish(unfinished, key, options.condition, contentHash(body));
    });
  }

  copy(from: string, to: string, _attributes: ObjectAttributes): Promise<Written | NotFound> {
    return explained(`to copy ${from} to ${to}`, async () => {
      const source = await this.#tree.existing(from);
      if (source === undefined) return { found: false };
      const unfinished = await this.#start(to);
      try {
        await copyFile(source, unfinished, constants.COPYFILE_FICLONE);
      } catch (error) {
        await unlink(unfinished);
        if (isMissingFile(error)) return { found: false };
        throw error;
      }
      const written = await this.#finish(unfinished, to);
      return written.written ? written : { found: false };
    });
  }

  /** All in one page. Symbolic links are left out: what is reached under two names would be counted, and cleaned, twice. */
  listPage(prefix: string): Promise<ListedPage> {
    return explained(`to list ${prefix}`, async () => {
      const objects: ListedObject[] = [];
      await this.#walk('', prefix, objects);
      return { objects };
    });
  }

  delete(keys: readonly string[]): Promise<void> {
    return explained(`to delete ${keys[0] ?? 'nothing'}`, async () => {
      for (const key of keys) await unlink(await this.#tree.place(key, false)).catch(ignoreMissing);
    });
  }

  startUpload(key: string, attributes: ObjectAttributes): Promise<Upload> {
    return explained(`to start an upload of ${key}`, async () => {
      const unfinished = await this.#start(key);
      return { key, id: unfinished, attributes };
    });
  }

  putPart(upload: Upload, part: PartPosition, body: PartBody): Promise<UploadedPart> {
    return explained(`to write part ${part.number} of ${upload.key}`, async () => {
      await using file = await open(upload.id, 'r+');
      let position = part.offset;
      for await (const piece of pieces(body, [Buffer.allocUnsafe(pieceSize)])) {
        for (let done = 0; done < piece.length; ) {
          done += (await file.write(piece, done, piece.length - done, position + done)).bytesWritten;
        }
        position += piece.length;
      }
      return { number: part.number, etag: body.sha256 };
    });
  }

  completeUpload(
    upload: Upload,
    _parts: readonly UploadedPart[],
    condition?: Condition,
  ): Promise<Written | PreconditionFailed> {
    return explained(`to complete the upload of ${upload.key}`, () => this.#finish(upload.id, upload.key, condition));
  }

  abortUpload(upload: Upload): Promise<void> {
    return explained(`to abort the upload of ${upload.key}`, () => unlink(upload.id).catch(ignoreMissing));
  }

  /** A new file in the folder of the object it is to become, so that a rename or a link can put it in place. */
  async #start(key: string, write?: (file: FileHandle) => Promise<void>): Promise<string> {
    const folder = dirname(await this.#tree.place(key, true));
    for (;;) {
      const path = join(folder, `${unfinishedPrefix}${this.#writer}-${this.#nextUnfinished++}`);
      try {
        await using file = await open(path, 'wx');
        await write?.(file);
        return path;
      } catch (error) {
        // Of a killed process that had the same name.
        if (systemCode(error) === 'EEXIST') continue;
        await unlink(path).catch(ignoreMissing);
        throw error;
      }
    }
  }

  /** Puts a finished file in its place if the condition holds; where it was there is nothing of ours afterwards. */
  async #finish(
    unfinished: string,
    key: string,
    condition?: Condition,
    etag?: string,
  ): Promise<Written | PreconditionFailed> {
    const path = await this.#tree.place(key, true);
    // Whoever renamed a file has no claim to its old name: a process of another container, with the same pid, may be using it.
    let renamed = false;
    try {
      if (condition === undefined) {
        await rename(unfinished, path);
        renamed = true;
        this.#writes.add(path);
      } else {
        await this.#writes.settle(unfinished);
        if ('absent' in condition) {
          if (!(await linkAbsent(unfinished, path))) return { written: false };
        } else {
          renamed = await this.#swap(unfinished, key, path, condition.etag);
          if (!renamed) return { written: false };
        }
        await this.#writes.settle(dirname(path));
      }
      return etag === undefined ? { written: true } : { written: true, etag };
    } finally {
      if (!renamed) await unlink(unfinished).catch(ignoreMissing);
    }
  }

  #swap(unfinished: string, key: string, path: string, etag: string): Promise<boolean> {
    return exclusively(join(this.#tree.root, lockName), this.#clock, async () => {
      const current = await this.#tree.existing(key);
      if (current === undefined || contentHash(await readFile(current)) !== etag) return false;
      await rename(unfinished, path);
      return true;
    });
  }

  async #walk(folder: string, prefix: string, into: ListedObject[]): Promise<void> {
    const path = folder === '' ? this.#tree.root : this.#tree.path(folder.slice(0, -1));
    const entries = await readdir(path, { withFileTypes: true }).catch(ignoreMissing);
    for (const entry of entries ?? []) {
      const key = folder + entry.name;
      if (isReserved(entry.name)) {
        if (!isLock(entry.name)) await this.#sweep(join(path, entry.name));
      } else if (entry.isDirectory()) {
        if (`${key}/`.startsWith(prefix) || prefix.startsWith(`${key}/`)) await this.#walk(`${key}/`, prefix, into);
      } else if (entry.isFile() && key.startsWith(prefix)) {
        const file = await stat(join(path, entry.name)).catch(ignoreMissing);
        if (file !== undefined) into.push({ key, size: file.size, modified: Math.floor(file.mtimeMs) });
      }
    }
  }

  async #sweep(unfinished: string): Promise<void> {
    const file = await stat(unfinished).catch(ignoreMissing);
    if (file !== undefined && this.#clock.now() - file.mtimeMs > leftoverMs)
      await unlink(unfinished).catch(ignoreMissing);
  }
}

async function linkAbsent(unfinished: string, path: string): Promise<boolean> {
  try {
    await link(unfinished, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function explained<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw directoryError(error, doing);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissingFile(error)) throw error;
}

async function readRange(file: FileHandle, { offset, length }: ByteRange): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

function contentHash(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}
