import { createHook } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';

/**
 * Tells when everything that runs in this process waits for the scheduler: no file is being read, nothing compressed, signed or
 * hashed on another thread, and no callback is left. Without that, which request comes next would depend on the machine.
 */

const working = new Set<number>();
const ended = (id: number) => working.delete(id);
const hook = createHook({
  init: (id, type) => {
    if (/^(?:FSREQ.*|ZLIB|.*REQUEST)$/.test(type)) working.add(id);
  },
  after: ended,
  destroy: ended,
  trackPromises: false,
});

/** Turns of the event loop without work, after which it is believed that none will come. */
const quietTurns = 2;
/** Far beyond any piece of work here; a run that is not idle by then has met something this does not count. */
const turns = 1_000_000;

export async function idle(): Promise<void> {
  hook.enable();
  for (let quiet = 0, turn = 0; quiet < quietTurns; turn += 1) {
    await setImmediate();
    quiet = working.size === 0 ? quiet + 1 : 0;
    if (turn === turns) throw new Error('The publishers never came to rest.');
  }
}
