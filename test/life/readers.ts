import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sourcesEntry } from '../../src/debian/sources-entry.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { armoredPublicKey } from '../../src/signing/verify.ts';
import { aptClient } from '../e2e/apt-client.ts';
import type { RepositoryCheck } from '../publish/repository-check.ts';
import { bodies, type Objects } from '../race/object-model.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** Lets the real apt read every suite of a state, and compares what it knows then with what the lists say. Answers how many packages. */
export async function readByApt(
  objects: Objects,
  suites: readonly string[],
  check: RepositoryCheck,
  keys: SigningKeys,
): Promise<number> {
  await using folder = await temporaryFolder();
  for (const [key, { body }] of objects) {
    if (key.startsWith('.apt-publish/')) continue;
    const path = join(folder.path, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, body);
  }
  const present = suites.filter((suite) => objects.has(`dists/${suite}/InRelease`));
  const entries = present.map((suite) =>
    sourcesEntry({
      uri: pathToFileURL(folder.path).href,
      suites: [suite],
      components: ['main'],
      architectures: ['amd64'],
      hasSources: / main\/source\/Sources\.gz$/m.test(
        Buffer.from(objects.get(`dists/${suite}/InRelease`)?.body ?? '').toString(),
      ),
      trust: { key: armoredPublicKey(keys) },
    }),
  );
  await using apt = await aptClient(entries);
  const lines = await apt.update();
  assert.deepEqual(
    lines.filter((line) => /^(?:W|E|Err|Ign):/.test(line)),
    [],
  );
  const listed = await Promise.all(present.map((suite) => check.packages(bodies(objects), suite)));
  const sums = new Set(
    listed.flat().flatMap((line) => /binary-amd64\/Packages\.gz: \S+ ([0-9a-f]{64})$/.exec(line)?.[1] ?? []),
  );
  const known = [...(await apt.available()).matchAll(/^SHA256: ([0-9a-f]{64})$/gm)].map(([, sum = '']) => sum);
  for (const sum of known) assert.ok(sums.has(sum), `apt knows of ${sum}, which no list has`);
  const names = new Set(listed.flat().flatMap((line) => /binary-amd64.*\/([a-z]+)_[^/]+\.deb /.exec(line)?.[1] ?? []));
  assert.equal(known.length, names.size, 'apt offers one version of every package');
  return known.length;
}
