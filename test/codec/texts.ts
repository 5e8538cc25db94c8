/** Whole numbers from 0 up to a bound, the same on every machine (mulberry32). */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const words = 'Package Version Architecture amd64 Depends libc6 Description Filename pool main Size SHA256'.split(' ');

/** `size` bytes that compress about as well as a Packages file. */
export function packagesLike(size: number, seed = 1): Buffer {
  const next = numbers(seed);
  const lines: string[] = [];
  for (let length = 0; length < size; ) {
    const line = `${words[next(words.length)]}: ${words[next(words.length)]} ${next(2 ** 31).toString(16)}\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join('')).subarray(0, size);
}

/** `size` bytes that do not compress. */
export function noise(size: number, seed = 1): Buffer {
  const next = numbers(seed);
  return Buffer.from(Uint8Array.from({ length: size }, () => next(256)));
}
