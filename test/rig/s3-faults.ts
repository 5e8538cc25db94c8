import type { S3Request } from './s3-request.ts';

/** What a hook may do to a request in place of plain service. */
export type FaultAction =
  /** Serves it `ms` milliseconds late. */
  | { readonly do: 'delay'; readonly ms: number }
  /** Answers an S3 error; `after` handling it, so that it took effect. Status 200 gives the error inside a success. */
  | {
      readonly do: 'answer';
      readonly when: 'before' | 'after';
      readonly status: number;
      readonly code: string;
      /** Seconds, as a Retry-After header. */
      readonly retryAfter?: number;
    }
  /** Answers a page that is not S3's at all: a captive portal, a wrong endpoint, a proxy's error. */
  | { readonly do: 'page'; readonly status: number; readonly html: string }
  /** Closes the connection without an answer, `before` the request is handled or `after` it took effect. */
  | { readonly do: 'drop'; readonly when: 'before' | 'after' }
  /** Sends the headers and this many bytes of the body, then nothing more. */
  | { readonly do: 'stall-body'; readonly bytes: number }
  /** Sends the headers with the whole length and this many bytes of the body, then closes the connection. */
  | { readonly do: 'cut-body'; readonly bytes: number }
  /** Lists the bucket as it was this many changes ago. */
  | { readonly do: 'stale-list'; readonly changes: number };

/**
 * Sees every request when its body has come and before anything is checked; undefined serves it. It may take its time: the
 * request waits.
 */
export type Hook = (request: S3Request) => FaultAction | undefined | Promise<FaultAction | undefined>;

/** The hooks of a server: the first that wants something has its way. */
export class Hooks {
  readonly #hooks = new Set<Hook>();

  /** Adds a hook; disposing of what is returned takes it away. */
  add(hook: Hook): Disposable {
    this.#hooks.add(hook);
    return { [Symbol.dispose]: () => void this.#hooks.delete(hook) };
  }

  async ask(request: S3Request): Promise<FaultAction | undefined> {
    for (const hook of this.#hooks) {
      const action = await hook(request);
      if (action !== undefined) return action;
    }
    return undefined;
  }
}
