import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTap, type Tap } from '../../bench/tap.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';

/** A server that answers with as many bytes as it was sent, and the tap before it. */
async function tapped(
  lateness: (number: number) => number,
  ask: (tap: Tap, served: readonly string[]) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const served: string[] = [];
  const server = createServer(async (message, response) => {
    let bytes = 0;
    for await (const chunk of message) bytes += chunk.length;
    served.push(message.url ?? '');
    response.writeHead(bytes > 0 ? 200 : 404).end(Buffer.alloc(bytes));
  });
  const to = await listenLocally(server);
  stack.defer(() => closeServer(server));
  await ask(stack.use(await startTap(to, lateness)), served);
}

async function put(tap: Tap, path: string, bytes: number): Promise<number> {
  const answer = await fetch(`${tap.endpoint}${path}`, { method: 'PUT', body: Buffer.alloc(bytes) });
  await answer.arrayBuffer();
  return answer.status;
}

test('each request is written down with its status and its bytes in both directions, once', () =>
  tapped(
    () => 0,
    async (tap) => {
      await Promise.all([put(tap, '/a?x=1', 3_000_000), put(tap, '/b', 0)]);
      const log = tap.take().toSorted((a, b) => (a.target < b.target ? -1 : 1));
      assert.deepEqual(
        log.map(({ method, target, status }) => [method, target, status]),
        [
          ['PUT', '/a?x=1', 200],
          ['PUT', '/b', 404],
        ],
      );
      const [large] = log;
      assert.ok(large !== undefined && large.bytesUp > 3_000_000 && large.bytesDown > 3_000_000);
      assert.ok(large.end > large.start);
      assert.deepEqual(tap.take(), []);
    },
  ));

test('a late request takes effect late, also when its client has given it up, and holds up no other', () => {
  const arrived = Promise.withResolvers<void>();
  const lateness = (number: number): number => {
    arrived.resolve();
    return number === 0 ? 1500 : 0;
  };
  return tapped(lateness, async (tap, served) => {
    const given = request(`${tap.endpoint}/late`, { method: 'PUT' });
    given.on('error', () => {});
    given.end('body');
    await arrived.promise;
    given.destroy();
    assert.equal(await put(tap, '/other', 1), 200);
    assert.deepEqual(served, ['/other']);
    for (let tries = 0; served.length < 2 && tries < 500; tries += 1) await sleep(20);
    assert.deepEqual(served, ['/other', '/late']);
    assert.equal(tap.take().find(({ target }) => target === '/late')?.status, 0);
  });
});
