import type { FaultAction, Hook } from './s3-faults.ts';
import { describeRequest, type S3Request } from './s3-request.ts';

/** A request that waits to be let through. */
export interface HeldRequest {
  readonly request: S3Request;
  /** Lets it through, or does something worse to it; resolves when it has been answered or dropped. */
  release(action?: FaultAction): Promise<void>;
}

type Select = (request: S3Request) => boolean;

/**
 * Holds requests at the server's door, so that a test chooses the order in which they take effect. Requests of several
 * publishers are told apart by `request.accessKey`.
 */
export class Steps {
  /** Requests that are waiting, oldest first. */
  readonly held: HeldRequest[] = [];
  readonly hook: Hook;
  #open = false;
  readonly #waiting = new Set<() => void>();
  readonly #answered = new Map<S3Request, () => void>();

  constructor(select: Select) {
    this.hook = (request) => (this.#open || !select(request) ? undefined : this.#hold(request));
  }

  /** The oldest waiting request that `select` wants, as soon as there is one. Throws after `timeoutMs`. */
  async next(select: Select = () => true, timeoutMs = 10_000): Promise<HeldRequest> {
    const limit = performance.now() + timeoutMs;
    for (;;) {
      const found = this.held.find(({ request }) => select(request));
      if (found !== undefined) return found;
      const left = limit - performance.now();
      if (left <= 0) {
        const waiting = this.held.map(({ request }) => describeRequest(request)).join(', ');
        throw new Error(`no such request within ${timeoutMs} ms; held: ${waiting === '' ? 'none' : waiting}`);
      }
      await this.#arrival(left);
    }
  }

  /** Lets everything through, now and from now on. */
  open(): void {
    this.#open = true;
    for (const held of [...this.held]) void held.release();
  }

  /** Told by the server when a request is over. */
  settled(request: S3Request): void {
    this.#answered.get(request)?.();
    this.#answered.delete(request);
  }

  #hold(request: S3Request): Promise<FaultAction | undefined> {
    return new Promise((letThrough) => {
      const held: HeldRequest = {
        request,
        release: (action) => {
          const at = this.held.indexOf(held);
          if (at < 0) throw new Error(`${describeRequest(request)} was released before`);
          this.held.splice(at, 1);
          letThrough(action);
          return new Promise((over) => this.#answered.set(request, over));
        },
      };
      this.held.push(held);
      for (const wake of this.#waiting) wake();
    });
  }

  #arrival(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}
