import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { buildDeb } from '../debs.ts';
import { publishedAt, suiteOf } from '../publish/publishing.ts';
import { rigCredentials } from '../rig/s3-server.ts';
import { TestClock } from '../store/clocks.ts';
import { AgedRepository } from './aged-repository.ts';
import { assertConsistent, counts } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { keys, problemOf, Workbench } from './workbench.ts';

/** Faults of such tools in what they send and store, and in what they take an answer for. References: owner/name#number. */

const amd64 = 'dists/bookworm/main/binary-amd64/Packages.gz';

describe('names', () => {
  const odd = { Package: 'g++-x', Version: '1:2.0~rc1+dfsg-1' };

  test('(aptly-dev/aptly#98, #130; krobertson/deb-s3#44, #67; deb-s3/deb-s3#11, #30) + ~ and : are raw in Filename and read encoded', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const path = bench.debs.add('odd', odd);
    await bench.publish([suiteOf('bookworm', path)], { store: { prefix: 'c++/~apt' } });
    const text = gunzipSync(bench.bucket.get(`c++/~apt/${amd64}`)?.body ?? '').toString();
    const filename = /^Filename: (.*)$/m.exec(text)?.[1] ?? '';
    assert.match(filename, /^pool\/main\/g\/g\+\+-x\/g\+\+-x_2\.0~rc1\+dfsg-1_amd64\.deb$/);
    const base = `${bench.server.endpoint}/apt/${encodeURIComponent('c++')}/~apt`;
    bench.server.publicUrl('apt', 'c++/~apt');
    for (const spelled of [filename.replaceAll('+', '%2B'), filename.replaceAll('+', '%2b').replaceAll('~', '%7E')]) {
      const response = await fetch(`${base}/${spelled}`);
      assert.equal(response.status, 200, spelled);
      const deb = Buffer.from(await response.arrayBuffer());
      assert.deepEqual(deb, buildDeb({ fields: odd, files: {} }));
    }
    t.diagnostic('2 points tried');
  });

  test('(aptly-dev/aptly#98) the source of a copy is sent encoded, since a + in it means a blank', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const store = { prefix: 'c++' };
    await bench.publish([suiteOf('bookworm', bench.debs.add('first'))], { store });
    const { requests } = await bench.publish([suiteOf('bookworm', bench.debs.add('odd', odd))], { store });
    const sources = requests.flatMap(({ headers }) => headers['x-amz-copy-source'] ?? []);
    assert.ok(sources.length > 0 && sources.every((source) => /^apt\/c%2B%2B\/dists\//.test(String(source))));
    await assertConsistent(bench.bucket, keys, 'c++/');
    t.diagnostic('1 point tried');
  });
});

describe('what is sent', () => {
  test('(aptly-dev/aptly#1437; storj/gateway-st#89; medplum/medplum#5491; retorquere/zotero-pkg#83) no framing, checksum, ACL or encoding, over all requests of an update', async (t) => {
    await using aged = await AgedRepository.make(1);
    const name = aged.copy();
    await aged.run(name).results;
    const requests = aged.bench.server.requests.filter(({ bucket }) => bucket === name);
    assert.ok(requests.some(({ verb }) => verb === 'LIST') && requests.some(({ verb }) => verb === 'DELETE'));
    for (const { headers, method } of requests) {
      const names = Object.keys(headers).join(' ');
      assert.doesNotMatch(names, /checksum|trailer|acl|content-encoding|transfer-encoding|x-amz-decoded|expect/);
      assert.doesNotMatch(`${headers['x-amz-content-sha256']}`, /STREAMING|UNSIGNED/);
      const signed = /SignedHeaders=([^,]*)/.exec(`${headers.authorization}`)?.[1] ?? '';
      // Google's front end changes these on the way.
      assert.doesNotMatch(signed, /accept-encoding|(?<!x-amz-)user-agent|connection/);
      if (method === 'PUT') assert.match(`${headers['content-length'] ?? 0}`, /^\d+$/);
    }
    t.diagnostic('1 point tried');
  });

  test('(rharkor/caching-for-turbo#309; aptly-dev/aptly#1113, #342) the session token goes out with every request', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const credentials = { ...rigCredentials, sessionToken: 'the/session+token' };
    const { requests, warnings } = await bench.publish([suiteOf('bookworm', bench.debs.add('hello'))], {
      store: { credentials },
    });
    for (const { headers } of requests) assert.equal(headers['x-amz-security-token'], credentials.sessionToken);
    const stored = bench.bucket.keys().map((key) => `${key} ${bench.bucket.text(key)}`);
    for (const text of [...stored, ...warnings]) {
      for (const secret of [credentials.sessionToken, credentials.secretAccessKey, credentials.accessKeyId]) {
        assert.ok(!text.includes(secret));
      }
    }
    t.diagnostic('1 point tried');
  });
});

describe('what is stored', () => {
  test('(aptly-dev/aptly#647, #649; openai/codex#43968; gardenlinux/gardenlinux#1544) every object has its type and its caching, after the renames too', async (t) => {
    await using aged = await AgedRepository.make(1);
    const name = aged.copy();
    await aged.run(name).results;
    const bucket = aged.bench.server.objects(name);
    const kinds: readonly (readonly [name: RegExp, type: RegExp, caching: RegExp])[] = [
      [/^pool\//, /^application\/vnd\.debian\.binary-package$/, /immutable/],
      [/\/binary-.*\/by-hash\//, /^application\/gzip$/, /immutable/],
      [/\/by-hash\//, /^text\/plain; charset=utf-8$/, /immutable/],
      [/^dists\/.*\.gz$/, /^application\/gzip$/, /^(no-cache|max-age=\d{1,3}\b)/],
      [/Release\.gpg$/, /^application\/pgp-signature$/, /^(no-cache|max-age=\d{1,3}\b)/],
      [/Release$/, /^text\/plain; charset=utf-8$/, /^(no-cache|max-age=\d{1,3}\b)/],
      [/^\.apt-publish\//, /^(application\/json|text\/plain; charset=utf-8)$/, /^no-store$/],
    ];
    for (const key of bucket.keys()) {
      const kind = kinds.find(([pattern]) => pattern.test(key));
      assert.ok(kind !== undefined, key);
      const { headers = {} } = bucket.get(key) ?? {};
      assert.match(headers['content-type'] ?? '', kind[1], key);
      assert.match(headers['cache-control'] ?? '', kind[2], key);
      assert.equal(headers['content-encoding'], undefined, key);
      if (!key.startsWith('.apt-publish/')) assert.match(headers['cache-control'] ?? '', /no-transform/, key);
    }
    t.diagnostic('1 point tried');
  });

  test('(aws/aws-cli#4809) pool, then by-hash, then record, then canonical names, then the head, then removals', async (t) => {
    await using aged = await AgedRepository.make(1);
    const name = aged.copy();
    const effects = new Effects(aged.bench.server.objects(name));
    await aged.run(name).results;
    const stageOf = ({ change, key }: { change: string; key: string }) => {
      if (change === 'removed') return 5;
      if (key.startsWith('pool/') || key.includes('/by-hash/')) return 1;
      if (key === '.apt-publish/bookworm.json') return 2;
      if (key.endsWith('.gz') || key.endsWith('.gpg')) return 3;
      if (key.endsWith('Release')) return 4;
      return 5;
    };
    const stages = effects.all.map(stageOf);
    assert.deepEqual(
      stages,
      stages.toSorted((a, b) => a - b),
    );
    assert.deepEqual([...new Set(stages)], [1, 2, 3, 4, 5]);
    t.diagnostic('1 point tried');
  });
});

describe('what an answer is taken for', () => {
  test('a bucket that does not exist is no new repository', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    const run = bench.run([suiteOf('bookworm', bench.debs.add('hello'))], { store: { bucket: 'missing' } });
    const problem = await problemOf(run.results);
    assert.equal(problem.code, 'store-bucket-missing');
    assert.match(problem.advice, /create the bucket first/);
    t.diagnostic('1 point tried');
  });

  test('(ROCm/ROCmValidationSuite#1330) a read that fails for good writes nothing, whichever it is', async (t) => {
    await using aged = await AgedRepository.make(12);
    const reads = (await aged.places(aged.copy())).filter(({ place }) => place.verb === 'GET').slice(0, 3);
    for (const { place } of reads) {
      for (const when of ['before', 'after'] as const) {
        const name = aged.copy();
        const effects = new Effects(aged.bench.server.objects(name));
        using _ = aged.bench.server.intercept(({ verb, key, bucket }) =>
          bucket === name && verb === 'GET' && key === place.key ? { do: 'drop', when } : undefined,
        );
        await problemOf(aged.run(name).results);
        assert.deepEqual(effects.all, []);
      }
    }
    t.diagnostic(`${2 * reads.length} points tried`);
  });

  test('(krobertson/deb-s3#66) 403 for a missing key of a live repository stops an update before the first write', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt));
    await bench.publish([suiteOf('bookworm', bench.debs.add('one'))]);
    const effects = new Effects(bench.bucket);
    using _ = bench.server.intercept(({ verb, key }) =>
      verb === 'PUT' || bench.bucket.has(key)
        ? undefined
        : { do: 'answer', when: 'before', status: 403, code: 'AccessDenied' },
    );
    const problem = await problemOf(bench.run([suiteOf('bookworm', bench.debs.add('two', { Version: '2' }))]).results);
    assert.equal(problem.code, 'store-access-denied');
    assert.match(problem.advice, /s3:ListBucket/);
    assert.deepEqual(effects.all, []);
    t.diagnostic('1 point tried');
  });

  test('(aptly-dev/aptly#1179) a part that is denied leaves no open upload, and nothing is listed', async (t) => {
    await using bench = await Workbench.open(new TestClock(publishedAt), { quirks: { maxBody: 8 * 1024 ** 2 } });
    const path = join(bench.debs.folder, 'large.deb');
    writeFileSync(path, buildDeb({ files: { large: Buffer.alloc(20 * 1024 ** 2) }, dataPacking: 'none' }));
    using _ = bench.server.intercept(({ verb, query }) =>
      verb === 'PART' && query.get('partNumber') === '2'
        ? { do: 'answer', when: 'before', status: 403, code: 'AccessDenied' }
        : undefined,
    );
    const problem = await problemOf(bench.run([suiteOf('bookworm', path)]).results);
    assert.equal(problem.code, 'store-access-denied');
    assert.equal(bench.bucket.uploads.size, 0);
    assert.ok(!bench.bucket.has('dists/bookworm/InRelease'));
    t.diagnostic('1 point tried');
  });
});

test('what was judged', (t) => t.diagnostic(`${counts}`));
