import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cephMissing } from '../rig/ceph.ts';
import { skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { filesBelow, mirrors } from './mirrors.ts';
import { publishRealPackages, type RealRepository, sourceSuite } from './real-repository.ts';

const skip = cephMissing() || skipWithout('apt-get', 'apt-cache', 'dpkg-deb', 'gpg');

describe('mirrors of real packages', { skip }, () => {
  let repository: RealRepository;
  before(async () => {
    repository = await publishRealPackages();
  });
  after(() => repository?.[Symbol.asyncDispose]());

  for (const { program, copy } of mirrors) {
    test(`${program} mirrors every package of every suite, with the bytes that were published`, {
      skip: skipWithout(program),
    }, async (t) => {
      for (const suite of new Set(repository.components.map((component) => component.suite))) {
        await using folder = await temporaryFolder();
        const parts = repository.components.filter((component) => component.suite === suite);
        const components = parts.map(({ component }) => component);
        const { publicKey, bucket } = repository;
        const began = performance.now();
        const about = { suite, components, architecture: 'amd64', hasSources: suite === sourceSuite, publicKey };
        await copy({ url: bucket.url, ...about }, folder.path);
        const ms = performance.now() - began;
        const copied = new Set(await Promise.all((await filesBelow(folder.path)).map(sha256)));
        const sources = suite === sourceSuite ? await readdir(repository.sourceFolder) : [];
        const published = [
          ...parts.flatMap(({ debs }) => debs.map(({ path }) => path)),
          ...sources.map((name) => join(repository.sourceFolder, name)),
        ];
        for (const path of published)
          assert.ok(copied.has(await sha256(path)), `${suite}: ${basename(path)} is not in the mirror`);
        t.diagnostic(`${suite}: ${published.length} files in ${Math.round(ms)} ms`);
      }
    });
  }
});

async function sha256(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
