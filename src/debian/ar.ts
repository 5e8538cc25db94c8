import { Problem } from '../problem.ts';
import { quoted } from './deb822.ts';

/** One member of an ar archive, in the order of the file. */
export interface ArMember {
  /** Without the blanks or the single `/` that ends it in the header. */
  readonly name: string;
  readonly size: number;
  /** The member's bytes, once. What is left unread when the next member is asked for is skipped. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The bytes of a file in order. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  /** Has the next chunk begin so many bytes later; absent where each byte has to pass. */
  readonly skip?: (count: number) => void;
}

const magic = '!<arch>\n';
const headerSize = 60;

/**
 * Reads an ar archive (ar(5), deb(5)) from its bytes in order, holding no more than one chunk of `source` and one header.
 * `fileSize` is how many bytes `source` will give: a member that says it is larger than what is left is refused before
 * any of it is read. The last byte of the file must be the last byte of the last member or of its padding.
 *
 * Names ending in blanks or in one `/` are taken; BSD's `#1/LENGTH` names and GNU's symbol and name tables are refused, as
 * dpkg refuses them: readers disagree about what such a member is called.
 *
 * Throws `ar-not-an-archive`, `ar-header-invalid`, `ar-name-unsupported` or `ar-truncated`.
 */
export async function* readAr(source: ByteSource, fileSize: number, origin: string): AsyncGenerator<ArMember> {
  const cursor = new ByteCursor(source);
  try {
    if (latin1(await cursor.take(magic.length)) !== magic) throw notAnArchive(origin);
    while (cursor.position < fileSize) {
      const at = cursor.position;
      const bytes = await cursor.take(headerSize);
      if (bytes.length < headerSize) {
        throw truncated(origin, `${bytes.length} bytes follow its last member, too few for another`);
      }
      const { name, size } = parseHeader(latin1(bytes), at, origin);
      if (size > fileSize - cursor.position) {
        throw truncated(origin, `its member \`${name}\` says ${size} bytes and ${fileSize - cursor.position} are left`);
      }
      const end = cursor.position + size;
      const cut = () => truncated(origin, `it ends inside its member \`${name}\``);
      yield { name, size, body: cursor.until(end, cut) };
      await cursor.skipTo(end, cut);
      if (size % 2 === 1 && (await cursor.take(1)).length === 0) {
        throw truncated(origin, `the padding after its member \`${name}\` is missing`);
      }
    }
  } finally {
    await cursor.close();
  }
}

function parseHeader(header: string, at: number, origin: string): { name: string; size: number } {
  const sizeField = /^(\d+) *$/.exec(header.slice(48, 58))?.[1];
  if (header.slice(58) !== '`\n' || sizeField === undefined) {
    throw new Problem({
      code: 'ar-header-invalid',
      title: 'Package is damaged',
      what: `${origin}: at byte ${at}, where the header of an archive member should be, is something else.`,
      advice: 'Build or download the package again; nothing may follow its last member.',
    });
  }
  const padded = header.slice(0, 16).trimEnd();
  const name = padded.endsWith('/') ? padded.slice(0, -1) : padded;
  if (!/^[!-.0-~]+$/.test(name)) {
    throw new Problem({
      code: 'ar-name-unsupported',
      title: 'Unsupported member name in a package',
      what: `${origin}: the name of the archive member at byte ${at} (${quoted(padded)}) is not in the form that dpkg reads.`,
      advice: 'Build the package with dpkg-deb, or have the tool that built it write short, plain ar member names.',
    });
  }
  return { name, size: Number(sizeField) };
}

function notAnArchive(origin: string): Problem {
  return new Problem({
    code: 'ar-not-an-archive',
    title: 'Not a Debian package',
    what: `${origin}: does not begin with \`!<arch>\`, so it is not a Debian package of format 2.`,
    advice: 'Check that this is the file you meant, and that it was downloaded or built to its end.',
  });
}

function truncated(origin: string, how: string): Problem {
  return new Problem({
    code: 'ar-truncated',
    title: 'Package is cut short',
    what: `${origin}: the file is incomplete: ${how}.`,
    advice: 'Build or download the package again, and publish only after it has been written to its end.',
  });
}

/** Takes chunks of any size apart into pieces of the size that a format asks for. */
class ByteCursor {
  position = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #source: ByteSource;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(source: ByteSource) {
    this.#source = source;
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Exactly `count` bytes, or all that are left when that is fewer. */
  async take(count: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for (let missing = count; missing > 0; ) {
      const piece = await this.#next(missing);
      if (piece === undefined) break;
      pieces.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** The bytes up to position `end` as they come; throws what `cut` makes when the source ends before. */
  async *until(end: number, cut: () => Problem): AsyncGenerator<Uint8Array> {
    while (this.position < end) {
      const piece = await this.#next(end - this.position);
      if (piece === undefined) throw cut();
      yield piece;
    }
  }

  /** Goes on at position `end`; throws what `cut` makes when the source is found to end before. */
  async skipTo(end: number, cut: () => Problem): Promise<void> {
    if (this.#source.skip === undefined) {
      for await (const _ of this.until(end, cut));
      return;
    }
    const held = Math.min(this.#rest.length, end - this.position);
    this.#rest = this.#rest.subarray(held);
    this.#source.skip(end - this.position - held);
    this.position = end;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(atMost: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#rest = next.value;
    }
    const piece = this.#rest.subarray(0, atMost);
    this.#rest = this.#rest.subarray(piece.length);
    this.position += piece.length;
    return piece;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
