/**
 * Sends files of zeros of given sizes to a bucket in parts of 8 MiB, with the client that the action has and nothing around it: no file is read, nothing is
 * hashed for the pool, nothing but the parts is waited for. What this takes is what the same server and client can do at best.
 *
 *     node bench/ceiling.ts '{"settings": S3 settings, "sizes": [BYTES …], "concurrency": REQUESTS}'
 */

import { limited, limiter } from '../src/store/limited.ts';
import type { PartBody } from '../src/store/object-store.ts';
import { bytesPart } from '../src/store/part-body.ts';
import { S3Store } from '../src/store/s3.ts';

const part = 8 * 2 ** 20;
const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-cache' };

const { settings, sizes, concurrency } = JSON.parse(process.argv[2] ?? '{}');
const adapter = new S3Store(settings);
const store = limited(adapter, limiter(Number(concurrency)));
const zeros = Buffer.alloc(part);
/** The action knows the hashes of parts from its scan, and this is to have no more to do than it has. */
const bodies = new Map<number, PartBody>();

function bodyOf(length: number): PartBody {
  const body = bodies.get(length) ?? bytesPart(zeros.subarray(0, length));
  bodies.set(length, body);
  return body;
}

async function send(size: number, index: number): Promise<void> {
  const upload = await store.startUpload(`ceiling/${index}`, attributes);
  const offsets = Array.from({ length: Math.ceil(size / part) }, (_, number) => number * part);
  const parts = await Promise.all(
    offsets.map((offset, index) =>
      store.putPart(upload, { number: index + 1, offset }, bodyOf(Math.min(part, size - offset))),
    ),
  );
  await store.completeUpload(upload, parts);
}

const from = performance.now();
await Promise.all(sizes.map(send));
console.log(performance.now() - from);
adapter.close();
