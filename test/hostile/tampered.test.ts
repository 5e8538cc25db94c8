import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Problem } from '../../src/problem.ts';
import { digest } from '../../src/publish/digest.ts';
import { publish } from '../../src/publish/publish.ts';
import type { SuiteRecord } from '../../src/publish/suite-record.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { ClosingCounts } from '../faults/closing-counts.ts';
import { publishRequest, suiteOf, testRun } from '../publish/publishing.ts';
import { Repository } from '../publish/repository.ts';
import { fixture } from '../signing/fixture-keys.ts';

/**
 * Invariant 5: nothing is signed that was not verified. Each test does to a repository what somebody could who may write to the bucket and
 * has no key, or what a cache or a broken proxy could answer, and lets a run go over it.
 */

const keys = await fixture('ed25519');
const counts = new ClosingCounts();
const otherKeys = await fixture('rsa-subkey');
const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const headName = 'dists/bookworm/InRelease';
const recordName = '.apt-publish/bookworm.json';
const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';

/** Two suites and, of the first, three generations. */
class Victim extends Repository {
  readonly heads: string[] = [];

  static async make(): Promise<Victim> {
    const victim = new Victim();
    const { debs } = victim;
    const arm64 = debs.add('arm', { Package: 'arm', Architecture: 'arm64' });
    for (const version of ['1', '2', '3']) {
      const deb = debs.add(`hello-${version}`, { Version: version });
      const suites = version === '1' ? ['bookworm', 'trixie'] : ['bookworm'];
      await victim.publish(suites.map((suite) => suiteOf(suite, arm64, deb)));
      victim.heads.push(await victim.text(headName));
    }
    return victim;
  }

  async write(key: string, body: Uint8Array | string): Promise<void> {
    await this.store.put(key, Buffer.from(body), attributes);
  }

  async bytes(key: string): Promise<Uint8Array> {
    const object = await this.store.get(key);
    assert.ok(object.found, `${key} does not exist`);
    return object.body;
  }

  /** The record, changed in place; nothing signs what is in it but the head. */
  async changeRecord(change: (record: { -readonly [K in keyof SuiteRecord]: SuiteRecord[K] }) => void): Promise<void> {
    const record = JSON.parse(await this.text(recordName));
    change(record);
    await this.write(recordName, JSON.stringify(record));
  }

  /** Where an index stands by its hash, after its copy in the record was taken out. */
  async byHash(path: string): Promise<string> {
    await this.changeRecord((record) => {
      record.embedded = {};
    });
    const folder = path.slice(0, path.lastIndexOf('/'));
    return `${folder}/by-hash/SHA256/${digest(await this.bytes(path))}`;
  }

  async everything(): Promise<Map<string, string>> {
    const objects = new Map<string, string>();
    for (const key of await this.keys()) objects.set(key, digest(await this.bytes(key)));
    return objects;
  }

  /** One more publish, with one more package, through `store` when another one than the victim's own. */
  async again(store: ObjectStore = this.store, signing = keys) {
    await this.clock.sleep(60_000);
    const run = testRun(store, this.clock, { keys: signing });
    const deb = this.debs.add('hello-4', { Version: '4' });
    return { run, ending: publish(run, publishRequest([suiteOf('bookworm', deb)])) };
  }

  /** The next run stops with this problem, having written nothing. */
  async refuses(code: string, words: RegExp, store: ObjectStore = this.store): Promise<void> {
    const before = await this.everything();
    const { run, ending } = await this.again(store);
    await assert.rejects(ending, (error) => {
      assert.ok(error instanceof Problem, `${error}`);
      assert.equal(error.code, code, error.message);
      assert.match(error.message, words);
      return true;
    });
    const verbs = run.recorder.spans.flatMap((span) => (span.kind === 'request' ? [span.verb] : []));
    assert.deepEqual([...new Set(verbs)], ['GET'], 'only read');
    const now = await this.everything();
    counts.add('points tried');
    counts.add('promises broken', Number(!isDeepStrictEqual(now, before)));
    assert.deepEqual(now, before);
  }
}

const victims: Victim[] = [];
after(() => {
  for (const victim of victims) victim[Symbol.dispose]();
});

async function victim(): Promise<Victim> {
  const made = await Victim.make();
  victims.push(made);
  return made;
}

function page(text: string): string {
  return `<!DOCTYPE html>\n<html><body>${text}</body></html>\n`;
}

const evilList = gzipSync('Package: evil\nVersion: 1\nArchitecture: amd64\nFilename: pool/evil.deb\nSize: 1\n\n');

describe('an index that is not what the signed Release says (invariant 5)', () => {
  test('under its own hash is refused', async () => {
    const repository = await victim();
    await repository.write(await repository.byHash(amd64), evilList);
    await repository.refuses(
      'index-changed',
      /main\/binary-amd64\/Packages\.gz of suite bookworm.*nothing has been signed/,
    );
  });

  test('under its own hash is refused when it is the list of another architecture', async () => {
    const repository = await victim();
    const arm64 = await repository.bytes(amd64.replace('amd64', 'arm64'));
    await repository.write(await repository.byHash(amd64), arm64);
    await repository.refuses('index-changed', /main\/binary-amd64\/Packages\.gz/);
  });

  test('under its own hash is refused when it is an older list of the same name', async () => {
    const repository = await victim();
    const now = await repository.byHash(amd64);
    const kept = (await repository.keys('dists/bookworm/main/binary-amd64/by-hash/')).find((key) => key !== now);
    assert.ok(kept !== undefined);
    await repository.write(now, await repository.bytes(kept));
    await repository.refuses('index-changed', /main\/binary-amd64\/Packages\.gz/);
  });

  test('under its canonical name is refused where its by-hash object is gone', async () => {
    const repository = await victim();
    const now = await repository.byHash(amd64);
    await repository.store.delete([now]);
    await repository.write(amd64, evilList);
    await repository.refuses('index-changed', /main\/binary-amd64\/Packages\.gz/);
  });

  test('under its canonical name alone is not even read', async () => {
    const repository = await victim();
    await repository.write(amd64, evilList);
    await (await repository.again()).ending;
    assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 2', 'hello 3', 'hello 4']);
  });

  test('is missed when it is gone under both names', async () => {
    const repository = await victim();
    await repository.store.delete([await repository.byHash(amd64), amd64]);
    await repository.refuses('index-missing', /neither its by-hash object nor its canonical name exists/);
  });

  test('inside the record is passed over for the one that fits', async () => {
    const repository = await victim();
    await repository.changeRecord((record) => {
      record.embedded = { 'main/binary-amd64/Packages.gz': Buffer.from(evilList).toString('base64') };
    });
    await (await repository.again()).ending;
    assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 2', 'hello 3', 'hello 4']);
  });
});

describe('a head that this repository has not signed (invariant 5)', () => {
  /** What another key makes of the same packages. */
  async function byOtherKey(): Promise<{ head: string; record: SuiteRecord }> {
    using other = new Repository();
    await other.publish([suiteOf('bookworm', other.debs.add('evil', { Package: 'evil' }))], {}, otherKeys);
    return { head: await other.text(headName), record: JSON.parse(await other.text(recordName)) };
  }

  test('is refused when another key signed it, beside the true record', async () => {
    const repository = await victim();
    await repository.write(headName, (await byOtherKey()).head);
    await repository.refuses('head-overwritten', /neither generation 3, which its record names, nor the one before it/);
  });

  test('is refused when another key signed it and the record names it', async () => {
    const repository = await victim();
    const { head, record } = await byOtherKey();
    await repository.write(headName, head);
    await repository.write(recordName, JSON.stringify(record));
    await repository.refuses('inrelease-other-key', /signed by key [0-9A-F]{16}, and none of the given keys/);
  });

  test('is refused when only the record names what another key has signed', async () => {
    const repository = await victim();
    const { head } = await byOtherKey();
    await repository.changeRecord((record) => {
      record.generation = { ...record.generation, head };
    });
    await repository.refuses('inrelease-other-key', /none of the given keys/);
  });

  test('is refused when a word of it was changed', async () => {
    const repository = await victim();
    const changed = (repository.heads.at(-1) ?? '').replace('Origin: Example', 'Origin: Exomple');
    await repository.write(headName, changed);
    await repository.changeRecord((record) => {
      record.generation = { ...record.generation, head: changed };
    });
    await repository.refuses('inrelease-bad-signature', /no good signature by a given key/);
  });

  test('is refused when its signature was taken off', async () => {
    const repository = await victim();
    const release = await repository.text('dists/bookworm/Release');
    await repository.write(headName, release);
    await repository.changeRecord((record) => {
      record.generation = { ...record.generation, head: release };
    });
    await repository.refuses('inrelease-unsigned', /carries no signature that can be checked/);
  });

  test('is refused when the record says that the suite was never signed', async () => {
    const repository = await victim();
    const release = await repository.text('dists/bookworm/Release');
    await repository.write(headName, release);
    await repository.changeRecord((record) => {
      const { releaseGpg: _, ...generation } = record.generation;
      record.generation = { ...generation, head: release };
    });
    await repository.refuses('suite-unsigned', /published without a signature/);
  });

  test('is refused when it is one of long ago, put back beside the newer record', async () => {
    const repository = await victim();
    await repository.write(headName, repository.heads[0] ?? '');
    await repository.refuses('head-overwritten', /neither generation 3/);
  });

  test('is replaced by the newest when it is the one before, put back: the head does not stay behind (invariant 4)', async () => {
    const repository = await victim();
    await repository.write(headName, repository.heads[1] ?? '');
    const { run, ending } = await repository.again();
    await ending;
    assert.match(run.warnings.join(), /this run has finished generation 3/);
    assert.deepEqual(await repository.packages(amd64), ['hello 1', 'hello 2', 'hello 3', 'hello 4']);
  });

  for (const [what, body] of [
    ['a web page', page('Please log in')],
    ['cut off', undefined],
    ['empty', ''],
  ] as const) {
    test(`is refused when it is ${what}`, async () => {
      const repository = await victim();
      const cut = body ?? (repository.heads.at(-1) ?? '').slice(0, 300);
      await repository.write(headName, cut);
      await repository.refuses('head-overwritten', /The head of suite bookworm/);
      await repository.changeRecord((record) => {
        record.generation = { ...record.generation, head: cut };
      });
      await repository.refuses('inrelease-garbage', /HTML|cut off or damaged|empty file/);
    });
  }

  test('is missed when it is gone and the record is not new', async () => {
    const repository = await victim();
    await repository.store.delete([headName]);
    await repository.refuses('head-overwritten', /head of suite bookworm/);
  });
});

describe('a record that does not fit (invariants 5 and 6)', () => {
  test('is missed when the suite has a head', async () => {
    const repository = await victim();
    await repository.store.delete([recordName]);
    await repository.refuses('suite-foreign', /has no record of this action/);
  });

  test('is refused when it is that of another suite', async () => {
    const repository = await victim();
    await repository.write(recordName, await repository.text('.apt-publish/trixie.json'));
    await repository.refuses('record-garbage', /belongs to suite "trixie"/);
  });

  for (const [what, cut] of [
    ['cut off', (text: string) => text.slice(0, text.length / 2)],
    ['a web page', () => '<html></html>'],
    ['empty', () => ''],
  ] as const) {
    test(`is refused when it is ${what}`, async () => {
      const repository = await victim();
      await repository.write(recordName, cut(await repository.text(recordName)));
      await repository.refuses('record-garbage', /it is not JSON/);
    });
  }

  test('is refused when it is not UTF-8', async () => {
    const repository = await victim();
    await repository.write(recordName, Buffer.from([0xff, 0xfe, 0x7b, 0x7d]));
    await repository.refuses('record-garbage', /it is not JSON/);
  });

  const sha256 = 'ab'.repeat(32);
  const since = '2026-01-01T00:00:00.000Z';
  for (const path of ['../trixie/InRelease', 'main/../../x', '/etc/passwd', 'main//x', './x', 'a\\..\\x', 'x\n']) {
    test(`is refused when it names ${JSON.stringify(path)}, wherever that is`, async () => {
      const repository = await victim();
      const honest = await repository.text(recordName);
      const index = { path, sha256 };
      for (const [place, change] of [
        ['generation.renames.0', { generation: { renames: [index] } }],
        ['generation.added.0', { generation: { added: [path] } }],
        ['condemned.0', { condemned: [{ ...index, since }] }],
        ['unlisted.0', { unlisted: [{ filename: path, since }] }],
      ] as const) {
        const record = JSON.parse(honest);
        const generation = { ...record.generation, ...('generation' in change ? change.generation : {}) };
        await repository.write(recordName, JSON.stringify({ ...record, ...change, generation }));
        await repository.refuses('record-garbage', new RegExp(place.replaceAll('.', '\\.')));
      }
    });
  }

  test('of the pool is refused when it is none', async () => {
    const repository = await victim();
    await repository.write('.apt-publish/pool.json', page('not found'));
    await repository.refuses('record-garbage', /record of the pool/);
  });
});

describe('a store that does not answer the question (invariant 6)', () => {
  const forbidden = () =>
    new Problem({ code: 'store-access-denied', title: 'Denied', what: 'The store denies it.', advice: 'Ask for it.' });

  /** The store, but for the objects whose key begins so. */
  function denying(store: ObjectStore, prefix: string): ObjectStore {
    return new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return async (...args: readonly unknown[]) => {
          if (String(args[0]).startsWith(prefix)) throw forbidden();
          return Reflect.apply(value, target, args);
        };
      },
    });
  }

  for (const key of [recordName, headName, '.apt-publish/pool.json']) {
    test(`about ${key} is not taken for one that has nothing`, async () => {
      const repository = await victim();
      await repository.refuses('store-access-denied', /The store denies it/, denying(repository.store, key));
    });
  }

  test('about an index is not taken for one that has nothing', async () => {
    const repository = await victim();
    const now = await repository.byHash(amd64);
    await repository.refuses('store-access-denied', /The store denies it/, denying(repository.store, now));
  });

  test('is refused in a first publish, too', async () => {
    using repository = new Repository();
    const run = testRun(denying(repository.store, recordName), repository.clock, { keys });
    const ending = publish(run, publishRequest([suiteOf('bookworm', repository.debs.add('one'))]));
    await assert.rejects(ending, { code: 'store-access-denied' });
    assert.deepEqual(await repository.keys(), []);
  });
});

describe('a record that somebody without the key has written', () => {
  test('is refused when it is that of another suite of the same key', async () => {
    const repository = await victim();
    for (const key of await repository.keys('dists/trixie/')) {
      await repository.write(key.replace('trixie', 'bookworm'), await repository.bytes(key));
    }
    const record = JSON.parse(await repository.text('.apt-publish/trixie.json'));
    await repository.write(recordName, JSON.stringify({ ...record, suite: 'bookworm' }));
    await repository.refuses('release-other-suite', /trixie/);
  });

  test('cannot have objects deleted which are no pool files', async () => {
    const repository = await victim();
    await repository.changeRecord((record) => {
      record.unlisted = [{ filename: 'dists/trixie/InRelease', since: '2020-01-01T00:00:00.000Z' }];
    });
    await (await repository.again()).ending.catch(() => undefined);
    assert.ok((await repository.keys()).includes('dists/trixie/InRelease'));
  });

  test('is refused when a path in it has a way out behind a line separator', async () => {
    const repository = await victim();
    await repository.changeRecord((record) => {
      record.unlisted = [{ filename: 'pool/\u2028/../../x', since: '2026-01-01T00:00:00.000Z' }];
    });
    await repository.refuses('record-garbage', /unlisted\.0/);
  });

  test('is refused when its number cannot grow', async () => {
    const repository = await victim();
    await repository.changeRecord((record) => {
      record.generation = { ...record.generation, number: Number.MAX_SAFE_INTEGER };
    });
    await repository.refuses('record-garbage', /generation\.number/);
  });
});

test('what was tampered with', (t) => t.diagnostic(`${counts}`));
