import { Problem } from '../problem.ts';
import { putFile } from '../store/multipart.ts';
import { conditionRefusedCode, type ObjectStore } from '../store/object-store.ts';
import { singleRequestLimit } from '../store/parts.ts';
import type { SourceFile } from '../store/source-file.ts';
import { immutableAttributes } from './attributes.ts';
import { poolConflict } from './conflict.ts';
import { digest } from './digest.ts';
import { fileListKey } from './layout.ts';
import type { PoolFile, SuitePlan } from './list-changes.ts';
import { keepFileList } from './merge-contents.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { boundedWave, wave } from './wave.ts';

/** Pool files of one run, each uploaded once however many suites list it. */
export interface Uploads {
  /**
   * Resolves when everything that the plan adds is in the store. Throws `NamesTaken` when names hold other bytes.
   *
   * What was put when the pool's record had another version is put again: it may have been removed since, and the second look
   * would only notice what is removed after `poolVersion`.
   */
  ensure(suite: string, plan: SuitePlan, poolVersion: number, conditions: Conditions): Promise<void>;
}

/**
 * Files that are open and read while they wait for their turn: the number of requests has a limit of its own, and memory is to have one too.
 * A file of one request is in memory as a whole. Of a larger one its parts in hand are, or pieces of them, 32 MiB at most.
 */
const inHand = {
  most: 512,
  heaviest: 160 * 2 ** 20,
  weigh: ({ size }: { readonly size: number }) => Math.min(size, 32 * 2 ** 20),
};

export function uploads(run: RunContext): Uploads {
  const started = new Map<string, Promise<ReadonlySet<string>>>();
  return {
    async ensure(suite, { poolFiles, contents }, poolVersion, conditions) {
      const startedKey = (key: string) => `${poolVersion} ${key}`;
      const lists = contents.flatMap(({ add }) => add.filter(({ paths }) => paths !== undefined));
      const wanted = [
        ...poolFiles
          .toSorted((a, b) => b.file.size - a.file.size)
          .map((file) => ({
            key: file.key,
            size: file.file.size,
            put: (upload: Phase) => uploadFile(upload, file, conditions),
          })),
        ...lists.map((list) => ({
          key: fileListKey(list.sha256),
          size: 0,
          put: (upload: Phase) => keepFileList(upload, list),
        })),
      ];
      const missing = new Map(
        wanted.filter(({ key }) => !started.has(startedKey(key))).map((each) => [each.key, each]),
      );
      if (missing.size > 0) {
        const uploading = phase(run, 'upload', suite, async (upload) => {
          // A file list is a piece of work and a request.
          upload.scope.expect(missing.size + lists.filter(({ sha256 }) => missing.has(fileListKey(sha256))).length);
          const taken = new Set<string>();
          await boundedWave([...missing.values()], inHand, async ({ key, put }) => {
            await put(upload).catch((error: unknown) => {
              if (!(error instanceof NamesTaken)) throw error;
              taken.add(key);
            });
          });
          return taken;
        });
        for (const key of missing.keys()) started.set(startedKey(key), uploading);
      }
      const batches = [...new Set(wanted.flatMap(({ key }) => started.get(startedKey(key)) ?? []))];
      const taken = await wave(batches, (uploading) => uploading);
      const mine = poolFiles.filter(({ key }) => taken.some((keys) => keys.has(key)));
      if (mine.length > 0) throw new NamesTaken(mine);
    },
  };
}

/** Names in the pool turn out to stand for other bytes. Nothing was written under them. */
export class NamesTaken extends Error {
  override readonly name = 'NamesTaken';
  readonly files: readonly PoolFile[];

  constructor(files: readonly PoolFile[]) {
    super(`${files[0]?.key ?? 'A name'} holds other bytes.`);
    this.files = files;
  }
}

/** Puts files into the pool once more, as many at a time as memory allows. Throws `pool-conflict` when a name holds other bytes by now. */
export async function uploadAgain(phase: Phase, files: readonly PoolFile[], conditions: Conditions): Promise<void> {
  const sized = files.map((file) => ({ file, size: file.file.size }));
  await boundedWave(sized, inHand, ({ file }) => uploadFile(phase, file, conditions)).catch((error: unknown) => {
    const [file] = error instanceof NamesTaken ? error.files : [];
    throw file === undefined ? error : poolConflict(file, []);
  });
}

/**
 * Puts one file into the pool. `If-None-Match: *` makes the look-up and the write one request; a store that does not hold it is
 * asked first, and so it is for a file of several parts, since some stores hold conditions on single writes only.
 */
async function uploadFile({ store, scope }: Phase, file: PoolFile, conditions: Conditions): Promise<void> {
  const conditional = conditions.kind !== 'none';
  const askFirst = !conditional || file.file.size > singleRequestLimit || file.file.seen === true;
  if (askFirst && (await isPresent(store, file))) return;
  const { path, size, scanned, open } = file.file;
  const source: SourceFile = {
    path,
    size,
    ...(scanned === undefined ? {} : { scanned }),
    ...(open === undefined ? {} : { open: () => open(scope) }),
  };
  const attributes = immutableAttributes(file.key, file.file.sha256);
  const answer = await putFile(store, file.key, source, {
    ...attributes,
    overlaps: true,
    ...(conditional ? { condition: { absent: true } } : {}),
  }).catch((error: unknown) => {
    // Some stores hold conditions on single writes and refuse them on the end of a multipart upload; the look before has to do there.
    if (!askFirst || !(error instanceof Problem) || error.code !== conditionRefusedCode) throw error;
    return putFile(store, file.key, source, attributes);
  });
  if (answer.written || (await isPresent(store, file))) return;
  // Refused because it is there, and then not there: somebody removed it in between.
  await uploadFile({ store, scope }, file, conditions);
}

/** Whether the pool holds the file already. Throws `NamesTaken` for a name that holds other bytes. */
async function isPresent(store: ObjectStore, pool: PoolFile): Promise<boolean> {
  const { key, file } = pool;
  const head = await store.head(key);
  if (!head.found) return false;
  if (head.size !== file.size) throw new NamesTaken([pool]);
  const sha256 = head.sha256 ?? (await hashOf(store, key));
  if (sha256 !== undefined && sha256 !== file.sha256) throw new NamesTaken([pool]);
  return sha256 !== undefined;
}

/** Objects that other tools wrote carry no hash: their bytes are read. */
async function hashOf(store: ObjectStore, key: string): Promise<string | undefined> {
  const object = await store.get(key);
  return object.found ? digest(object.body) : undefined;
}
