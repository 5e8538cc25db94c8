import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { notImplemented, S3Fault } from './s3-answer.ts';
import type { Quirks } from './s3-quirks.ts';

/** A body that is what its sender said it is. */
export interface Payload {
  readonly body: Buffer;
  /** Checksum headers that came with it, by name without `x-amz-checksum-`: kept with the object. */
  readonly checksums: ReadonlyMap<string, string>;
}

/**
 * Takes a request's body out of its framing and holds it against every hash that came with it: the payload hash of the
 * signature, Content-MD5, x-amz-checksum headers and trailers. Throws S3's errors for each that does not fit.
 */
export function openPayload(headers: IncomingHttpHeaders, raw: Buffer, quirks: Quirks): Payload {
  const hash = String(headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD');
  const checksums = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    const algorithm = /^x-amz-checksum-(?!mode$|type$|algorithm$)(.+)$/.exec(name)?.[1];
    if (algorithm !== undefined) checksums.set(algorithm, String(value));
  }
  const trailer = String(headers['x-amz-trailer'] ?? '');
  const declared = checksums.size > 0 || trailer.startsWith('x-amz-checksum-') || headers['x-amz-checksum-algorithm'];
  if (declared && typeof quirks.checksums === 'number') {
    throw new S3Fault(
      quirks.checksums,
      quirks.checksums === 400 ? 'InvalidArgument' : 'NotImplemented',
      'Unsupported header x-amz-checksum',
    );
  }

  let body = raw;
  if (hash.startsWith('STREAMING-')) {
    if (quirks.awsChunked === 411)
      throw new S3Fault(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
    if (quirks.awsChunked === 501 || hash !== 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') throw notImplemented(hash);
    const unframed = removeChunkFraming(raw);
    body = unframed.body;
    for (const [name, value] of unframed.trailers) checksums.set(name.replace(/^x-amz-checksum-/, ''), value);
    if (Number(headers['x-amz-decoded-content-length']) !== body.length) {
      throw new S3Fault(400, 'IncompleteBody', 'The body is not as long as x-amz-decoded-content-length says.');
    }
  } else if (headers['transfer-encoding'] !== undefined) {
    throw notImplemented('Transfer-Encoding');
  } else if (hash !== 'UNSIGNED-PAYLOAD' && digest('sha256', body, 'hex') !== hash) {
    throw new S3Fault(
      400,
      'XAmzContentSHA256Mismatch',
      'The provided x-amz-content-sha256 header does not match what was computed.',
    );
  }

  const md5 = headers['content-md5'];
  if (md5 !== undefined) {
    if (!/^[A-Za-z0-9+/]{22}==$/.test(String(md5))) {
      throw new S3Fault(400, 'InvalidDigest', 'The Content-MD5 you specified is not valid.');
    }
    if (digest('md5', body, 'base64') !== md5) {
      throw new S3Fault(400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.');
    }
  }
  if (quirks.checksums === 'ignored') return { body, checksums: new Map() };
  for (const [algorithm, value] of checksums) {
    if (checksum(algorithm, body) !== value) {
      throw new S3Fault(
        400,
        'BadDigest',
        `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
      );
    }
  }
  return { body, checksums };
}

function checksum(algorithm: string, body: Buffer): string {
  if (algorithm === 'sha256' || algorithm === 'sha1') return digest(algorithm, body, 'base64');
  if (algorithm !== 'crc32') throw notImplemented(`x-amz-checksum-${algorithm}`);
  const value = Buffer.alloc(4);
  value.writeUInt32BE(crc32(body));
  return value.toString('base64');
}

function digest(algorithm: string, body: Buffer, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(body).digest(encoding);
}

/** `hex-size[;extension]CRLF data CRLF … 0 CRLF trailers CRLF`: Amazon S3 user guide, "Chunked upload with trailers". */
function removeChunkFraming(raw: Buffer): { body: Buffer; trailers: readonly (readonly [string, string])[] } {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = raw.indexOf('\r\n', at);
    const size = Number.parseInt(raw.toString('latin1', at, lineEnd), 16);
    if (lineEnd < 0 || Number.isNaN(size)) throw new S3Fault(400, 'IncompleteBody', 'The chunk framing is malformed.');
    at = lineEnd + 2;
    if (size === 0) break;
    pieces.push(raw.subarray(at, at + size));
    at += size + 2;
  }
  const trailers = raw
    .toString('latin1', at)
    .split('\r\n')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const];
    });
  return { body: Buffer.concat(pieces), trailers };
}
