import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { renderSummary } from '../../src/report/summary.ts';
import type { PackageChange, RunRecord, SuiteOutcome } from '../../src/timing/record.ts';
import type { PhaseSpan } from '../../src/timing/span.ts';
import { phase, request, sampleRecord } from '../timing/record-samples.ts';

const limit = 1024 * 1024;
const [sampleSuite] = sampleRecord.suites;
assert.ok(sampleSuite);
const [samplePackage] = sampleSuite.packages;
assert.ok(samplePackage);

/** The sample with its suite changed. */
function withSuite(change: Partial<SuiteOutcome>): RunRecord {
  return { ...sampleRecord, suites: [{ ...(sampleSuite as SuiteOutcome), ...change }] };
}

function packages(number: number, more: Partial<PackageChange> = {}): PackageChange[] {
  return Array.from({ length: number }, (_, index) => ({
    ...(samplePackage as PackageChange),
    package: `p${index}`,
    ...more,
  }));
}

function failing(name: PhaseSpan['name']): PhaseSpan {
  return { ...phase(9, name, 7, 8), suite: 'bookworm', outcome: 'failed' };
}

const lines = (record: RunRecord, sourcesEntry?: string) =>
  renderSummary(record, sourcesEntry === undefined ? {} : { sourcesEntry }).split('\n');

suite('the headline says', () => {
  const headline = (record: RunRecord) => lines(record)[0];

  test('what was published, into which suites, and how long it took', () => {
    assert.equal(headline(sampleRecord), '## Published 2 packages into <code>bookworm</code> in 1.0 s');
    const suites = [sampleSuite, { ...sampleSuite, suite: 'trixie', packages: [] }];
    assert.match(
      headline({ ...sampleRecord, suites }) ?? '',
      /into <code>bookworm<\/code> and <code>trixie<\/code> in/,
    );
  });

  test('only the suites that changed, and not a hundred names', () => {
    const suites = Array.from({ length: 100 }, (_, index) => ({
      ...sampleSuite,
      suite: `s${index}`,
      changed: index > 0,
    }));
    assert.match(
      headline({ ...sampleRecord, suites }) ?? '',
      /into <code>s1<\/code>, .*<code>s5<\/code> and 94 more in/,
    );
  });

  test('that nothing had to be done', () => {
    const [first, , second] = lines({ ...withSuite({ changed: false, packages: [] }), outcome: 'unchanged' });
    assert.equal(first, '## Nothing to publish');
    assert.match(second ?? '', /^Everything asked for is already in <code>bookworm<\/code>, as was found in 1\.0 s\.$/);
  });

  test('that it was a dry run', () => {
    assert.equal(
      headline({ ...sampleRecord, outcome: 'dry-run' }),
      '## Dry run: 2 packages would change in <code>bookworm</code>',
    );
    const none = { ...withSuite({ changed: false, packages: [] }), outcome: 'dry-run' } as const;
    assert.equal(headline(none), '## Dry run: nothing would change in <code>bookworm</code>');
    const problems = [{ code: 'a-b', title: 'Twice', what: 'It is there.', advice: 'Build it anew.' }];
    assert.deepEqual(lines({ ...sampleRecord, outcome: 'dry-run', problems }).slice(0, 5), [
      '## Dry run: publishing would fail: Twice',
      '',
      'It is there. Build it anew.',
      '',
      'Without that:',
    ]);
  });

  test('what failed and what to do', () => {
    const problem = {
      code: 'store-access-denied',
      title: 'Access denied',
      what: 'The store said no.',
      advice: 'Ask @admin.',
    };
    const [first, , second] = lines({ ...sampleRecord, outcome: 'failed', problems: [problem] });
    assert.equal(first, '## Publishing failed: Access denied');
    assert.equal(second, 'The store said no. Ask @\u200Badmin.');
    assert.match(headline({ ...sampleRecord, outcome: 'failed' }) ?? '', /## Publishing failed after 1\.0 s/);
  });

  const left: Record<string, [PhaseSpan[], RegExp]> = {
    'before the claim, nothing that clients see': [
      [failing('stage')],
      /in the phase \*stage\*\. Clients see nothing of this run\./,
    ],
    'at the claim, nothing that clients see': [[failing('claim')], /Clients see nothing of this run\./],
    'after the claim, something to finish': [[failing('rename')], /Begun in <code>bookworm<\/code>: the next run/],
    'at the commit, something to finish': [[failing('commit')], /Begun in <code>bookworm<\/code>: the next run/],
    'while cleaning, a published suite': [
      [failing('clean')],
      /Published all the same: <code>bookworm<\/code>\. Clients see nothing else/,
    ],
    'in one of two suites, the other one published': [
      [{ ...phase(8, 'commit', 5, 6), suite: 'trixie' }, failing('rename')],
      /Published all the same: <code>trixie<\/code>\. Begun in <code>bookworm<\/code>/,
    ],
  };
  for (const [name, [phases, expected]] of Object.entries(left)) {
    test(`what a failure leaves: ${name}`, () => {
      const problem = { code: 'a-b', title: 'T', what: 'W.', advice: 'A.' };
      assert.match(renderSummary({ ...sampleRecord, outcome: 'failed', problems: [problem], phases }, {}), expected);
    });
  }
});

suite('the page shows', () => {
  const page = renderSummary(sampleRecord, { sourcesEntry: 'Types: deb\nURIs: https://example.org\n' });

  test('how many packages of which size were added, replaced and removed', () => {
    assert.match(
      page,
      /^1 added \(53 kB\) and 1 replaced \(900 B\)\. 2 index files written: 2\.2 kB, \+1\.1 kB from before\.$/m,
    );
  });

  test('every package', () => {
    assert.match(
      page,
      /^\| added \| <code>hello<\/code> \| <code>1&#58;2\.10-3\+b1&#126;bpo12<\/code> \| <code>amd64<\/code> \| <code>bookworm main<\/code> \| 53&nbsp;kB \|$/m,
    );
    assert.match(page, /^\| replaced \| <code>libfoo\+\+<\/code> /m);
  });

  test('every phase with its requests and times', () => {
    const shown = page.replaceAll('&nbsp;', ' ');
    assert.match(shown, /^\| read \| 100 ms \| 10 % \| 2 GET \| – \| 801 kB \| 40, 40, 40 ms \| 1 \| 2 \| 80 ms \|$/m);
    assert.match(shown, /^\| scan \| 290 ms \| 29 % \| – \|/m);
    assert.match(
      shown,
      /^\| upload \| 600 ms \| 60 % \| 3 PUT \| 53 kB \| – \| 60, 470, 470 ms \| 2 \| 2 \| 80 ms \|$/m,
    );
    assert.match(shown, /A round trip to the store took 40 ms/);
  });

  test('what spans the record leaves out', () => {
    const omitted = [{ phase: 2, verb: 'PUT', spans: 1234, bytesUp: 0, bytesDown: 0 }] as const;
    assert.match(
      renderSummary({ ...sampleRecord, omitted }, {}),
      /^.*1,234 requests and pieces of work are counted but not timed/m,
    );
    assert.doesNotMatch(page, /not timed/);
  });

  test('what held the run up, a diagram of it, and what each index has grown by', () => {
    assert.match(page, /^### What held it up\n\n- Critical path: /m);
    assert.match(page, /^```mermaid\ngantt\n/m);
    assert.match(page, /Packages\.gz<\/code> \| 1\.2&nbsp;kB \| \+100&nbsp;B \| <code>hello<\/code> 700 B \|$/m);
  });

  test('what the store can do', () => {
    assert.match(page, /It holds conditional writes/);
    const weak = renderSummary({ ...sampleRecord, store: { kind: 's3', conditions: 'none' } }, {});
    assert.match(weak, /It holds no conditional writes.*Do not let them run side by side/);
  });

  test('warnings, and no heading without them', () => {
    assert.match(page, /^### Warnings\n\n- Signing key ABCD expires/m);
    assert.doesNotMatch(renderSummary({ ...sampleRecord, warnings: [] }, {}), /Warnings/);
  });

  test('the entry for apt in a fence, and no heading without it', () => {
    assert.match(page, /^```text\nTypes: deb\nURIs: https:\/\/example\.org\n```$/m);
    assert.doesNotMatch(renderSummary(sampleRecord, {}), /Use this repository/);
  });

  test('many packages folded', () => {
    assert.doesNotMatch(renderSummary(withSuite({ packages: packages(24) }), {}), /<details><summary>24 packages/);
    assert.match(
      renderSummary(withSuite({ packages: packages(25) }), {}),
      /<details><summary>25 packages<\/summary>\n\n\|[\s\S]*\n\n<\/details>\n/,
    );
  });
});

suite('a page too large', () => {
  const huge = 'x'.repeat(limit + 1);

  test('loses rows of packages and says how many', () => {
    const page = renderSummary(withSuite({ packages: packages(30_000) }), { sourcesEntry: 'Types: deb' });
    const shown = page.match(/^\| added /gm)?.length ?? 0;
    const left = Number(/^([\d,]+) more packages, left out/m.exec(page)?.[1]?.replaceAll(',', ''));
    assert.equal(shown + left, 30_000);
    const size = Buffer.byteLength(page);
    assert.ok(size <= limit && size > limit - 1000, `${size}`);
    for (const kept of [/Types: deb/, /^\| upload /m, /Signing key/, /<\/details>/]) assert.match(page, kept);
  });

  test('loses warnings only when no package is left', () => {
    const record = {
      ...sampleRecord,
      warnings: Array.from({ length: 3000 }, (_, index) => `${index} ${'y'.repeat(1900)}`),
    };
    const page = renderSummary(record, {});
    assert.ok(Buffer.byteLength(page) <= limit);
    assert.match(page, /^2 more packages, left out/m);
    assert.match(page, /^- … and [\d,]+ more warnings$/m);
    assert.match(page, /^\| upload /m);
  });

  test('loses an entry that alone is too large', () => {
    const page = renderSummary(sampleRecord, { sourcesEntry: huge });
    assert.ok(Buffer.byteLength(page) < 10_000);
    assert.match(page, /too large for this page/);
  });

  test('keeps to the limit whatever is long', () => {
    const problem = { code: huge, title: huge, what: huge, advice: '|'.repeat(limit) };
    const names = { suite: huge, packages: packages(2000, { version: '😀'.repeat(2000), component: huge }) };
    const page = renderSummary(
      { ...withSuite(names), outcome: 'failed', problems: [problem], warnings: Array(2000).fill(huge) },
      { sourcesEntry: huge },
    );
    assert.ok(Buffer.byteLength(page) <= limit);
    assert.ok(Buffer.byteLength(renderSummary(withSuite(names), { sourcesEntry: huge })) <= limit);
  });
});

suite('it never throws', () => {
  const nonsense = { ...sampleRecord, durationMs: Number.NaN, spans: [request(99, 5, 1), request(0, Number.NaN, -5)] };
  const records: Record<string, RunRecord> = {
    'on an empty run': { ...sampleRecord, durationMs: 0, suites: [], phases: [], spans: [], warnings: [] },
    'on numbers that are none': nonsense,
    'on a change without suites': { ...sampleRecord, suites: [] },
    'on text that breaks tables': withSuite({
      suite: 'a|b\n',
      packages: packages(3, { package: '|\n`@x`', version: '</code>' }),
    }),
    'on spans without phases': { ...sampleRecord, phases: [] },
  };
  for (const [name, record] of Object.entries(records))
    test(name, () => assert.ok(renderSummary(record, {}).startsWith('## ')));
});

test('cmark-gfm sees three whole tables', {
  skip: spawnSync('cmark-gfm', ['--version']).error && 'cmark-gfm is not installed',
}, () => {
  const hostile = withSuite({ packages: packages(30, { package: 'a|b', version: '`|`', component: '\\' }) });
  const { stdout } = spawnSync('cmark-gfm', ['--unsafe', '-e', 'table'], {
    input: renderSummary(hostile, {}),
    encoding: 'utf8',
  });
  const tables = [...stdout.matchAll(/<table>[\s\S]*?<\/table>/g)].map(([table]) => table);
  assert.deepEqual(
    tables.map((table) => table.match(/<td/g)?.length),
    [30 * 6, 2 * 4, 3 * 10],
  );
});
