import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { perform } from '../../src/publish/commands.ts';
import { digest } from '../../src/publish/digest.ts';
import { copiesAreSlow } from '../../src/publish/rename-method.ts';
import type { RunContext } from '../../src/publish/run-context.ts';
import { parseSuiteRecord } from '../../src/publish/suite-record.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { RequestSpan } from '../../src/timing/span.ts';
import { VirtualTime } from '../store/virtual-time.ts';
import { publishRequest, suiteOf, testRun } from './publishing.ts';
import { Repository } from './repository.ts';

function spansOf(verb: RequestSpan['verb'], ms: readonly number[], bytesUp = 0): RequestSpan[] {
  return ms.map((end) => ({
    kind: 'request',
    phase: 0,
    verb,
    object: 'index',
    start: 0,
    end,
    bytesUp,
    bytesDown: 0,
    outcome: 'ok',
  }));
}

describe('copies within the store', () => {
  const writes = spansOf('PUT', [40, 50, 60], 1000);

  test('are slow when most of them take four times what a small write does', () => {
    assert.equal(copiesAreSlow([...writes, ...spansOf('COPY', [60, 900, 1000])]), true);
  });

  test('are not slow for two late ones, a little more time, or where no write tells', () => {
    assert.equal(copiesAreSlow([...writes, ...spansOf('COPY', [60, 50, 40, 2000, 2000])]), false);
    assert.equal(copiesAreSlow([...spansOf('PUT', [5, 5, 5], 1000), ...spansOf('COPY', [90, 100, 120])]), false);
    assert.equal(copiesAreSlow(spansOf('COPY', [900, 1000, 1100])), false);
    assert.equal(
      copiesAreSlow([...spansOf('PUT', [40, 50, 60], 2 ** 21), ...spansOf('COPY', [900, 1000, 1100])]),
      false,
    );
  });
});

const architectures = ['amd64', 'arm64', 'armel', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x'];

/** A store that takes its time, much more of it for copies than for anything else. */
function away(store: ObjectStore, time: VirtualTime, copyMs: number): ObjectStore {
  return new Proxy(store, {
    get:
      (target, method: keyof ObjectStore) =>
      async (...args: never[]) => {
        await time.sleep(method === 'copy' ? copyMs : 50);
        return (target[method].bind(target) as (...all: never[]) => Promise<unknown>)(...args);
      },
  });
}

describe('the method of renaming', () => {
  /** Publishes one more package; answers the verbs of the requests that wrote canonical index names, and what the record says. */
  async function publish(repository: Repository, version: string, copyMs: number, more: Partial<RunContext> = {}) {
    const time = new VirtualTime();
    const deb = repository.debs.add(`tool-${version}`, { Package: 'tool', Version: version, Architecture: 'all' });
    const run: RunContext = {
      ...testRun(away(repository.store, time, copyMs), time, { date: Date.UTC(2026, 0, Number(version)) }),
      keepTimings: true,
      ...more,
    };
    await time.run(perform(run, publishRequest([suiteOf('sid', deb)], { architectures })));
    const verbs = run.recorder.spans.flatMap((span) =>
      span.kind === 'request' && span.object === 'index' && span.verb !== 'GET' ? [span.verb] : [],
    );
    const record = await repository.store.get('.apt-publish/sid.json');
    assert.ok(record.found);
    const lists = await repository.store.get('dists/sid/main/binary-amd64/Packages.gz');
    const { slowCopies, generation } = parseSuiteRecord(record.body, 'sid');
    assert.ok(lists.found);
    return { verbs: new Set(verbs), slowCopies, generation, etag: lists.etag };
  }

  test('is a copy, and nothing is kept, where the store is as quick in copying as in writing', async () => {
    using repository = new Repository();
    await publish(repository, '1', 60);
    const { verbs, slowCopies } = await publish(repository, '2', 60);
    assert.deepEqual([verbs, slowCopies], [new Set(['COPY']), undefined]);
  });

  test('is a write for the first names of a suite, unless the run is told to copy', async () => {
    using repository = new Repository();
    assert.deepEqual((await publish(repository, '1', 60)).verbs, new Set(['PUT']));
    using another = new Repository();
    assert.deepEqual((await publish(another, '1', 60, { renameMethod: 'copy' })).verbs, new Set(['COPY']));
  });

  test('is a copy for a name of a new suite that turns out to stand for something else', async () => {
    using repository = new Repository();
    const name = 'dists/sid/main/binary-amd64/Packages.gz';
    await repository.store.put(name, Buffer.from('left behind'), { contentType: 'a/b', cacheControl: 'no-cache' });
    const { verbs } = await publish(repository, '1', 60);
    assert.deepEqual(verbs, new Set(['PUT', 'COPY']));
    const list = await repository.store.get(name);
    assert.ok(list.found);
    const byHash = `dists/sid/main/binary-amd64/by-hash/SHA256/${digest(list.body)}`;
    assert.ok((await repository.store.head(byHash)).found);
  });

  test('is learnt where copies take long: the next run begins with small writes', async () => {
    using repository = new Repository();
    await publish(repository, '0', 1000);
    const first = await publish(repository, '1', 1000);
    assert.deepEqual([first.verbs, first.slowCopies], [new Set(['COPY']), true]);
    const second = await publish(repository, '2', 1000);
    assert.deepEqual([second.verbs, second.slowCopies], [new Set(['PUT']), true]);
    assert.notEqual(first.etag, second.etag);
    // What a copy and a write leave is the same to the byte, and in its attributes.
    const name = 'dists/sid/main/binary-amd64/Packages.gz';
    const written = await repository.store.head(name);
    await publish(repository, '3', 1000, { renameMethod: 'copy' });
    const copied = await repository.store.head(name);
    assert.ok(written.found && copied.found);
    assert.deepEqual([copied.contentType, copied.cacheControl], [written.contentType, written.cacheControl]);
  });

  test('is what the run is told, which forgets what was learnt', async () => {
    using repository = new Repository();
    assert.deepEqual((await publish(repository, '1', 1000, { renameMethod: 'put' })).verbs, new Set(['PUT']));
    await publish(repository, '2', 1000);
    const told = await publish(repository, '3', 1000, { renameMethod: 'copy' });
    assert.deepEqual([told.verbs, told.slowCopies], [new Set(['COPY']), undefined]);
  });

  test('is not kept by a run of fixed date', async () => {
    using repository = new Repository();
    const time = new VirtualTime();
    const { keepTimings: _, ...plain } = { ...testRun(repository.store, time), keepTimings: true as const };
    const deb = repository.debs.add('tool', { Package: 'tool', Architecture: 'all' });
    const run = { ...plain, store: away(repository.store, time, 1000) };
    await publish(repository, '1', 50);
    await time.run(perform(run, publishRequest([suiteOf('sid', deb)], { architectures })));
    const record = await repository.store.get('.apt-publish/sid.json');
    assert.ok(record.found);
    assert.equal(parseSuiteRecord(record.body, 'sid').slowCopies, undefined);
  });

  test('of somebody who finishes the claim of another reads what it has to write', async () => {
    using repository = new Repository();
    const time = new VirtualTime();
    const deb = repository.debs.add('tool', { Package: 'tool', Architecture: 'all' });
    const dying: ObjectStore = new Proxy<ObjectStore>(repository.store, {
      get: (target, method: keyof ObjectStore) =>
        method === 'copy' ? () => Promise.reject(new Error('killed')) : target[method].bind(target),
    });
    await assert.rejects(
      time.run(
        perform(
          { ...testRun(dying, time), renameMethod: 'copy' },
          publishRequest([suiteOf('sid', deb)], { architectures: ['amd64'] }),
        ),
      ),
      /killed/,
    );
    const { verbs, generation } = await publish(repository, '2', 50, { renameMethod: 'put' });
    assert.deepEqual([verbs, generation.number], [new Set(['PUT']), 2]);
  });
});
