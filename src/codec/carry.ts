/**
 * What of a published index can be carried over into its next version without compressing it again. Pure.
 *
 * An index grows by a few stanzas; its compressed forms are written in independent blocks. A block whose content stands unchanged in
 * the new index, wherever it has moved to, is taken as it is.
 */
export type Segment =
  /** A block of the published form, by its place. */
  | { readonly block: number }
  /** Content to be compressed, by its range in the new index. */
  | { readonly start: number; readonly end: number };

/** Bytes of content that become one block. */
export interface BlockSizes {
  /** At most, and where there is that much at least half of it. */
  readonly block: number;
  /** The same of what changes: a place that has changed is likely to change again, and smaller blocks are compressed the sooner. */
  readonly changed: number;
}

/** How much of a block is looked for to find where it has gone; then the whole is compared. */
const probeSize = 512;

/**
 * Splits `content` into blocks of `published` (given by the ends of their ranges in it) and fresh ranges. The segments cover `content` in order.
 * Linear, but for blocks whose beginning occurs very often.
 */
export function segments(
  published: Uint8Array,
  blockEnds: readonly number[],
  content: Uint8Array,
  sizes: BlockSizes,
): Segment[] {
  const before = asBuffer(published);
  const after = asBuffer(content);
  const result: Segment[] = [];
  // A long range is new rather than changed.
  const freshSize = (length: number) =>
    blockEnds.length > 0 && length <= 2 * sizes.block ? sizes.changed : sizes.block;
  let at = 0;
  let blockStart = 0;
  for (const [block, blockEnd] of blockEnds.entries()) {
    const bytes = before.subarray(blockStart, blockEnd);
    blockStart = blockEnd;
    const found = bytes.length === 0 ? -1 : find(after, bytes, at);
    // A small block is let go, lest many changes in one place leave a trail of crumbs.
    if (found === -1 || bytes.length < sizes.changed / 4) continue;
    result.push(...fresh(at, found, freshSize), { block });
    at = found + bytes.length;
  }
  result.push(...fresh(at, after.length, freshSize));
  return result;
}

/** Where `bytes` stands in `content`, at `from` or not much later: blocks keep their order, and changes are small. */
function find(content: Buffer, bytes: Buffer, from: number): number {
  if (startsAt(content, bytes, from)) return from;
  const probe = bytes.subarray(0, probeSize);
  const limit = Math.min(content.length, from + 8 * bytes.length);
  const window = content.subarray(0, limit);
  for (let at = window.indexOf(probe, from); at !== -1; at = window.indexOf(probe, at + 1)) {
    if (startsAt(content, bytes, at)) return at;
  }
  return -1;
}

function startsAt(content: Buffer, bytes: Buffer, at: number): boolean {
  return bytes.equals(content.subarray(at, at + bytes.length));
}

function fresh(start: number, end: number, sizeOf: (length: number) => number): Segment[] {
  const count = Math.ceil((end - start) / sizeOf(end - start));
  const size = Math.ceil((end - start) / count);
  return Array.from({ length: count }, (_, index) => ({
    start: start + index * size,
    end: Math.min(end, start + (index + 1) * size),
  }));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
