import assert from 'node:assert/strict';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { after, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { compressXz, decodeInWorker, xzBlockSize } from '../../src/codec/worker-codec.ts';
import { WorkerPool } from '../../src/codec/worker-pool.ts';
import { runProcess } from '../rig/process.ts';
import { packagesLike } from './texts.ts';

const started: Worker[] = [];
process.on('worker', (worker) => started.push(worker));
after(() => Promise.all(started.map((worker) => worker.terminate())));

/** Quick to compress however large: the same piece again and again. */
const large = Buffer.concat(Array.from({ length: 5 * 1024 }, () => packagesLike(4096)));

test('xz output is the same with one worker and with four (invariant 8)', async () => {
  const sample = large.subarray(0, 2 * xzBlockSize + 1);
  const before = started.length;
  const alone = await compressXz(sample, new WorkerPool(1, 5000));
  assert.equal(started.length - before, 1);
  const shared = await compressXz(sample, new WorkerPool(4, 5000));
  assert.equal(started.length - before, 1 + 3);
  assert.deepEqual(alone, shared);
});

test('the event loop stays free while 20 MB are compressed', async () => {
  const pool = new WorkerPool(2, 5000);
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 5);
  const before = performance.eventLoopUtilization();
  await compressXz(large, pool);
  const { utilization, active, idle } = performance.eventLoopUtilization(before);
  clearInterval(ticking);
  assert(ticks > 0);
  assert(utilization < 0.5, `the loop was busy ${active} of ${active + idle} ms`);
});

test('streams whose consumers wait for one another share a single worker', async () => {
  const pool = new WorkerPool(1, 5000);
  const sample = packagesLike(600_000);
  const packed = await compressXz(sample, pool);
  const source = async function* () {
    for (let at = 0; at < packed.length; at += 20_000) yield packed.subarray(at, at + 20_000);
  };
  let outer = 0;
  for await (const piece of decodeInWorker('xz-decode', source(), pool)) {
    if (outer === 0) {
      let inner = 0;
      for await (const other of decodeInWorker('xz-decode', source(), pool)) inner += other.length;
      assert.equal(inner, sample.length);
      await compressXz(sample.subarray(0, 1000), pool);
    }
    outer += piece.length;
  }
  assert.equal(outer, sample.length);
});

test('an idle worker ends, and the next session starts another', async () => {
  const pool = new WorkerPool(1, 20);
  const first = await compressXz(large.subarray(0, 1000), pool);
  const worker = started.at(-1);
  assert(worker !== undefined);
  await once(worker, 'exit');
  assert.deepEqual(await compressXz(large.subarray(0, 1000), pool), first);
  assert.notEqual(started.at(-1), worker);
});

test('when a worker dies, what it owed fails and the next session starts another', async () => {
  const pool = new WorkerPool(1, 5000);
  await compressXz(large.subarray(0, 1000), pool);
  const worker = started.at(-1);
  const session = pool.open('xz-encode');
  const owed = session.step(new Uint8Array(8_000_000), true);
  const failing = assert.rejects(owed, { message: 'A codec worker ended with code 1.' });
  await worker?.terminate();
  await failing;
  await assert.rejects(session.step(undefined, true), { message: 'A codec worker ended with code 1.' });
  session.close();
  await compressXz(large.subarray(0, 1000), pool);
  assert.notEqual(started.at(-1), worker);
});

const codecs = new URL('../../src/codec/codecs.ts', import.meta.url).href;
const programs = [
  [
    'has used workers, whether it took all they gave or not,',
    `import { compress, decompressStream } from '${codecs}';
    const packed = await compress('xz', Buffer.alloc(3_000_000, 'abc'));
    async function* source() { yield packed; }
    for await (const piece of decompressStream('xz', source(), 3_000_000, 'The data')) break;`,
  ],
  [
    'has had a worker started and then found nothing to do',
    `import { prepareToCompress } from '${codecs}';
    prepareToCompress(['gz', 'xz']);
    await new Promise((resolve) => setTimeout(resolve, 300));`,
  ],
] as const;
for (const [what, program] of programs) {
  test(`a process that ${what} ends by itself at once`, async () => {
    const ending = `
      const from = performance.now();
      process.on('exit', () => console.log(performance.now() - from));
    `;
    const { code, stdout, stderr } = await runProcess(process.execPath, [
      '--input-type=module',
      '-e',
      `${program}\n${ending}`,
    ]);
    assert.equal(code, 0, stderr);
    // Half of the time after which an idle worker would have been ended anyway.
    assert(Number(stdout) < 2500, `${stdout} ms`);
  });
}
