import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sourcesEntry } from '../../src/debian/sources-entry.ts';
import { perform } from '../../src/publish/commands.ts';
import { parsePattern } from '../../src/publish/package-pattern.ts';
import type { PublishRequest } from '../../src/publish/request.ts';
import { armoredPublicKey } from '../../src/signing/verify.ts';
import { DirectoryStore } from '../../src/store/directory.ts';
import { type AptClient, aptClient } from '../e2e/apt-client.ts';
import { changeSettings, Debs, publishRequest, suiteOf, testRun } from '../publish/publishing.ts';
import { type HttpDirectory, serveDirectory } from '../rig/http-directory.ts';
import { skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';
import { complaints } from './readers.ts';

/** Faults of such tools that show in the real apt. References: owner/name#number of public trackers. */

const keys = await fixture('ed25519');
const day = 24 * 3_600_000;

/** A suite in a folder, on a web server, and apt clients of it. */
class PublishedFolder implements AsyncDisposable {
  readonly debs: Debs;
  readonly site: HttpDirectory;
  readonly #root: string;
  readonly #stack: AsyncDisposableStack;

  private constructor(root: string, site: HttpDirectory, debs: Debs, stack: AsyncDisposableStack) {
    this.#root = root;
    this.site = site;
    this.debs = debs;
    this.#stack = stack;
  }

  static async open(): Promise<PublishedFolder> {
    await using stack = new AsyncDisposableStack();
    const { path } = stack.use(await temporaryFolder());
    const site = stack.use(await serveDirectory(path));
    const debs = stack.use(new Debs());
    return new PublishedFolder(path, site, debs, stack.move());
  }

  async publish(paths: readonly string[], more: Partial<PublishRequest> = {}, date = Date.now()): Promise<void> {
    const run = testRun(this.#store(), realClock, { keys, date });
    await perform(run, publishRequest([suiteOf('sid', ...paths)], { compression: ['gz', 'xz'], ...more }));
  }

  async removeAll(): Promise<void> {
    const all = parsePattern('*');
    assert.ok(all !== undefined);
    const request = { command: 'remove', suites: [{ suite: 'sid' }], ...changeSettings } as const;
    await perform(testRun(this.#store(), realClock, { keys }), { ...request, selection: { patterns: [all] } });
  }

  async client(architecture = 'amd64'): Promise<AptClient> {
    const entry = sourcesEntry({
      uri: this.site.url,
      suites: ['sid'],
      components: ['main'],
      architectures: [architecture],
      hasSources: false,
      trust: { key: armoredPublicKey(keys) },
    });
    return this.#stack.use(await aptClient([entry], architecture));
  }

  #store(): DirectoryStore {
    return new DirectoryStore({ root: this.#root, clock: realClock, writer: `test-${process.pid}` });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

describe('a real apt', { skip: skipWithout('apt-get') }, () => {
  test('(moby/moby#21707; kurtosis-tech/kurtosis#2931) asks for nothing that is missing', async (t) => {
    await using published = await PublishedFolder.open();
    await published.publish([published.debs.add('hello')]);
    const client = await published.client();
    assert.deepEqual(await complaints(client), []);
    assert.ok(published.site.requests.length >= 2);
    assert.deepEqual(
      published.site.requests.filter(({ status }) => status !== 200),
      [],
    );
    t.diagnostic('1 update by clients');
  });

  test('(aptly-dev/aptly#952) refuses a state whose Valid-Until has passed, and takes the next one', async (t) => {
    await using published = await PublishedFolder.open();
    const { debs } = published;
    const release = { origin: 'Example', label: 'Example', validForSeconds: (7 * day) / 1000 };
    await published.publish([debs.add('hello')], { release }, Date.now() - 8 * day);
    assert.match((await complaints(await published.client())).join('\n'), /InRelease is expired/);
    await published.publish([debs.add('next', { Version: '2' })], { release });
    assert.deepEqual(await complaints(await published.client()), []);
    t.diagnostic('2 updates by clients');
  });

  test('(aptly-dev/aptly#34) shows long descriptions whole, without Translation indexes', async (t) => {
    await using published = await PublishedFolder.open();
    const long = 'in short\n At length, over\n .\n several paragraphs.';
    await published.publish([published.debs.add('hello', { Description: long })]);
    const client = await published.client();
    assert.deepEqual(await complaints(client), []);
    assert.ok((await client.available()).includes(`Description: ${long}\n`));
    t.diagnostic('1 update by clients');
  });

  test('(aptly-dev/aptly#55, #66) updates from a suite that has no package any more, and finds the one that comes', async (t) => {
    await using published = await PublishedFolder.open();
    const hello = published.debs.add('hello');
    await published.publish([hello]);
    await published.removeAll();
    const client = await published.client();
    assert.deepEqual(await complaints(client), []);
    assert.equal(await client.available(), '');
    await published.publish([hello]);
    // A new one: this server tells the age of a file in whole seconds.
    const another = await published.client();
    assert.deepEqual(await complaints(another), []);
    assert.match(await another.available(), /^Package: hello$/m);
    t.diagnostic('2 updates by clients');
  });

  test('(aptly-dev/aptly#165, #59, #273, #226) of any architecture finds packages for all in a suite that has no others', async (t) => {
    await using published = await PublishedFolder.open();
    const docs = published.debs.add('docs', { Package: 'docs', Architecture: 'all' });
    await published.publish([docs], { architectures: ['amd64', 'arm64'] });
    for (const architecture of ['amd64', 'arm64']) {
      const client = await published.client(architecture);
      assert.deepEqual(await complaints(client), []);
      assert.match(await client.available(), /^Package: docs$/m);
    }
    t.diagnostic('2 updates by clients');
  });

  test('(aptly-dev/aptly#667, #756, #142; pulp/pulp_deb#1291) fetches Contents the way apt-file asks for it', async (t) => {
    await using published = await PublishedFolder.open();
    await published.publish([published.debs.add('hello', {}, { 'usr/bin/hello': 'hello' })], { contents: true });
    const client = await published.client();
    const target = 'Acquire::IndexTargets::deb::Contents-deb';
    const lines = await client.update(
      ...[
        // As /etc/apt/apt.conf.d/50apt-file.conf has it.
        `${target}::MetaKey=$(COMPONENT)/Contents-$(ARCHITECTURE)`,
        `${target}::ShortDescription=Contents-$(ARCHITECTURE)`,
        `${target}::Description=$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Contents (deb)`,
      ].flatMap((option) => ['-o', option]),
    );
    assert.deepEqual(
      lines.filter((line) => /^(?:Err|W|E|Ign):/.test(line)),
      [],
    );
    assert.match(lines.join('\n'), /^Get:\d+ .* Contents \(deb\)/m);
    assert.ok(client.requested.some((url) => url.includes('/main/by-hash/SHA256/')));
    t.diagnostic('1 update by clients');
  });
});
