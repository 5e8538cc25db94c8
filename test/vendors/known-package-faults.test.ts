import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { problemCode } from '../publish/problem-code.ts';
import { suiteOf } from '../publish/publishing.ts';
import { Repository } from '../publish/repository.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { fixture } from '../signing/fixture-keys.ts';

/** Faults of such tools in which packages are listed and kept, and where. References: owner/name#number of public trackers. */

const keys = await fixture('ed25519');
const list = (suite: string, architecture = 'amd64') => `dists/${suite}/main/binary-${architecture}/Packages.gz`;
const graceDays = 8;
const day = 24 * 3_600_000;

/** Nothing is wrong that a reader could meet, and nothing is half done. */
async function assertSound(repository: Repository): Promise<void> {
  assert.deepEqual(await new RepositoryCheck(keys).findings(await repository.snapshot(), true), []);
}

describe('what was removed', () => {
  test('(aptly-dev/aptly#1223, #1224) makes way for the same name and version with other bytes', async (t) => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('sid', debs.add('one'), debs.add('stays', { Package: 'stays' }))]);
    await repository.remove('sid', ['hello']);
    await repository.publish([suiteOf('sid', debs.add('other', { Description: 'other bytes' }))]);
    assert.match(await repository.text(list('sid')), /^Description: other bytes$/m);
    await assertSound(repository);
    t.diagnostic('1 point tried');
  });

  for (const days of [0, graceDays]) {
    test(`(aptly-dev/aptly#349) comes back ${days} days later with its file`, async (t) => {
      using repository = new Repository();
      const { clock, debs } = repository;
      const hello = debs.add('hello');
      const more = (name: string) => suiteOf('sid', debs.add(name, { Package: name }));
      await repository.publish([suiteOf('sid', hello)]);
      await repository.remove('sid', ['hello']);
      for (const name of ['aa', 'bb', 'cc']) await repository.publish([more(name)]);
      await clock.sleep(days * day);
      await repository.publish([more('dd')]);
      await repository.publish([suiteOf('sid', hello)]);
      assert.ok((await repository.packages(list('sid'))).includes('hello 1.0'));
      await assertSound(repository);
      t.diagnostic('1 point tried');
    });
  }

  test('(aptly-dev/aptly#898, #394) leaves the pool when its grace is over, and not before', async (t) => {
    using repository = new Repository();
    const { clock, debs } = repository;
    const key = 'pool/main/h/hello/hello_1.0_amd64.deb';
    const more = (name: string) => suiteOf('sid', debs.add(name, { Package: name }));
    await repository.publish([suiteOf('sid', debs.add('hello'))]);
    await repository.remove('sid', ['hello']);
    for (const name of ['aa', 'bb', 'cc']) await repository.publish([more(name)]);
    await clock.sleep(2 * day);
    await repository.publish([more('dd')]);
    assert.ok((await repository.keys('pool/')).includes(key));
    await clock.sleep(graceDays * day);
    await repository.publish([more('ee')]);
    assert.ok(!(await repository.keys('pool/')).includes(key));
    await assertSound(repository);
    t.diagnostic('1 point tried');
  });
});

describe('runs at the same time', () => {
  test('(krobertson/deb-s3#97; deb-s3/deb-s3#5; go-gitea/gitea#30973) of several architectures, and for all of them, lose nothing', async (t) => {
    using repository = new Repository();
    const { debs } = repository;
    const architectures = ['amd64', 'arm64', 'armhf'];
    const built = [...architectures, 'all'].map((architecture) => {
      const name = architecture === 'all' ? 'hello-doc' : 'hello';
      return debs.add(`${name}-${architecture}`, { Package: name, Architecture: architecture });
    });
    await Promise.all(built.map((path) => repository.publish([suiteOf('sid', path)], { architectures })));
    for (const architecture of architectures) {
      assert.deepEqual(await repository.packages(list('sid', architecture)), ['hello 1.0', 'hello-doc 1.0']);
    }
    await assertSound(repository);
    t.diagnostic('1 point tried');
  });

  test('(MinaProtocol/mina#4927, #16633) eight promotions into one suite lose nothing', async (t) => {
    using repository = new Repository();
    const { debs } = repository;
    const names = Array.from({ length: 8 }, (_, index) => `tool-${index + 1}`);
    await repository.publish([suiteOf('sid', ...names.map((name) => debs.add(name, { Package: name })))]);
    await Promise.all(names.map((name) => repository.promote('sid', 'trixie', [name])));
    assert.deepEqual(
      await repository.packages(list('trixie')),
      names.map((name) => `${name} 1.0`),
    );
    await assertSound(repository);
    t.diagnostic('1 point tried');
  });
});

describe('what is listed', () => {
  test('(deb-s3/deb-s3#39; krobertson/deb-s3#113) does not change at all when one architecture of several has a conflict', async (t) => {
    using repository = new Repository();
    const { debs } = repository;
    await repository.publish([suiteOf('sid', debs.add('arm', { Architecture: 'arm64' }))]);
    const before = await repository.snapshot();
    const both = [debs.add('new'), debs.add('other', { Architecture: 'arm64', Description: 'other bytes' })];
    await assert.rejects(repository.publish([suiteOf('sid', ...both)]), problemCode('package-conflict'));
    assert.deepEqual(await repository.snapshot(), before);
    t.diagnostic('1 point tried');
  });

  test('(krobertson/deb-s3#103; deb-s3/deb-s3#51) has the architectures that came or were declared, and no others', async (t) => {
    using repository = new Repository();
    const arm = repository.debs.add('arm', { Architecture: 'arm64' });
    for (const [suite, more, expected] of [
      ['sid', {}, 'arm64'],
      ['trixie', { architectures: ['arm64', 'riscv64'] }, 'arm64 riscv64'],
    ] as const) {
      await repository.publish([suiteOf(suite, arm)], more);
      assert.match(await repository.text(`dists/${suite}/Release`), new RegExp(`^Architectures: ${expected}$`, 'm'));
      const lists = (await repository.keys(`dists/${suite}/`)).filter((key) => key.endsWith('/Packages.gz'));
      assert.deepEqual(
        lists,
        expected.split(' ').map((architecture) => list(suite, architecture)),
      );
    }
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#231, #1062) are debug packages too, under their own extension, beside a package of the same name', async (t) => {
    using repository = new Repository();
    const { debs } = repository;
    const debug = debs.add('debug', { 'Package-Type': 'ddeb', Package: 'hello-dbgsym' });
    renameSync(debug, debug.replace(/\.deb$/, '.ddeb'));
    await repository.publish([suiteOf('sid', debs.add('hello'), debug.replace(/\.deb$/, '.ddeb'))]);
    const text = await repository.text(list('sid'));
    assert.match(text, /^Filename: pool\/main\/h\/hello-dbgsym\/hello-dbgsym_1\.0_amd64\.ddeb$/m);
    await assertSound(repository);
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#1497, #1518) says who may sign the next state beside how long this one is valid', async (t) => {
    using repository = new Repository();
    const signedBy = ['A'.repeat(40)];
    const release = { origin: 'Example', label: 'Example', validForSeconds: 86_400, signedBy };
    await repository.publish([suiteOf('sid', repository.debs.add('hello'))], { release });
    const head = await repository.text('dists/sid/InRelease');
    assert.match(head, /^Signed-By: A{40}$/m);
    assert.match(head, /^Valid-Until: \w{3}, \d\d \w{3} \d{4} [\d:]{8} UTC$/m);
    t.diagnostic('1 point tried');
  });
});

test("(GitHub's `concurrency:`) examples and workflows cancel no publish that waits for its turn", (t) => {
  // A group keeps one waiting run and cancels those before it, unless it has `queue: max`. None is needed here.
  const text = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const examples = [...text('README.md').matchAll(/^```ya?ml\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const publishing = [
    ...examples.filter((block) => /uses: \S*apt-publish/.test(block)),
    text('.github/workflows/publish.yml'),
  ];
  assert.ok(publishing.length >= 4, `there are ${publishing.length}`);
  for (const workflow of publishing) {
    assert.ok(!/^ *concurrency:/m.test(workflow) || /^ *queue: max\b/m.test(workflow), workflow);
  }
  t.diagnostic('1 point tried');
});
