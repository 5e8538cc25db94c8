import { Problem } from '../problem.ts';
import { quoted } from './deb822.ts';

/** By the digit of the type flag (tar(5)); 7, a contiguous file, has been a file like any other for decades. */
const kinds = [
  'file',
  'hard-link',
  'symlink',
  'character-device',
  'block-device',
  'directory',
  'fifo',
  'file',
] as const;

export interface TarEntry {
  /** As the archive has it: `./usr/bin/hello`, `usr/`, … Bytes that are not UTF-8 become U+FFFD. */
  readonly name: string;
  readonly kind: (typeof kinds)[number];
  /** Bytes of content; 0 for everything but a file. */
  readonly size: number;
  /** Where the content begins, in bytes from the start of the archive. */
  readonly offset: number;
}

export interface TarRules {
  /**
   * `extended` follows what GNU tar and POSIX pax add to the header: long names (types L and K), `path`, `linkpath` and
   * `size` records, base-256 sizes. `plain` refuses them, so that no two readers see different names or bounds.
   */
  readonly dialect: 'plain' | 'extended';
  /** Headers, those of extensions included. */
  readonly maxEntries: number;
  /** Bytes of all names together: what a caller that keeps the names has to hold. */
  readonly maxNameBytes: number;
}

/** The body of an L, K, x or g header on its way in. */
interface Extension {
  readonly type: string;
  missing: number;
  readonly padding: number;
  readonly parts: Buffer[];
}

/** What extensions say about the entry that follows them, in place of its header. */
interface Given {
  path: string;
  linkpath: string;
  size: number;
}

const blockSize = 512;
const zeros = Buffer.alloc(blockSize);
/** PATH_MAX of Linux: nothing with a longer name can be installed. */
const maxNameLength = 4096;
/** Extended attributes travel in pax records and may be long; names are far shorter. */
const maxExtensionSize = 1024 * 1024;

/**
 * Reads the headers of a tar archive (tar(5); POSIX pax; the subset of deb(5)) from chunks of any size, skipping contents.
 * Strict where readers differ: the end mark must be there, nothing but zeros may follow it, checksums must hold, only a file
 * may have content. Every fault is a `Problem` with a code that begins with `tar-`.
 */
export class TarReader {
  readonly #origin: string;
  readonly #rules: TarRules;
  readonly #held = Buffer.alloc(blockSize);
  #heldLength = 0;
  #position = 0;
  #skip = 0;
  #ended = false;
  #headers = 0;
  #nameBytes = 0;
  #extension: Extension | undefined;
  #given: Partial<Given> = {};

  /** `origin` names the archive in messages: `hello.deb: control.tar.xz`. */
  constructor(origin: string, rules: TarRules) {
    this.#origin = origin;
    this.#rules = rules;
  }

  /** Takes the next bytes and returns the entries whose headers they complete, in archive order. */
  push(bytes: Uint8Array): TarEntry[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const entries: TarEntry[] = [];
    for (let at = 0; at < chunk.length; ) {
      const used = this.#consume(chunk.subarray(at), entries);
      at += used;
      this.#position += used;
    }
    return entries;
  }

  /** Says that no more bytes come. Throws `tar-truncated` when the end mark has not been seen. */
  end(): void {
    if (this.#ended && this.#heldLength === 0) return;
    throw this.#problem('truncated', 'the archive ends before its end mark', 'Build or download the package again.');
  }

  #consume(rest: Buffer, entries: TarEntry[]): number {
    if (this.#skip > 0) {
      const used = Math.min(this.#skip, rest.length);
      this.#skip -= used;
      return used;
    }
    if (this.#extension !== undefined) return this.#collect(this.#extension, rest);
    if (this.#heldLength === 0 && rest.length >= blockSize) {
      this.#block(rest.subarray(0, blockSize), this.#position + blockSize, entries);
      return blockSize;
    }
    const used = rest.copy(this.#held, this.#heldLength, 0, blockSize - this.#heldLength);
    this.#heldLength += used;
    if (this.#heldLength === blockSize) {
      this.#heldLength = 0;
      this.#block(this.#held, this.#position + used, entries);
    }
    return used;
  }

  #collect(extension: Extension, rest: Buffer): number {
    const part = rest.subarray(0, extension.missing);
    // The caller may reuse its chunk after push() has returned.
    extension.parts.push(Buffer.from(part));
    extension.missing -= part.length;
    if (extension.missing === 0) {
      this.#extension = undefined;
      this.#skip = extension.padding;
      this.#apply(extension.type, Buffer.concat(extension.parts));
    }
    return part.length;
  }

  /** `offset` is where the block ends: where the content of its entry begins. */
  #block(block: Buffer, offset: number, entries: TarEntry[]): void {
    if (block.equals(zeros)) {
      if (Object.keys(this.#given).length > 0) throw this.#invalid('a long name is followed by no entry');
      this.#ended = true;
      return;
    }
    if (this.#ended) throw this.#invalid('bytes follow the end mark');
    this.#headers += 1;
    if (this.#headers > this.#rules.maxEntries) {
      throw this.#limit(`it has more than ${this.#rules.maxEntries} entries`);
    }
    if (!checksumHolds(block)) throw this.#invalid('the checksum of a header does not hold');
    const type = block.toString('latin1', 156, 157);
    const recorded = this.#headerSize(block);
    if (type === 'L' || type === 'K' || type === 'x' || type === 'g') this.#startExtension(type, recorded);
    else entries.push(this.#entry(block, type, recorded, offset));
  }

  #startExtension(type: string, size: number): void {
    if (this.#rules.dialect === 'plain' && (type === 'L' || type === 'K')) throw this.#unsupported('a GNU long name');
    if (size === 0 || size > maxExtensionSize) throw this.#limit(`an extended header has ${size} bytes`);
    this.#extension = { type, missing: size, padding: padding(size), parts: [] };
  }

  #entry(block: Buffer, type: string, recorded: number, offset: number): TarEntry {
    const { path: name = headerName(block), size = recorded } = this.#given;
    this.#given = {};
    this.#checkName(name);
    let kind = kinds[type === '\0' ? 0 : Number.parseInt(type, 8)];
    if (kind === undefined) throw this.#unsupported(`an entry of type ${quoted(type)}`);
    // Before ustar a directory was a file whose name ends in a slash; dpkg still reads it so.
    if (kind === 'file' && name.endsWith('/')) kind = 'directory';
    // Before ustar a hard link repeated the size of its target without the content; GNU tar and dpkg both ignore it.
    if (kind === 'hard-link') return { name, kind, size: 0, offset };
    if (kind !== 'file' && size !== 0) throw this.#invalid(`${quoted(name)} is a ${kind} with content`);
    this.#skip = size + padding(size);
    return { name, kind, size, offset };
  }

  #checkName(name: string): void {
    const length = Buffer.byteLength(name);
    if (length === 0) throw this.#invalid('an entry has no name');
    if (length > maxNameLength) throw this.#limit(`an entry has a name of ${length} bytes`);
    this.#nameBytes += length;
    if (this.#nameBytes > this.#rules.maxNameBytes) {
      throw this.#limit(`the names of its entries take more than ${this.#rules.maxNameBytes} bytes`);
    }
  }

  #apply(type: string, body: Buffer): void {
    if (type === 'L') this.#give('path', cString(body));
    else if (type === 'K') this.#give('linkpath', cString(body));
    else this.#applyRecords(type, body);
  }

  #applyRecords(type: string, body: Buffer): void {
    for (const [key, value] of this.#records(body)) {
      if (key.startsWith('GNU.sparse.')) throw this.#unsupported('a sparse file');
      if (key !== 'path' && key !== 'linkpath' && key !== 'size') continue;
      if (this.#rules.dialect === 'plain') throw this.#unsupported(`a pax \`${key}\` record`);
      // It would give all later entries one name or one size.
      if (type === 'g') throw this.#unsupported(`a global pax \`${key}\` record`);
      if (value === '' || value.includes('\0'))
        throw this.#invalid(`the value of its pax record \`${key}\` is no ${key}`);
      if (key === 'size') this.#give(key, this.#sizeIn(value, 10));
      else this.#give(key, value);
    }
  }

  /** Records `LENGTH KEY=VALUE\n`, the length counting itself (POSIX pax, Extended Header). */
  *#records(body: Buffer): Generator<[key: string, value: string]> {
    for (let at = 0; at < body.length; ) {
      const length = Number(/^([1-9]\d{0,7}) /.exec(body.toString('latin1', at, at + 9))?.[1] ?? 0);
      const record = body.subarray(at, at + length).toString();
      const [, key, value] = /^\d+ ([^=\0]+)=(.*)\n$/s.exec(record) ?? [];
      if (at + length > body.length || key === undefined || value === undefined) {
        throw this.#invalid('a pax record is malformed');
      }
      yield [key, value];
      at += length;
    }
  }

  /** Two sources for one attribute: readers differ in which one wins. */
  #give<K extends keyof Given>(key: K, value: Given[K]): void {
    if (this.#given[key] !== undefined) throw this.#invalid('an entry is given two names or two sizes');
    this.#given[key] = value;
  }

  #headerSize(block: Buffer): number {
    const first = block.readUInt8(124);
    if ((first & 0x80) === 0) {
      const digits = octal(block, 124, 136);
      if (digits === undefined) throw this.#invalid('the size in a header is not a number');
      return this.#sizeIn(digits === '' ? '0' : digits, 8);
    }
    if (this.#rules.dialect === 'plain') throw this.#unsupported('a base-256 size');
    // 0x80 marks the encoding, 0x40 the sign; 95 bits of value follow (deb(5)).
    const value = BigInt(`0x${block.toString('hex', 124, 136)}`) - (0x80n << 88n);
    return this.#sizeIn(value.toString(), 10);
  }

  #sizeIn(digits: string, radix: 8 | 10): number {
    const size = /^\d+$/.test(digits) ? Number.parseInt(digits, radix) : Number.NaN;
    if (!Number.isSafeInteger(size + blockSize)) throw this.#invalid('the size of an entry is out of bounds');
    return size;
  }

  #invalid(what: string): Problem {
    return this.#problem('invalid', what, 'Build the package again with dpkg-deb.');
  }

  #unsupported(what: string): Problem {
    const advice = 'Build the package with dpkg-deb, or have the tool that built it write the plain ustar format.';
    return this.#problem('unsupported', `the archive uses ${what}, which is not read here`, advice);
  }

  #limit(what: string): Problem {
    return this.#problem('limit', what, 'Split the package, or check that it is what you meant to publish.');
  }

  #problem(fault: string, what: string, advice: string): Problem {
    return new Problem({
      code: `tar-${fault}`,
      title: fault === 'limit' ? 'Package exceeds a limit' : 'Package is damaged or unsupported',
      what: `${this.#origin}: ${what}.`,
      advice,
    });
  }
}

function headerName(block: Buffer): string {
  const name = cString(block.subarray(0, 100));
  const posix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = posix ? cString(block.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Unsigned sums are the standard; old writers summed signed characters, and every reader takes both. */
function checksumHolds(block: Buffer): boolean {
  let unsigned = 0;
  let signed = 0;
  for (let at = 0; at < blockSize; at++) {
    const byte = at >= 148 && at < 156 ? 0x20 : (block[at] ?? 0);
    unsigned += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  const recorded = Number.parseInt(octal(block, 148, 156) ?? '', 8);
  return recorded === unsigned || recorded === signed;
}

/** The octal digits of a numeric field, blanks and NULs around them left out; undefined when anything else is there. */
function octal(block: Buffer, start: number, end: number): string | undefined {
  return /^[ \0]*([0-7]*)[ \0]*$/.exec(block.toString('latin1', start, end))?.[1];
}

function cString(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

/** How many bytes fill the last block of a content of `size`. */
function padding(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}
