import { gzipSync } from 'node:zlib';

/** A package that a workload publishes: its name is all that tells it from others of its size. */
export interface SamplePackage {
  readonly name: string;
  readonly version: string;
  /** Bytes of its one file, zeros. */
  readonly size: number;
}

/** A .deb apart from the zeros of its one file: they are written, or left as a hole, between `head` and `tail`. */
export interface SampleFile {
  readonly fileName: string;
  readonly head: Uint8Array;
  readonly zeros: number;
  readonly tail: Uint8Array;
}

/**
 * A real .deb (deb(5)) made of nothing but its description, the same bytes every time. The payload is not compressed, so that a file of 2 GiB costs
 * neither time nor disk to make.
 */
export function sampleFile({ name, version, size }: SamplePackage): SampleFile {
  const control = gzipSync(tarOf('./control', Buffer.from(controlOf(name, version))), { level: 1 });
  const header = tarHeader(`./usr/share/${name}/data`, size);
  const padding = Buffer.alloc(((512 - (size % 512)) % 512) + 1024);
  const dataLength = header.length + size + padding.length;
  const head = Buffer.concat([
    Buffer.from('!<arch>\n'),
    member('debian-binary', Buffer.from('2.0\n')),
    member('control.tar.gz', control),
    memberHeader('data.tar', dataLength),
    header,
  ]);
  // Every tar block is a multiple of 512 bytes, so the member needs no padding of its own.
  return { fileName: `${name}_${version}_amd64.deb`, head, zeros: size, tail: padding };
}

function controlOf(name: string, version: string): string {
  return `Package: ${name}
Version: ${version}
Architecture: amd64
Maintainer: Ada Example <ada@example.org>
Installed-Size: 128
Depends: libc6 (>= 2.36), lib${name} (= ${version})
Section: utils
Priority: optional
Homepage: https://example.org/${name}
Description: sample package ${name}
 It is published to see how long that takes, and says so in a paragraph
 of about the length that descriptions of real packages have.
`;
}

function tarOf(path: string, body: Buffer): Buffer {
  return Buffer.concat([tarHeader(path, body.length), body, Buffer.alloc(((512 - (body.length % 512)) % 512) + 1024)]);
}

/** ustar (tar(5)), a plain file of root's from 1970. */
function tarHeader(path: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0);
  block.write('0000644\x000000000\x000000000\0', 100);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.fill(' ', 148, 156);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function member(name: string, body: Buffer): Buffer {
  return Buffer.concat([memberHeader(name, body.length), body, Buffer.from('\n'.repeat(body.length % 2))]);
}

/** ar(5). */
function memberHeader(name: string, size: number): Buffer {
  const fields = [
    name.padEnd(16),
    '0'.padEnd(12),
    '0'.padEnd(6),
    '0'.padEnd(6),
    '100644'.padEnd(8),
    `${size}`.padEnd(10),
  ];
  return Buffer.from(`${fields.join('')}\`\n`, 'latin1');
}
