import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';

/** A number that no account has. */
const nobody = 59_878;
const skip = process.getuid?.() === 0 ? false : 'only root can be somebody else';

/** Opens the store that its argument describes, and says whether an object is there. */
const program = `
  const { openStore } = await import(process.argv[1]);
  const { store } = openStore(JSON.parse(process.argv[2]), undefined, '0');
  console.log((await store.head('missing')).found);
`;

test('a bucket can be used by an account without a name or a home, as in a container', { skip }, async () => {
  await using server = await startS3Server();
  const location = {
    kind: 's3',
    bucket: 'apt',
    prefix: '',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: rigCredentials,
  };
  const module = pathToFileURL(join(import.meta.dirname, '../../src/action/open-store.ts')).href;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program, module, JSON.stringify(location)],
    { uid: nobody, gid: nobody, env: {} },
  );
  assert.equal(stdout, 'false\n');
});
