import { createHash } from 'node:crypto';
import { listed, type ObjectStore } from '../store/object-store.ts';
import type { ListedPoolFile } from './listed-files.ts';
import type { Phase } from './run-context.ts';

/** Bytes of a pool file that are read at once: so many in memory for each request in flight. */
const pieceSize = 8 * 2 ** 20;
/** Where this tool puts packages. Suites that were taken over may list files elsewhere. */
export const poolPrefix = 'pool/';

/** What the pool holds, asked for once however many suites list a file. */
export class PoolFacts {
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #deep: boolean;
  readonly #hashes = new Map<string, Promise<string | undefined>>();

  /** `sizes` by key, as a listing of the pool tells them; `deep`: whether every byte is to be read. */
  constructor(sizes: ReadonlyMap<string, number>, deep: boolean) {
    this.#sizes = sizes;
    this.#deep = deep;
  }

  get files(): Iterable<string> {
    return this.#sizes.keys();
  }

  /** What is wrong with a file that an index lists, as a sentence; undefined when nothing is. */
  async faultOf(reading: Phase, { filename, size, sha256 }: ListedPoolFile): Promise<string | undefined> {
    const held = await this.#sizeOf(reading.store, filename, size);
    if (held === undefined) return 'It is missing, and is listed.';
    if (size !== undefined && held !== size) return `It has ${held} bytes, and is listed with ${size}.`;
    if (!this.#deep || sha256 === undefined) return undefined;
    const hash = this.#hashes.get(filename) ?? hashOf(reading, filename, held);
    this.#hashes.set(filename, hash);
    return (await hash) === sha256 ? undefined : 'Its bytes are not those that are listed.';
  }

  /** A listing may lag behind: what it does not show as it should be is asked for. */
  async #sizeOf(store: ObjectStore, filename: string, expected: number | undefined): Promise<number | undefined> {
    const listedSize = this.#sizes.get(filename);
    if (listedSize !== undefined && (expected === undefined || listedSize === expected)) return listedSize;
    const head = await store.head(filename);
    return head.found ? head.size : undefined;
  }
}

/** Lists the pool. */
export async function readPool({ store }: Phase, deep: boolean): Promise<PoolFacts> {
  const sizes = new Map<string, number>();
  for await (const { key, size } of listed(store, poolPrefix)) sizes.set(key, size);
  return new PoolFacts(sizes, deep);
}

/** SHA-256 of a file, read in pieces; undefined when it ends early. */
async function hashOf({ store, scope }: Phase, key: string, size: number): Promise<string | undefined> {
  const hash = createHash('sha256');
  for (let offset = 0; offset < size; offset += pieceSize) {
    const length = Math.min(pieceSize, size - offset);
    const piece = await store.get(key, { offset, length });
    if (!piece.found || piece.body.length !== length) return undefined;
    await scope.work('hash', length, () => void hash.update(piece.body));
  }
  return hash.digest('hex');
}
