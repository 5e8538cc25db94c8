import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAptly } from '../../bench/aptly.ts';
import { type Laboratory, openBucket } from '../../bench/laboratory.ts';
import { startLine } from '../../bench/line.ts';
import { median } from '../../bench/measurement.ts';
import { runAction } from '../../bench/our-action.ts';
import { sampleOf } from '../../bench/request-log.ts';
import { writeSmallDeb, writeSmallDebs } from '../../bench/sample-debs.ts';
import { root } from '../../scripts/build.ts';
import { cephMissing } from '../rig/ceph.ts';
import { runSuccessfully, skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** Milliseconds each way. */
const distance = 50;
const rounds = 5;
const suite = 'sid';

test('clients by name can meet a mixture for less time during our update than during that of aptly', {
  skip: cephMissing() || skipWithout('aptly', 'gpg', 'gpgconf'),
}, async (t) => {
  await using stack = new AsyncDisposableStack();
  const laboratory = stack.use(await openLaboratory());
  const bucket = stack.use(await openBucket());
  const line = stack.use(await startLine(bucket.endpoint, { delayMs: distance }));
  const initial = join(laboratory.folder, 'initial');
  await writeSmallDebs(initial, 'small', 20);
  const inputs = { ...bucket.inputs('ours', line.endpoint), suites: suite, architectures: 'amd64' };
  await runAction(laboratory, { ...inputs, packages: join(initial, '*.deb') });
  const aptly = await openAptly(laboratory, { name: 'theirs', bucket, contents: false });
  await aptly.createRepository(suite);
  await aptly.add(suite, initial);
  await aptly.publish(suite);
  await aptly.reach(line.endpoint);

  const [ours, theirs]: [number[], number[]] = [[], []];
  const mixture = (cost: Parameters<typeof sampleOf>[0]) =>
    sampleOf(cost, line.take()).windows?.['mixture'] ?? Number.NaN;
  for (let round = 1; round <= rounds; round += 1) {
    const path = await writeSmallDeb(laboratory.folder, `next-${round}`);
    line.take();
    ours.push(mixture(await runAction(laboratory, { ...inputs, packages: path })));
    await aptly.add(suite, path);
    line.take();
    theirs.push(mixture(await aptly.update(suite)));
  }
  t.diagnostic(
    `round trip ${line.roundTripMs} ms, ${rounds} updates; first to last change of a name that clients read:`,
  );
  t.diagnostic(`ours ${told(ours)}`);
  t.diagnostic(`aptly ${told(theirs)}`);
  assert.ok(median(ours) < median(theirs));
});

const told = (times: readonly number[]): string =>
  `median ${Math.round(median(times))} ms (${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))})`;

/** What bench/ works with, but for the bundle: requests are timed here, not processes. */
async function openLaboratory(): Promise<Laboratory> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const gnupgHome = join(folder, 'gnupg');
  const user = 'rig@example.org';
  await mkdir(gnupgHome, { mode: 0o700 });
  const gpg = (...args: string[]) => runSuccessfully('gpg', ['--homedir', gnupgHome, '--batch', ...args]);
  stack.defer(async () => void (await runSuccessfully('gpgconf', ['--homedir', gnupgHome, '--kill', 'all'])));
  await gpg('--quiet', '--passphrase', '', '--quick-gen-key', `Rig <${user}>`, 'ed25519', 'sign', 'never');
  const secretKey = (await gpg('--armor', '--export-secret-keys', user)).toString();
  const kept = stack.move();
  return {
    folder,
    bundle: { main: join(root, 'src/main.ts'), node: join(root, 'node_modules/.bin/node') },
    signing: { gnupgHome, user, secretKey },
    profiles: undefined,
    log: () => {},
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
