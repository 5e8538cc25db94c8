import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connections } from '../../src/store/connections.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';

test('connections that are opened ahead are the ones that the next requests use', async () => {
  const server = createServer((_request, response) => response.end('x'));
  let opened = 0;
  server.on('connection', () => {
    opened += 1;
  });
  const endpoint = await listenLocally(server);
  const connections = new Connections();
  const request = async () => {
    const [response] = await once(get(endpoint, { agent: connections.httpAgent }), 'response');
    response.resume();
    await once(response, 'end');
  };
  try {
    connections.warm(5);
    assert.equal(opened, 0, 'nothing is known of the endpoint yet');
    await request();
    await sleep(10);
    connections.warm(5);
    for (let wait = 0; opened < 5 && wait < 100; wait += 1) await sleep(10);
    assert.equal(opened, 5, 'one was open already');
    await Promise.all(Array.from({ length: 5 }, request));
    assert.equal(opened, 5, 'none was opened for these requests');
    await Promise.all(Array.from({ length: 6 }, request));
    assert.equal(opened, 6);
  } finally {
    connections.httpAgent.destroy();
    await closeServer(server);
  }
});

test('a connection that the server closes before anybody has used it is forgotten', async () => {
  const server = createServer({ keepAliveTimeout: 1000 }, (_request, response) => response.end('x'));
  const endpoint = await listenLocally(server);
  const connections = new Connections();
  const request = async () => {
    const [response] = await once(get(endpoint, { agent: connections.httpAgent }), 'response');
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };
  try {
    await request();
    connections.warm(3);
    await sleep(20);
    server.closeAllConnections();
    await sleep(20);
    assert.equal(await request(), 200);
  } finally {
    connections.httpAgent.destroy();
    await closeServer(server);
  }
});
