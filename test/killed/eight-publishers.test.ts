import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { S3Store } from '../../src/store/s3.ts';
import { buildDeb } from '../debs.ts';
import type { Inputs } from '../e2e/runner.ts';
import { RepositoryCheck, type Snapshot } from '../publish/repository-check.ts';
import { cephMissing, startCeph } from '../rig/ceph.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture, keyText } from '../signing/fixture-keys.ts';
import { snapshotOf } from './places.ts';
import { action, type RunningStep, recordIn, startStep } from './step.ts';

const publishers = 8;
const rounds = 20;

test('eight processes that publish into one suite at once lose nothing of each other (invariant 4)', {
  skip: cephMissing(),
}, async (t) => {
  await using stack = new AsyncDisposableStack();
  const ceph = stack.use(await startCeph());
  const { path: folder } = stack.use(await temporaryFolder());
  const { endpoint, credentials } = ceph;
  const bucket = 'eight';
  const url = await ceph.createBucket(bucket, '');
  const settings = { bucket, prefix: '', endpoint, forcePathStyle: true, credentials, version: 'test' };
  const store = stack.adopt(new S3Store(settings), (opened) => opened.close());
  const check = new RepositoryCheck(await fixture('ed25519'));
  const inputs: Inputs = {
    'gpg-private-key': keyText('ed25519'),
    bucket,
    endpoint,
    'access-key-id': credentials.accessKeyId,
    'secret-access-key': credentials.secretAccessKey,
    suites: 'sid',
    comment: 'never',
    compression: 'gz',
  };
  const published = new Map<string, string>();
  const tries: number[] = [];
  let before: Snapshot = new Map();
  for (let round = 1; round <= rounds; round += 1) {
    const names = Array.from({ length: publishers }, (_, index) => `round-${round}-by-${index + 1}`);
    for (const name of names) published.set(name, await writeDeb(folder, name));
    tries.push(...(await publishTogether(folder, names, inputs)));
    const now = await snapshotOf({ store });
    assert.deepEqual(await check.findings(now, true), [], `round ${round}`);
    assert.deepEqual(check.headsGoneBack(before, now), [], `round ${round}`);
    const listed = await check.packages(now, 'sid');
    for (const [name, sum] of published) {
      assert.ok(
        listed.some((line) => line.includes(`/${name}_1.0_amd64.deb ${sum}`)),
        `${name} is lost in round ${round}`,
      );
    }
    before = now;
  }

  const filenames = new Set((await check.packages(before, 'sid')).map((line) => line.split(' ')[1] ?? ''));
  assert.equal(filenames.size, publishers * rounds);
  const sums = new Set(await Promise.all([...filenames].map((filename) => sumAt(`${url}/${filename}`))));
  assert.deepEqual(sums, new Set(published.values()));
  // A claim is lost to somebody else's alone, and each of the others makes one that counts.
  assert.ok(Math.max(...tries) <= publishers, `${Math.max(...tries)} tries`);
  assert.ok(Math.max(...tries) > 1, 'nobody was ever in anybody’s way');
  const all = tries.reduce((sum, count) => sum + count, 0);
  t.diagnostic(
    `${tries.length} processes, ${all} claims, at most ${Math.max(...tries)} by one process; ${filenames.size} packages, all of them there`,
  );
});

/** Starts one process for each package, lets them go on together once all have read the suite, and tells how often each has claimed. */
async function publishTogether(folder: string, names: readonly string[], inputs: Inputs): Promise<number[]> {
  await using stack = new AsyncDisposableStack();
  const outputs = new Map(names.map((name) => [name, join(folder, `outputs-${name}`)]));
  const steps = await Promise.all(
    [...outputs].map(async ([name, path]) => {
      await mkdir(path);
      const own = { ...inputs, packages: `${name}.deb` };
      return stack.use(await startStep({ main: action, workspace: folder, inputs: own, outputs: path }));
    }),
  );
  await Promise.all(steps.map(holdAfterReading));
  for (const step of steps) step.signal('SIGCONT');
  for (const { code, stdout, stderr } of await Promise.all(steps.map(({ finished }) => finished))) {
    assert.equal(code, 0, `${stdout}${stderr}`);
  }
  const records = [...outputs.values()].map((path) => recordIn(path));
  return (await Promise.all(records)).map(({ phases }) => phases.filter(({ name }) => name === 'claim').length);
}

async function holdAfterReading(step: RunningStep): Promise<void> {
  await step.until((log) => log.some((line) => line.startsWith('read ')));
  step.signal('SIGSTOP');
}

async function writeDeb(folder: string, name: string): Promise<string> {
  const bytes = buildDeb({ fields: { Package: name } });
  await writeFile(join(folder, `${name}.deb`), bytes);
  return createHash('sha256').update(bytes).digest('hex');
}

async function sumAt(url: string): Promise<string> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  return createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex');
}
