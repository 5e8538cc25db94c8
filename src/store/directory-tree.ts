import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { Problem } from '../problem.ts';
import { isMissingFile } from './directory-errors.ts';

/** Files being written carry this at the beginning of their name, so that leftovers of killed writers can be told from objects. */
export const unfinishedPrefix = '.apt-publish-unfinished-';
/** The lock of a directory, in its root. Never removed, see `exclusively`. */
export const lockName = '.apt-publish-lock';

/** Where keys are in a folder, and that nothing outside of it is ever meant by one. */
export class DirectoryTree {
  readonly root: string;
  /** Folders that were seen to lie inside. */
  readonly #inside = new Set<string>();
  #realRoot: string | undefined;

  /** `root`: an absolute path; need not exist. */
  constructor(root: string) {
    this.root = root;
  }

  /** The path of an object that is to be read, with symbolic links resolved; undefined when there is none. */
  async existing(key: string): Promise<string | undefined> {
    try {
      const path = await realpath(this.path(key));
      if (!this.#isInside(path, await this.#resolvedRoot())) throw outside(key);
      return (await stat(path)).isFile() ? path : undefined;
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw error;
    }
  }

  /** The path of an object that is to be written or removed; its folder exists afterwards if `create` is set. */
  async place(key: string, create: boolean): Promise<string> {
    const path = this.path(key);
    const folder = dirname(path);
    if (this.#inside.has(folder)) return path;
    if (create) await mkdir(this.root, { recursive: true });
    // A folder is made only below one that was seen to be inside: mkdir follows symbolic links.
    const parent = await nearestFolder(folder);
    if (parent.length >= this.root.length && !this.#isInside(await realpath(parent), await this.#resolvedRoot())) {
      throw outside(key);
    }
    if (create) {
      await mkdir(folder, { recursive: true });
      this.#inside.add(folder);
    }
    return path;
  }

  /** The path a key is spelled as, whatever is there. Throws `store-key-refused` for keys that are no plain path below the root. */
  path(key: string): string {
    const parts = key.split('/');
    const plain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !isReserved(part));
    if (!plain || key.includes('\0')) throw refusedKey(key);
    return join(this.root, ...parts);
  }

  async #resolvedRoot(): Promise<string> {
    this.#realRoot ??= await realpath(this.root);
    return this.#realRoot;
  }

  #isInside(path: string, root: string): boolean {
    return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
  }
}

/** The lock, and the journal that SQLite keeps beside it: a process killed in between leaves that behind for the next one. */
export function isLock(name: string): boolean {
  return name === lockName || name === `${lockName}-journal`;
}

/** Names that are never an object's. */
export function isReserved(name: string): boolean {
  return isLock(name) || name.startsWith(unfinishedPrefix);
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      await realpath(folder);
      return folder;
    } catch (error) {
      if (!isMissingFile(error) || folder === dirname(folder)) throw error;
    }
  }
}

function refusedKey(key: string): Problem {
  return new Problem({
    code: 'store-key-refused',
    title: 'This cannot be the name of a file',
    what: `${JSON.stringify(key)} is not a plain path below the directory.`,
    advice: 'Check the names of suites, components and packages.',
  });
}

function outside(key: string): Problem {
  return new Problem({
    code: 'store-outside',
    title: 'A symbolic link leads out of the directory',
    what: `${key} lies outside of the directory, because a symbolic link on the way to it leads there.`,
    advice: 'Remove the symbolic link, or publish into the directory that it leads to.',
  });
}
