import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { CoderName, Reply, Request, Step } from './coder.ts';
import { DecoderFault } from './faults.ts';
import type { FileToSum } from './file-sums.ts';

/** ncc bundles the worker into a folder of its own; in the source tree Node runs it as it is. */
const entry = new URL(import.meta.filename.endsWith('.ts') ? './worker.ts' : './worker/index.js', import.meta.url);

/** One coder in some worker. */
export interface Session {
  /** As `Coder.step`; one step at a time. `input` is moved to the worker: its buffer is empty afterwards. */
  step(input: Uint8Array<ArrayBuffer> | undefined, last: boolean): Promise<Step>;
  /** Must be called in the end, however the session went. */
  close(): void;
}

/**
 * Worker threads for what Node cannot do off the main thread. They start when first needed, end when idle, and keep the
 * process alive only while they owe an answer.
 *
 * Sessions share workers step by step, so a stream whose consumer is slow, or itself waits for the pool, holds nobody up.
 */
export class WorkerPool {
  readonly #size: number;
  readonly #idleMs: number;
  readonly #seats = new Set<Seat>();
  readonly #encoders: <T>(encode: () => Promise<T>) => Promise<T>;
  #nextSession = 0;

  /** At most `size` workers; one that has had no session for `idleMs` is ended, for it may hold 100 MiB. */
  constructor(size: number, idleMs: number) {
    this.#size = size;
    this.#idleMs = idleMs;
    this.#encoders = pLimit(size);
  }

  /** Opens a coder in the worker that has the fewest, or in a new one when all are taken. */
  open(coder: CoderName | FileToSum): Session {
    let seat: Seat | undefined;
    for (const candidate of this.#seats) {
      if (seat === undefined || candidate.sessions < seat.sessions) seat = candidate;
    }
    if (seat === undefined || (seat.sessions > 0 && this.#seats.size < this.#size)) {
      const added = new Seat(this.#idleMs, () => this.#seats.delete(added));
      this.#seats.add(added);
      seat = added;
    }
    return seat.open(this.#nextSession++, coder);
  }

  /** Runs `encode` when fewer than one encoder a worker are at work: each takes 100 MiB while it lasts. */
  whenRoomToEncode<T>(encode: () => Promise<T>): Promise<T> {
    return this.#encoders(encode);
  }
}

interface Waiting {
  resolve(step: Step): void;
  reject(error: unknown): void;
}

/** A worker with the sessions it serves. */
class Seat {
  sessions = 0;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #idleMs: number;
  readonly #gone: () => void;
  #failure: unknown;
  #idle: NodeJS.Timeout | undefined;

  /** `gone` is called when no new session must come here any more. */
  constructor(idleMs: number, gone: () => void) {
    this.#idleMs = idleMs;
    this.#gone = gone;
    this.#worker = new Worker(entry, { name: 'codec', execArgv: [] });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', (code) => this.#fail(new Error(`A codec worker ended with code ${code}.`)));
    // Last: whoever listens for messages waits for them.
    this.#worker.unref();
  }

  open(session: number, coder: CoderName | FileToSum): Session {
    clearTimeout(this.#idle);
    this.sessions += 1;
    this.#post({ kind: 'open', session, coder });
    return {
      step: (input, last) => this.#step(session, input, last),
      close: () => {
        this.#post({ kind: 'close', session });
        this.sessions -= 1;
        if (this.sessions === 0) this.#idle = setTimeout(() => this.#end(), this.#idleMs).unref();
      },
    };
  }

  #step(session: number, input: Uint8Array<ArrayBuffer> | undefined, last: boolean): Promise<Step> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.set(session, { resolve, reject });
      this.#worker.ref();
      this.#post({ kind: 'step', session, input, last }, input === undefined ? [] : [input.buffer]);
    });
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.session);
    this.#waiting.delete(reply.session);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ('step' in reply) waiting?.resolve(reply.step);
    else waiting?.reject('fault' in reply ? new DecoderFault(reply.fault) : reply.defect);
  }

  #end(): void {
    this.#gone();
    void this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.#gone();
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }

  #post(request: Request, moved: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, moved);
  }
}
