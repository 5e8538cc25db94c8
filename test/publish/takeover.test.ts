import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { perform } from '../../src/publish/commands.ts';
import { digest } from '../../src/publish/digest.ts';
import type { ImportRequest } from '../../src/publish/request.ts';
import type { ImportOrigin } from '../../src/publish/run-context.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { problemCode } from './problem-code.ts';
import { changeSettings, suiteOf, testRun } from './publishing.ts';
import { Repository } from './repository.ts';
import { RepositoryCheck } from './repository-check.ts';

const keys = await fixture('ed25519');
const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-cache' };
const day = 24 * 3_600_000;
const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';

/** A repository as another tool leaves it. */
class ForeignRepository extends Repository {
  /** Puts packages of this name into the pool; their stanzas. */
  async stanza(name: string, prefix = ''): Promise<string> {
    const body = Buffer.from(`the bytes of ${name}`);
    const filename = `pool/${name}.deb`;
    await this.store.put(filename, body, attributes);
    const sums = `Size: ${body.length}\nSHA256: ${digest(body)}\n`;
    return `Package: ${name}\nVersion: 1\nArchitecture: all\nFilename: ${prefix}${filename}\n${sums}\n`;
  }

  /** Publishes files of a suite, unsigned; `listed` ones are in its Release without being stored. */
  async suite(
    name: string,
    files: Readonly<Record<string, string | Buffer>>,
    listed: Readonly<Record<string, string>> = {},
  ) {
    const lines: string[] = [];
    for (const [path, content] of [...Object.entries(files), ...Object.entries(listed)]) {
      const bytes = Buffer.from(content);
      if (path in files) await this.store.put(`dists/${name}/${path}`, bytes, attributes);
      lines.push(` ${digest(bytes)} ${bytes.length} ${path}\n`);
    }
    const components = [...new Set(Object.keys(files).flatMap((path) => /^(.+)\/binary-/.exec(path)?.[1] ?? []))];
    const fields = `Origin: Example\nLabel: Example\nSuite: ${name}\nCodename: ${name}\nArchitectures: amd64\nComponents: ${components.join(' ')}\n`;
    await this.store.put(`dists/${name}/Release`, Buffer.from(`${fields}SHA256:\n${lines.join('')}`), attributes);
  }

  /** Imports bookworm, in place unless from elsewhere; the warnings. */
  async import(origin: ImportOrigin = {}, more: Partial<ImportRequest> = {}): Promise<string[]> {
    await this.clock.sleep(60_000);
    const run = { ...testRun(this.store, this.clock, { keys }), origin };
    const suites = [{ suite: 'bookworm' }];
    await perform(run, { command: 'import', suites, ...changeSettings, release: {}, onConflict: 'error', ...more });
    return run.warnings;
  }

  async findings() {
    return new RepositoryCheck(keys).findings(await this.snapshot(), true);
  }

  async lists(pattern: RegExp): Promise<string[]> {
    const release = await this.text('dists/bookworm/Release');
    return [...release.matchAll(/^ \S+ +\d+ (\S+)$/gm)].flatMap(([, path = '']) => (pattern.test(path) ? [path] : []));
  }
}

/** Stored as `Packages.gz`, and listed with its uncompressed twin. */
function packed(path: string, text: string) {
  return [{ [`${path}.gz`]: gzipSync(text) }, { [path]: text }] as const;
}

describe('a suite that is taken over alone', () => {
  for (const [how, list] of [
    ['as it is', (text: string) => text],
    ['with `./` before it', (text: string) => text.replace('pool/', './pool/')],
  ] as const) {
    test(`never loses a file to another suite of its old tool, which lists it ${how}`, async () => {
      using repository = new ForeignRepository();
      const shared = await repository.stanza('shared');
      const own = await repository.stanza('own');
      await repository.suite('bookworm', ...packed('main/binary-amd64/Packages', own + shared));
      await repository.suite('old/trixie', ...packed('main/binary-amd64/Packages', list(shared)));
      // Some tools write one of these beside each list.
      await repository.store.put(
        'dists/old/trixie/main/binary-amd64/Release',
        Buffer.from('Component: main\n'),
        attributes,
      );
      await repository.import();
      await repository.remove('bookworm', ['shared', 'own']);
      await repository.clock.sleep(8 * day);
      for (const name of ['one', 'two', 'three']) {
        await repository.publish([suiteOf('bookworm', repository.debs.add(name, { Package: name }))]);
      }
      assert.deepEqual(await repository.keys('pool/shared'), ['pool/shared.deb']);
      assert.deepEqual(await repository.keys('pool/own'), [], 'what nobody lists goes');
    });
  }
});

describe('names that begin with `./`, which web servers forgive and buckets do not,', () => {
  for (const place of ['in place', 'elsewhere'] as const) {
    test(`are plain after an import from a repository ${place}`, async () => {
      using source = new ForeignRepository();
      using other = new ForeignRepository();
      const stanza = await source.stanza('hello', './');
      await source.suite('bookworm', ...packed('main/binary-amd64/Packages', stanza));
      const target = place === 'in place' ? source : other;
      await target.import(place === 'in place' ? {} : { store: source.store });
      assert.equal(await target.text(amd64), stanza.replace('./pool', 'pool'));
      assert.ok((await target.keys()).includes('pool/hello.deb'));
      assert.deepEqual(await target.findings(), []);
    });
  }
});

describe('a list that is taken over', () => {
  test('is one of those forms that can be read, whatever comes first', async () => {
    using repository = new ForeignRepository();
    const stanza = await repository.stanza('hello');
    const path = 'main/binary-amd64/Packages';
    await repository.suite(
      'bookworm',
      { [`${path}.lz4`]: 'lz4', [`${path}.gz`]: gzipSync(stanza) },
      { [path]: stanza },
    );
    await repository.import();
    assert.equal(await repository.text(amd64), stanza);
  });

  test('is the uncompressed one when the others do not exist', async () => {
    using repository = new ForeignRepository();
    const stanza = await repository.stanza('hello');
    const path = 'main/binary-amd64/Packages';
    await repository.suite('bookworm', { [path]: stanza }, { [`${path}.xz`]: 'gone' });
    await repository.import();
    assert.equal(await repository.text(amd64), stanza);
    assert.deepEqual(await repository.findings(), []);
  });

  test('and exists in no form, as in a mirror of a part, is left out, and the run says so', async () => {
    using repository = new ForeignRepository();
    const [stored, listed] = packed('main/binary-amd64/Packages', await repository.stanza('hello'));
    await repository.suite('bookworm', stored, { ...listed, 'main/binary-i386/Packages.gz': 'elsewhere' });
    const warnings = await repository.import();
    assert.match(
      warnings.join(),
      /1 in main\/binary-amd64\/Packages\. Listed there and not stored: main\/binary-i386\/Packages\./,
    );
    assert.deepEqual(await repository.lists(/i386/), []);
  });

  test('that can be read in no form stops the run, so that no package is lost', async () => {
    using repository = new ForeignRepository();
    await repository.suite('bookworm', { 'main/binary-amd64/Packages.lz4': 'lz4' });
    await assert.rejects(repository.import(), problemCode('index-form-unknown'));
    assert.ok(!(await repository.keys()).includes('.apt-publish/bookworm.json'));
  });
});

describe('the Contents of another tool', () => {
  const lines = { all: 'FILE LOCATION\nusr/doc misc/docs\n', amd64: 'usr/bin/hello misc/hello\n' };

  for (const place of ['in place', 'elsewhere'] as const) {
    const imported = async (files: Readonly<Record<string, string>>, component = 'main') => {
      using source = new ForeignRepository();
      const target = place === 'in place' ? source : new ForeignRepository();
      const [stored, twins] = packed(`${component}/binary-amd64/Packages`, await source.stanza('hello'));
      const [more, moreTwins] = packed('main/binary-amd64/Packages', await source.stanza('docs'));
      const contents = Object.entries(files).map(([path, text]) => packed(path, text));
      const all = Object.assign({}, more, stored, ...contents.map(([each]) => each));
      await source.suite('bookworm', all, Object.assign({}, moreTwins, twins, ...contents.map(([, each]) => each)));
      await target.import(place === 'in place' ? {} : { store: source.store });
      assert.deepEqual(await target.findings(), []);
      const keys = await target.lists(/Contents-[^/]*\.gz$/);
      const texts = await Promise.all(keys.map(async (key) => [key, await target.text(`dists/bookworm/${key}`)]));
      target[Symbol.dispose]();
      return Object.fromEntries(texts);
    };

    test(`for all go into those of each architecture (${place})`, async () => {
      const { 'main/Contents-amd64.gz': joined, ...others } = await imported({
        'main/Contents-all': lines.all,
        'main/Contents-amd64': lines.amd64,
      });
      assert.equal(joined, 'usr/bin/hello\tmisc/hello\nusr/doc\tmisc/docs\n');
      assert.deepEqual(others, {});
    });

    test(`of a whole suite become those of its only component, so that later packages join them (${place})`, async () => {
      assert.deepEqual(await imported({ 'Contents-amd64': lines.amd64 }), { 'main/Contents-amd64.gz': lines.amd64 });
    });

    test(`of a whole suite are left behind where each component has its own, or there are several (${place})`, async () => {
      const both = { 'Contents-amd64': lines.all, 'main/Contents-amd64': lines.amd64 };
      assert.deepEqual(await imported(both), { 'main/Contents-amd64.gz': lines.amd64 });
      assert.deepEqual(await imported({ 'Contents-amd64': lines.all }, 'contrib'), {});
    });
  }
});
