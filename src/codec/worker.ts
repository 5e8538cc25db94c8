/** The thread behind `WorkerPool`: coders by session, one step a message. An entry of its own: dist/worker/index.js. */
import { parentPort } from 'node:worker_threads';
import { openBzip2Decoder } from './bzip2.ts';
import type { Coder, CoderName, Reply, Request } from './coder.ts';
import { DecoderFault } from './faults.ts';
import { type FileToSum, openFileSums } from './file-sums.ts';
import { openLzmaDecoder, openXzEncoder } from './liblzma.ts';

if (parentPort === null) throw new Error('This file is the entry of a worker thread; it does nothing by itself.');
const port = parentPort;

const openers: Record<CoderName, () => Coder | Promise<Coder>> = {
  'xz-encode': openXzEncoder,
  'xz-decode': () => openLzmaDecoder('xz'),
  'lzma-decode': () => openLzmaDecoder('lzma'),
  'bz2-decode': openBzip2Decoder,
};

const coders = new Map<number, Promise<Coder>>();

port.on('message', (request: Request) => {
  switch (request.kind) {
    case 'open':
      open(request.session, request.coder);
      break;
    case 'step':
      void answer(request);
      break;
    case 'close':
      void close(request.session);
      break;
  }
});

function open(session: number, wanted: CoderName | FileToSum): void {
  const coder = Promise.resolve(typeof wanted === 'string' ? openers[wanted]() : openFileSums(wanted));
  // The first step tells of a failure; until then it must not end the thread as an unhandled one.
  coder.catch(() => undefined);
  coders.set(session, coder);
}

async function answer(request: Extract<Request, { kind: 'step' }>): Promise<void> {
  const { session } = request;
  try {
    const coder = await coders.get(session);
    if (coder === undefined) throw new Error(`Codec session ${session} is not open.`);
    const step = coder.step(request.input, request.last);
    reply({ session, step }, [step.output.buffer]);
  } catch (error) {
    reply(error instanceof DecoderFault ? { session, fault: error.fault } : { session, defect: error });
  }
}

async function close(session: number): Promise<void> {
  const coder = coders.get(session);
  coders.delete(session);
  await coder?.then(
    (opened) => opened.release(),
    () => undefined,
  );
}

function reply(message: Reply, moved: ArrayBuffer[] = []): void {
  port.postMessage(message, moved);
}
