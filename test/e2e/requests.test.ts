import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { RequestSpan } from '../../src/timing/span.ts';
import type { S3Request } from '../rig/s3-request.ts';
import { rigCredentials, type S3Server, startS3Server } from '../rig/s3-server.ts';
import { type TemporaryFolder, temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { type Bundle, committedBundle } from './bundle.ts';
import { verbTally, waveCount } from './request-waves.ts';
import { type Inputs, publishStep } from './runner.ts';
import { fillWorkspace, type Workspace } from './small-packages.ts';

/** Milliseconds that the store takes for each request: far more than a process needs to send a wave. */
const latency = 250;
const architectures = ['amd64', 'arm64', 'armhf'];
const components = ['main', 'contrib'];

/** A description, several hundred kilobytes long, that no compressor makes small. */
const incompressible = ['a tool', ...Array.from({ length: 4000 }, (_, line) => ` ${sha512(line)}`)].join('\n');

function sha512(line: number): string {
  return createHash('sha512').update(String(line)).digest('base64');
}

/** What one step asked of the store: by the run record and by the store's own. */
interface Asked {
  readonly server: readonly S3Request[];
  readonly record: readonly RequestSpan[];
}

describe('requests of an update', () => {
  let bundle: Bundle;
  let server: S3Server;
  let folder: TemporaryFolder;
  let steps = 0;
  before(async () => {
    bundle = await committedBundle();
    folder = await temporaryFolder();
    server = await startS3Server();
    server.intercept(() => ({ do: 'delay', ms: latency }));
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
    await bundle?.[Symbol.asyncDispose]();
  });

  async function ask(prefix: string, files: Workspace, inputs: Inputs): Promise<Asked> {
    steps += 1;
    const workspace = join(folder.path, `workspace-${steps}`);
    await mkdir(workspace);
    await fillWorkspace(workspace, files);
    const before = server.requests.length;
    const { record } = await publishStep(
      bundle,
      {
        endpoint: server.endpoint,
        bucket: 'apt',
        prefix,
        'access-key-id': rigCredentials.accessKeyId,
        'secret-access-key': rigCredentials.secretAccessKey,
        'gpg-private-key': keyText('ed25519'),
        architectures: architectures.join(' '),
        ...inputs,
      },
      { workspace },
    );
    return {
      server: server.requests.slice(before),
      record: record.spans.filter((span) => span.kind === 'request'),
    };
  }

  /** An arch:all package for each component: it is in the list of every architecture, in both forms. */
  const everywhere = (version: string, description = 'a tool'): Workspace =>
    Object.fromEntries(
      components.map((component) => [
        `${component}/tool.deb`,
        { Package: `tool-${component}`, Version: version, Architecture: 'all', Description: description },
      ]),
    );
  const bothComponents = {
    suites: components.map((component) => `stable/${component}: ${component}/*.deb`).join('\n'),
  };

  function tell(t: TestContext, { server: asked, record }: Asked): void {
    t.diagnostic(`${asked.length} requests (${verbTally(asked)}) in ${waveCount(asked)} waves`);
    t.diagnostic(`the run record: ${verbTally(record)} in ${waveCount(record)} waves`);
  }

  test('an update that changes twelve index files takes at most 36 requests in at most 7 waves', async (t) => {
    await ask('twelve', everywhere('1.0'), bothComponents);
    const asked = await ask('twelve', everywhere('2.0'), bothComponents);
    tell(t, asked);
    const staged = asked.server.filter(({ verb, key }) => verb === 'PUT' && key.includes('/by-hash/'));
    // The lists in both forms, and the head that is replaced.
    assert.equal(staged.length, architectures.length * components.length * 2 + 1);
    assert.deepEqual(
      asked.server.filter(({ status = 0 }) => status >= 400 && status !== 404),
      [],
    );
    assert.ok(asked.server.length <= 36, verbTally(asked.server));
    assert.ok(waveCount(asked.server) <= 7, `${waveCount(asked.server)} waves`);
  });

  test('an update of twelve index files too large for the record reads each list once more', async (t) => {
    await ask('large', everywhere('1.0', incompressible), bothComponents);
    const asked = await ask('large', everywhere('2.0'), bothComponents);
    tell(t, asked);
    const lists = asked.server.filter(
      ({ verb, key }) => verb === 'GET' && key.includes('/dists/') && !/Release$/.test(key),
    );
    assert.equal(lists.length, architectures.length * components.length);
    assert.ok(asked.server.length <= 36 + lists.length, verbTally(asked.server));
    assert.ok(waveCount(asked.server) <= 8, `${waveCount(asked.server)} waves`);
  });

  test('an update that changes nothing takes at most 5 GETs and writes nothing', async (t) => {
    const files = { 'tool.deb': { Package: 'tool' } };
    const inputs = { suites: 'stable', packages: '*.deb' };
    await ask('nothing', files, inputs);
    const asked = await ask('nothing', files, inputs);
    tell(t, asked);
    assert.deepEqual(new Set(asked.server.map(({ verb }) => verb)), new Set(['GET']));
    assert.ok(asked.server.length <= 5, verbTally(asked.server));
  });

  test('the run record tells every request that the store has seen, and no other', async () => {
    const asked = await ask('record', { 'tool.deb': { Package: 'tool' } }, { suites: 'stable', packages: '*.deb' });
    const verbs = (requests: readonly { readonly verb: string }[]): string[] => requests.map(({ verb }) => verb).sort();
    assert.deepEqual(verbs(asked.record), verbs(asked.server));
    const bytes = asked.server.reduce((sum, { bytesDown = 0 }) => sum + bytesDown, 0);
    const told = asked.record.reduce((sum, { bytesDown }) => sum + bytesDown, 0);
    assert.ok(told <= bytes, `the record tells of ${told} bytes, the store sent ${bytes}`);
  });
});
