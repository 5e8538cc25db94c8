import { createHook } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';

/**
 * Tells when everything in this process waits for the scheduler: no file is being read, nothing compressed, signed or hashed on
 * another thread, and no callback is left. Without that, which request comes next would depend on the machine.
 */

const atWork = new Map<number, number>();

function count(id: number, by: 1 | -1): void {
  const left = (atWork.get(id) ?? 0) + by;
  if (left > 0) atWork.set(id, left);
  else atWork.delete(id);
}

const hook = createHook({
  init: (id, type, _trigger, resource) => {
    if (/^(?:FSREQ.*|FILEHANDLECLOSEREQ|.*REQUEST)$/.test(type)) count(id, 1);
    // Unlike a request, a zlib handle lives on: it is at work from each of its writes to the callback of that.
    if (type === 'ZLIB' && 'write' in resource && typeof resource.write === 'function') {
      const write = resource.write.bind(resource);
      Object.assign(resource, {
        write: (...chunk: unknown[]) => {
          count(id, 1);
          return write(...chunk);
        },
      });
    }
  },
  after: (id) => count(id, -1),
  destroy: (id) => atWork.delete(id),
  trackPromises: false,
});

/** Turns of the event loop without work, after which it is believed that none will come. */
const quietTurns = 3;
/** Milliseconds; far longer than any piece of work here. What is not idle by then, this does not understand. */
const longest = 30_000;

export async function idle(): Promise<void> {
  hook.enable();
  const from = performance.now();
  for (let quiet = 0; quiet < quietTurns; ) {
    await setImmediate();
    quiet = atWork.size === 0 ? quiet + 1 : 0;
    if (quiet === 0 && performance.now() - from > longest) throw new Error('The publishers never came to rest.');
  }
}
