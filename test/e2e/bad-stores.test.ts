import { createServer, type Server } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { cephMissing } from '../rig/ceph.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';
import { type Bench, bench } from './refusals.ts';

describe('a store that cannot be used stops the step with one sentence, and nothing is written', {
  skip: cephMissing(),
}, () => {
  let workbench: Bench;
  before(async () => {
    workbench = await bench();
  });
  after(() => workbench?.[Symbol.asyncDispose]());

  test('a bucket that does not exist', async (t) => {
    t.diagnostic(
      await workbench.refuses({
        inputs: { bucket: 'nowhere' },
        names: /no bucket of the name that `bucket` gives/,
        advises: /create the bucket first/,
      }),
    );
  });

  test('a wrong secret key', async (t) => {
    t.diagnostic(
      await workbench.refuses({
        inputs: { 'secret-access-key': 'wrong/secret/key' },
        names: /secret access key does not match/,
        advises: /Check `secret-access-key`/,
      }),
    );
  });

  test('a key that the store does not know', async (t) => {
    t.diagnostic(
      await workbench.refuses({
        inputs: { 'access-key-id': 'NOBODYKNOWSME' },
        names: /does not know the access key/,
        advises: /Check `access-key-id`/,
      }),
    );
  });

  test('an endpoint where nothing listens', async (t) => {
    const closed: Server = createServer();
    const endpoint = await listenLocally(closed);
    await closeServer(closed);
    t.diagnostic(
      await workbench.refuses({ inputs: { endpoint }, names: /nothing listens/, advises: /Check `endpoint`/ }),
    );
  });

  test('an endpoint that is a web site', async (t) => {
    const site: Server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!DOCTYPE html><html><title>Welcome</title><body>It works!</body></html>');
    });
    const endpoint = await listenLocally(site);
    try {
      t.diagnostic(
        await workbench.refuses({
          inputs: { endpoint },
          names: /is not an S3 server/,
          advises: /Set `endpoint` to the address of the S3 API/,
        }),
      );
    } finally {
      await closeServer(site);
    }
  });

  const damages = {
    'an HTML page': '<!DOCTYPE html><html><body>Sign in</body></html>',
    garbage: Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 151 + 7) % 256)),
    nothing: '',
  };
  for (const [what, head] of Object.entries(damages)) {
    const suite = what.replaceAll(' ', '-');

    test(`a suite of ours whose InRelease has become ${what}`, async (t) => {
      await workbench.publishes({ suites: `ours-${suite}` });
      await workbench.bucket.write(`dists/ours-${suite}/InRelease`, head);
      t.diagnostic(
        await workbench.refuses({
          inputs: { suites: `ours-${suite}` },
          names: new RegExp(`suite ours-${suite} `),
          advises: /restore the head/,
        }),
      );
    });

    test(`a suite of nobody whose InRelease is ${what}`, async (t) => {
      await workbench.bucket.write(`dists/theirs-${suite}/InRelease`, head);
      t.diagnostic(
        await workbench.refuses({
          inputs: { suites: `theirs-${suite}` },
          names: new RegExp(`Suite theirs-${suite} `),
          advises: /`adopt: true`/,
        }),
      );
    });

    test(`a suite to be taken over whose InRelease is ${what}`, async (t) => {
      await workbench.bucket.write(`dists/adopted-${suite}/InRelease`, head);
      t.diagnostic(
        await workbench.refuses({
          inputs: { suites: `adopted-${suite}`, adopt: 'true' },
          names: new RegExp(`InRelease.*adopted-${suite}|adopted-${suite}.*InRelease`),
          advises: /[Rr]estore|[Dd]elete|[Rr]emove|another suite/,
        }),
      );
    });
  }
});
