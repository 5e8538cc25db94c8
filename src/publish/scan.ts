import { resolve } from 'node:path';
import pLimit from 'p-limit';
import { parseChanges } from '../debian/changes.ts';
import { parseDsc } from '../debian/dsc.ts';
import { Problem } from '../problem.ts';
import type { PhaseScope } from '../timing/recorder.ts';
import { mainFile, oncePerPackage } from './scan-batch.ts';
import { scanDeb } from './scan-deb.ts';
import { hashInput, type ReadInput, readTextInput } from './scan-file.ts';
import { checkListed, settled } from './scan-listed.ts';
import type { Scanned, ScannedFile, ScannedSource } from './scanned.ts';

export interface ScanOptions {
  /** Whether to list what the packages install, which takes unpacking all of them. */
  readonly contents: boolean;
  /** Every file that is read becomes one span of this phase. */
  readonly scope: PhaseScope;
}

export interface ScanAllOptions extends ScanOptions {
  /** How many files may be open at a time. */
  readonly concurrency: number;
}

/** What one .deb, .udeb, .ddeb or .dsc (with the files it names) says about itself. Throws the problems of that file. */
export function scanFile(path: string, options: ScanOptions): Promise<Scanned> {
  return new Scan({ ...options, concurrency: 1 }).package(path);
}

/**
 * Scans all inputs: .deb, .udeb, .ddeb, .dsc, and .changes, which stands for the packages it lists. Each file is read
 * once, however often it is given or listed. Results follow the order of `paths` and of the lists, whatever the
 * concurrency; a package that comes twice as the same bytes is there once.
 *
 * Judges everything before it gives up: what is thrown holds the problems of all inputs (`Problems` for several). Problems
 * between inputs (`package-twice`, `source-file-twice`) are looked for once each input is sound by itself.
 */
export async function scanAll(paths: readonly string[], options: ScanAllOptions): Promise<Scanned[]> {
  const scan = new Scan(options);
  const found = await settled(
    paths.map(async (path) => (path.endsWith('.changes') ? scan.changes(path) : [await scan.package(path)])),
  );
  return oncePerPackage(found.flat());
}

/** One look at a batch of files: remembers what was read, and limits how many are open. */
class Scan {
  readonly #options: ScanAllOptions;
  readonly #limit: <T>(read: () => Promise<T>) => Promise<T>;
  readonly #packages = new Map<string, Promise<Scanned>>();
  readonly #changes = new Map<string, Promise<Scanned[]>>();
  readonly #hashes = new Map<string, Promise<ScannedFile>>();
  #reads = 0;

  constructor(options: ScanAllOptions) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
  }

  package(path: string): Promise<Scanned> {
    return once(this.#packages, path, async () => {
      if (path.endsWith('.dsc')) return this.#source(path);
      const extension = packageExtension(path);
      if (extension === undefined) throw unknownKind(path);
      return this.#read((scope) => scanDeb(path, extension, this.#options.contents, scope));
    });
  }

  changes(path: string): Promise<Scanned[]> {
    return once(this.#changes, path, () => this.#listedPackages(path));
  }

  async #listedPackages(path: string): Promise<Scanned[]> {
    const { result } = await this.#text(path);
    const packages: Promise<Scanned>[] = [];
    await checkListed(path, parseChanges(result, path).files, async (listed) => {
      if (packageExtension(listed) === undefined && !listed.endsWith('.dsc')) return this.#hash(listed);
      const scanned = this.package(listed);
      packages.push(scanned);
      return mainFile(await scanned);
    });
    return Promise.all(packages);
  }

  async #source(path: string): Promise<ScannedSource> {
    const { file, result } = await this.#text(path);
    const dsc = parseDsc(result, path);
    const files = await checkListed(path, dsc.files, (listed) => this.#hash(listed));
    return {
      kind: 'source',
      files: [file, ...files],
      package: dsc.package,
      version: dsc.version,
      control: dsc.stanza,
    };
  }

  #text(path: string): Promise<ReadInput<Uint8Array>> {
    return this.#read((scope) => readTextInput(path, scope));
  }

  #hash(path: string): Promise<ScannedFile> {
    return once(this.#hashes, path, () => this.#read((scope) => hashInput(path, scope)));
  }

  /**
   * Only reads take a place under the limit. A .dsc that held one while it waits for its tarballs could wait for ever for
   * the places that other such files hold.
   */
  #read<T>(read: (scope: PhaseScope) => Promise<T>): Promise<T> {
    const { scope } = this.#options;
    this.#reads += 1;
    scope.expect(this.#reads);
    return this.#limit(() => read(scope));
  }
}

function once<T>(known: Map<string, Promise<T>>, path: string, start: () => Promise<T>): Promise<T> {
  const key = resolve(path);
  const earlier = known.get(key);
  if (earlier !== undefined) return earlier;
  const started = start();
  known.set(key, started);
  return started;
}

function packageExtension(path: string): 'deb' | 'udeb' | 'ddeb' | undefined {
  if (path.endsWith('.deb')) return 'deb';
  if (path.endsWith('.udeb')) return 'udeb';
  return path.endsWith('.ddeb') ? 'ddeb' : undefined;
}

function unknownKind(path: string): Problem {
  return new Problem({
    code: 'input-kind-unknown',
    title: 'Not a kind of file that is published',
    what: `${path} is neither .deb, .udeb, .ddeb, .dsc nor .changes.`,
    advice: 'Narrow the pattern to packages, such as `out/*.deb`.',
  });
}
