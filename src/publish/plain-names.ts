import { namesPoolFiles } from './index-paths.ts';

const dotted = /^((?:Filename|Directory): *)(?:\.?\/)+(?=[^\s/])/gim;

/**
 * A list of packages of another tool with the names of files as the pool has them. Scripts around apt-ftparchive and dpkg-scanpackages
 * write `./pool/…` or `/pool/…`; web servers take that for `pool/…`, but a bucket looks for an object of that very name. The same bytes
 * where there is none.
 */
export function withPlainNames(index: string, list: Uint8Array): Uint8Array {
  if (!namesPoolFiles(index)) return list;
  const text = Buffer.from(list.buffer, list.byteOffset, list.byteLength).toString('latin1');
  const plain = text.replaceAll(dotted, '$1');
  return plain.length === text.length ? list : Buffer.from(plain, 'latin1');
}
