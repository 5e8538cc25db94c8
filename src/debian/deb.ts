import { Problem } from '../problem.ts';
import { quoted } from './deb822.ts';
import { type TarEntry, TarReader } from './tar.ts';

/** How a member of a .deb may be compressed (deb(5)). */
export type DebCompression = 'none' | 'gz' | 'xz' | 'bz2' | 'lzma' | 'zst';

/** What a member of a .deb is there for. */
export type DebMember =
  | { readonly role: 'format' }
  | { readonly role: 'control'; readonly compression: DebCompression }
  | { readonly role: 'data'; readonly compression: DebCompression }
  /** Signatures and the like: nothing an index is made from. */
  | { readonly role: 'other' };

const mebibyte = 1024 * 1024;

/** Most bytes that control.tar may have once unpacked. */
export const maxControlTarSize = 32 * mebibyte;
const maxPackedControlSize = 10 * mebibyte;
const maxControlSize = mebibyte;
/** Readers take further lines after the version and ignore them; nobody writes any. */
const maxFormatSize = 1024;

const compressions: Record<'control' | 'data', ReadonlyMap<string, DebCompression>> = {
  control: new Map([
    ['control.tar', 'none'],
    ['control.tar.gz', 'gz'],
    ['control.tar.xz', 'xz'],
    ['control.tar.zst', 'zst'],
  ]),
  data: new Map([
    ['data.tar', 'none'],
    ['data.tar.gz', 'gz'],
    ['data.tar.xz', 'xz'],
    ['data.tar.bz2', 'bz2'],
    ['data.tar.lzma', 'lzma'],
    ['data.tar.zst', 'zst'],
  ]),
};

/**
 * Holds the members of a .deb against deb(5) as they come: `debian-binary`, any `_…`, one control.tar, one data.tar,
 * then whatever repeats none of these. Stricter than most readers, which pick different members when the order is
 * another or one comes twice. Codes: `deb-member-order`, `deb-member-unsupported`, `deb-member-too-large`, `deb-incomplete`.
 */
export class DebLayout {
  readonly #origin: string;
  #awaited: 'format' | 'control' | 'data' | 'nothing' = 'format';

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** What the next member is; throws when it must not stand here. */
  member(name: string, size: number): DebMember {
    const awaited = this.#awaited;
    if (awaited === 'format') {
      if (name !== 'debian-binary') throw this.#order(name, '`debian-binary`');
      if (size > maxFormatSize) throw this.#tooLarge(name, size, maxFormatSize);
      this.#awaited = 'control';
      return { role: 'format' };
    }
    if (name.startsWith('_')) return { role: 'other' };
    const known = name === 'debian-binary' || name.startsWith('control.tar') || name.startsWith('data.tar');
    if (awaited === 'nothing') {
      if (known) throw this.#order(name, 'no second one');
      return { role: 'other' };
    }
    if (!name.startsWith(`${awaited}.tar`)) throw this.#order(name, `${awaited}.tar`);
    const compression = compressions[awaited].get(name);
    if (compression === undefined) throw this.#unsupported(name, compressions[awaited]);
    if (awaited === 'data') {
      this.#awaited = 'nothing';
      return { role: 'data', compression };
    }
    if (size > maxPackedControlSize) throw this.#tooLarge(name, size, maxPackedControlSize);
    this.#awaited = 'data';
    return { role: 'control', compression };
  }

  /** Says that no more members come. */
  end(): void {
    if (this.#awaited === 'nothing') return;
    const missing = { format: 'debian-binary', control: 'control.tar', data: 'data.tar' }[this.#awaited];
    throw new Problem({
      code: 'deb-incomplete',
      title: 'Package is incomplete',
      what: `${this.#origin}: the package has no ${missing}.`,
      advice: 'Build or download the package again, and publish only after it has been written to its end.',
    });
  }

  #order(name: string, expected: string): Problem {
    return new Problem({
      code: 'deb-member-order',
      title: 'Package has an unexpected member',
      what: `${this.#origin}: the package has a member \`${name}\` where ${expected} should be.`,
      advice:
        'Build the package with dpkg-deb; its members are debian-binary, control.tar and data.tar, in this order.',
    });
  }

  #unsupported(name: string, known: ReadonlyMap<string, DebCompression>): Problem {
    return new Problem({
      code: 'deb-member-unsupported',
      title: 'Unsupported compression in a package',
      what: `${this.#origin}: the member \`${name}\` is compressed in a way that dpkg does not read.`,
      advice: `Build the package with one of ${[...known.keys()].join(', ')}.`,
    });
  }

  #tooLarge(name: string, size: number, limit: number): Problem {
    return new Problem({
      code: 'deb-member-too-large',
      title: 'Package exceeds a limit',
      what: `${this.#origin}: the member \`${name}\` has ${size} bytes, and at most ${limit} are read.`,
      advice: 'Check that this is the package you meant to publish; what is installed belongs into data.tar.',
    });
  }
}

/** Checks the content of `debian-binary`: a first line `2.` and any minor version (deb(5)). Throws `deb-format-version`. */
export function checkFormatVersion(bytes: Uint8Array, origin: string): void {
  const text = Buffer.from(bytes).toString('latin1');
  if (/^2\.\d+\n/.test(text)) return;
  throw new Problem({
    code: 'deb-format-version',
    title: 'Unsupported package format',
    what: `${origin}: the package says it has format ${quoted(text.split('\n', 1)[0] ?? '')}, and only 2.x is known.`,
    advice: 'Build the package with a current dpkg-deb.',
  });
}

/**
 * The bytes of the file `control` in an unpacked control.tar. The archive is read to its end, so that a second `control`
 * is noticed: readers differ in which of two they take. Symbolic and hard links, devices and fifos are refused under any
 * name: they can stand for `control`, or lead another entry onto it, when the archive is unpacked.
 * Codes: `deb-control-missing`, `deb-control-twice`, `deb-control-not-a-file`, `deb-control-too-large`, `tar-…`.
 */
export function controlFile(controlTar: Uint8Array, origin: string): Uint8Array {
  const refuse = (fault: string, what: string) =>
    new Problem({
      code: `deb-control-${fault}`,
      title: 'Package has no usable control file',
      what: `${origin}: control.tar ${what}.`,
      advice: 'Build the package with dpkg-deb.',
    });
  const tar = new TarReader(`${origin}: control.tar`, { dialect: 'plain', maxEntries: 1000, maxNameBytes: mebibyte });
  let control: TarEntry | undefined;
  for (const entry of tar.push(controlTar)) {
    if (entry.kind !== 'file' && entry.kind !== 'directory') {
      throw refuse('not-a-file', `holds a ${entry.kind}, ${quoted(entry.name)}, and only files may be in it`);
    }
    if (installedPath(entry.name).replace(/\/+$/, '') !== 'control') continue;
    if (entry.kind === 'directory') throw refuse('not-a-file', 'holds a directory where `control` should be');
    if (control !== undefined) throw refuse('twice', 'holds `control` more than once');
    control = entry;
  }
  tar.end();
  if (control === undefined) throw refuse('missing', 'holds no `control`');
  if (control.size > maxControlSize) {
    throw refuse('too-large', `holds a \`control\` of ${control.size} bytes, and at most ${maxControlSize} are read`);
  }
  return controlTar.subarray(control.offset, control.offset + control.size);
}

/**
 * Collects what data.tar installs, for Contents: files, hard links, symbolic links, devices and fifos, each path once, in
 * archive order, without leading `./` or `/`. Directories are left out, as apt-ftparchive and dak do. Paths are as the
 * archive has them (`..`, newlines, tabs): they are listed, never opened. Codes: `deb-path-empty`, `tar-…`.
 */
export class InstalledPaths {
  readonly #origin: string;
  readonly #tar: TarReader;
  readonly #paths = new Set<string>();

  constructor(origin: string) {
    this.#origin = origin;
    this.#tar = new TarReader(`${origin}: data.tar`, {
      dialect: 'extended',
      maxEntries: 1_000_000,
      maxNameBytes: 128 * mebibyte,
    });
  }

  push(bytes: Uint8Array): void {
    for (const entry of this.#tar.push(bytes)) {
      if (entry.kind === 'directory') continue;
      const path = installedPath(entry.name);
      // It would put a line without a path into Contents, which nobody can read back.
      if (path === '') throw this.#rootReplaced(entry);
      this.#paths.add(path);
    }
  }

  end(): string[] {
    this.#tar.end();
    return [...this.#paths];
  }

  #rootReplaced({ kind, name }: TarEntry): Problem {
    return new Problem({
      code: 'deb-path-empty',
      title: 'Package would replace the root directory',
      what: `${this.#origin}: data.tar holds a ${kind} named ${quoted(name)}, where only a directory can be.`,
      advice: 'Build the package again with dpkg-deb.',
    });
  }
}

/**
 * Most bytes that a data.tar of `packedSize` may unpack to: a thousandfold, which no real content but zeros comes near, never
 * less than 64 MiB (a small package may well hold an empty disk image) and never more than 16 GiB.
 */
export function maxDataTarSize(packedSize: number): number {
  return Math.min(Math.max(1000 * packedSize, 64 * mebibyte), 16 * 1024 * mebibyte);
}

/**
 * The kind of a package from the extension of its file and its field `Package-Type`. The field decides about a `.deb`;
 * `.udeb` and `.ddeb` are names of a kind and must not contradict it: in the wrong list, apt would offer an installer's
 * package to a running system. Throws `deb-package-type`.
 */
export function packageKind(
  extension: 'deb' | 'udeb' | 'ddeb',
  packageType: string | undefined,
  origin: string,
): 'deb' | 'udeb' | 'ddeb' {
  if (packageType === undefined) return extension;
  const known = packageType === 'deb' || packageType === 'udeb' || packageType === 'ddeb';
  if (known && (extension === 'deb' || extension === packageType)) return packageType;
  throw new Problem({
    code: 'deb-package-type',
    title: 'Package type and file name disagree',
    what: `${origin}: the file name ends in .${extension} and the package says Package-Type ${quoted(packageType)}.`,
    advice: 'Name the file for the type of its package: .deb, .udeb (Debian installer) or .ddeb (debug symbols).',
  });
}

function installedPath(name: string): string {
  return name.replace(/^(?:\.?\/)+/, '');
}
