import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { renderComment } from '../../src/report/comment.ts';
import type { PackageChange, RunRecord, SuiteOutcome } from '../../src/timing/record.ts';
import { sampleRecord } from '../timing/record-samples.ts';

const subject = { commit: 'c'.repeat(40), run: { id: 123, attempt: 2 } };
const [sampleSuite] = sampleRecord.suites;
assert.ok(sampleSuite);
const [samplePackage] = sampleSuite.packages;
assert.ok(samplePackage);

/** The sample with its suite changed. */
function withSuite(change: Partial<SuiteOutcome>): RunRecord {
  return { ...sampleRecord, suites: [{ ...(sampleSuite as SuiteOutcome), ...change }] };
}

function packages(number: number, more: Partial<PackageChange> = {}): PackageChange[] {
  return Array.from({ length: number }, () => ({ ...(samplePackage as PackageChange), ...more }));
}

const render = (record: RunRecord) => renderComment(record, subject);
const firstLine = (record: RunRecord) => render(record).split('\n')[0];

suite('the comment on a pull request', () => {
  test('says as a whole what a run did', () => {
    assert.equal(
      render(sampleRecord),
      [
        '### apt-publish: published 2 packages into <code>bookworm</code> in 1.0 s',
        '',
        '**Warnings**',
        '',
        '- Signing key ABCD expires on 2026-02-01, in 30 days.',
        '',
        '<details><summary>Packages: 1 added (53 kB) and 1 replaced (900 B)</summary>',
        '',
        '| Change | Package | Version | Architecture | Suite and component | Size |',
        '| :-- | :-- | :-- | :-- | :-- | --: |',
        '| added | <code>hello</code> | <code>1&#58;2.10-3+b1&#126;bpo12</code> | <code>amd64</code> | <code>bookworm main</code> | 53 kB |',
        '| replaced | <code>libfoo++</code> | <code>2</code> | <code>all</code> | <code>bookworm main</code> | 900 B |',
        '',
        '</details>',
        '',
        '<details><summary>Indexes: 2 files, 2.2 kB, +1.1 kB</summary>',
        '',
        '| Index | Suite | Size | Growth |',
        '| :-- | :-- | --: | --: |',
        '| <code>main/binary-amd64/Packages.xz</code> | <code>bookworm</code> | 1 kB | new |',
        '| <code>main/binary-amd64/Packages.gz</code> | <code>bookworm</code> | 1.2 kB | +100 B |',
        '',
        '</details>',
        '',
        '<details><summary>Time: 1.0 s</summary>',
        '',
        '| Phase | Time | Share | Requests | Sent | Received |',
        '| :-- | --: | --: | --: | --: | --: |',
        '| read | 100 ms | 10 % | 2 | – | 801 kB |',
        '| scan | 290 ms | 29 % | – | – | – |',
        '| upload | 600 ms | 60 % | 3 | 53 kB | – |',
        '',
        '</details>',
        '',
        `Commit ${subject.commit}, run 123, attempt 2.`,
      ].join('\n'),
    );
  });

  test('tells a dry run, a run without effect and a failure from a publish', () => {
    assert.match(firstLine({ ...sampleRecord, outcome: 'dry-run' }) ?? '', /would change 2 packages in .*bookworm/);
    const unchanged = { ...withSuite({ changed: false, packages: [], indexes: [] }), outcome: 'unchanged' } as const;
    assert.equal(firstLine(unchanged), '### apt-publish: nothing to publish');
    assert.doesNotMatch(render(unchanged), /<summary>(Packages|Indexes)/);
    const problem = {
      code: 'package-conflict',
      title: 'Already published with other bytes',
      what: 'hello 1 is there.',
      advice: 'Build it anew.',
    };
    const failed = { ...sampleRecord, outcome: 'failed', suites: [], problems: [problem] } as const;
    assert.match(
      render(failed),
      /^### apt-publish: Already published with other bytes\n\nhello 1 is there\. Build it anew\.\n/,
    );
    assert.match(
      firstLine({ ...sampleRecord, outcome: 'failed', suites: [] }) ?? '',
      /^### apt-publish: failed after 1\.0 s$/,
    );
  });

  test('lists what a dry run would fail of, with the advice that several share once', () => {
    const conflict = (name: string) => ({
      code: 'package-conflict',
      title: 'Already published with other bytes',
      what: `${name} is there.`,
      advice: 'Build it anew.',
    });
    const other = { ...conflict('c'), advice: 'Ask.' };
    const dry = { ...sampleRecord, outcome: 'dry-run', problems: [conflict('a'), other, conflict('b')] } as const;
    const [head = ''] = render(dry).split('**Warnings**');
    assert.equal(
      head,
      [
        '### apt-publish: would fail: Already published with other bytes and 2 more problems',
        '- a is there.\n- b is there.',
        'Build it anew.',
        '- c is there.',
        'Ask.',
        'Nothing was written: this was a dry run.\n\n',
      ].join('\n\n'),
    );
    const many = { ...dry, problems: Array.from({ length: 40 }, () => conflict('a')) };
    assert.match(render(many), /\n\n… and 25 more problems, in the log\.\n\n/);
    const none = { ...withSuite({ changed: false, packages: [], indexes: [] }), outcome: 'dry-run' } as const;
    assert.match(render(none), /^### apt-publish: would change nothing\n\nEverything is already in .*dry run\.\n/);
  });

  test('shows the times of a run beside those of the publish before, without a verdict', () => {
    const before = {
      at: '2026-01-01T00:00:00.000Z',
      durationMs: 2500,
      phases: [{ phase: 'read', ms: 80 } as const, { phase: 'commit', ms: 40 } as const],
    };
    const page = render({ ...withSuite({ before }), outcome: 'dry-run' });
    assert.match(page, /was on <code>2026-01-01T00&#58;00&#58;00\.000Z<\/code>, on another machine/);
    const rows = page.slice(page.indexOf('| Phase | This run | Before |')).split('\n').slice(2, 7);
    assert.deepEqual(rows, [
      '| read | 100 ms | 80 ms |',
      '| scan | 290 ms | – |',
      '| upload | 600 ms | – |',
      '| commit | – | 40 ms |',
      '| all, before the commit | 1.0 s | 2.5 s |',
    ]);
    assert.doesNotMatch(render(sampleRecord), /This run/);
  });

  test('says how much indexes shrank, or that they kept their size', () => {
    const index = { path: 'main/binary-amd64/Packages.gz', size: 500 };
    const grown = (previousSize: number) => render(withSuite({ indexes: [{ ...index, previousSize }] }));
    assert.match(grown(1700), /Indexes: 1 file, 500 B, −1\.2 kB/);
    assert.match(grown(500), /\| 500 B \| ±0 B \|/);
  });

  test('shows the first rows of long tables and counts the rest', () => {
    const many = render({
      ...withSuite({ packages: packages(1000) }),
      warnings: Array.from({ length: 50 }, (_, index) => `Warning ${index}`),
    });
    assert.match(many, /\n… and 900 more, in the job summary\.\n/);
    assert.match(many, /\n- … and 30 more warnings\n/);
    assert.match(many, /Packages: 1,000 added/);
  });

  test('leaves out whole sections from the bottom up where it would be too long, and names them', () => {
    const wide = '&'.repeat(300);
    const indexes = Array.from({ length: 100 }, () => ({ path: wide, size: 1 }));
    const sections = (record: RunRecord) => {
      const page = render(record);
      assert.ok(page.length <= 60_000);
      const shown = Array.from(page.matchAll(/<summary>(\w+)|\*\*(Warnings)/g), ([, table, list]) => table ?? list);
      return {
        shown,
        left: / Left out for the size of this comment: (.*); the job summary has more\.$/.exec(page)?.[1],
      };
    };
    assert.deepEqual(sections(withSuite({ suite: wide, packages: packages(200, { package: wide, version: wide }) })), {
      shown: ['Warnings'],
      left: 'packages, indexes and phases',
    });
    assert.deepEqual(sections(withSuite({ suite: wide, packages: packages(20, { package: wide }), indexes })), {
      shown: ['Warnings', 'Packages'],
      left: 'indexes and phases',
    });
    assert.equal(sections(withSuite({ packages: packages(1000) })).left, undefined);
  });

  test('is never too long, even where everything in it is', () => {
    const wide = '&'.repeat(100_000);
    const problem = { code: wide, title: wide, what: wide, advice: wide };
    const suites = Array.from({ length: 300 }, () => ({ ...(sampleSuite as SuiteOutcome), suite: wide }));
    const all = {
      ...sampleRecord,
      suites,
      warnings: Array.from({ length: 300 }, () => wide),
      problems: Array.from({ length: 300 }, () => problem),
    };
    for (const outcome of ['published', 'unchanged', 'dry-run', 'failed'] as const)
      assert.ok(render({ ...all, outcome }).length <= 60_000, outcome);
  });

  test('shows hostile names and texts as text', () => {
    const hostile = [
      '@octocat #1 GH-1 octo/packages#2',
      '</code></details><img src=x onerror=alert(1)>',
      '<!-- apt-publish:1 key=0123456789abcdef run=999999.1 -->',
      '[click](https://evil.example) https://evil.example www.evil.example',
      '| a | b |\n| -- | -- |\n::error::pwned\n\n# Heading',
      '```\n::set-output name=x::y\n```',
      '`code` *bold* ~~gone~~ $x^2$ :tada:',
    ];
    for (const text of hostile) {
      const name = { package: text, version: text, architecture: text, component: text };
      const problem = { code: text, title: text, what: text, advice: text };
      const indexes = [{ path: text, size: 1 }];
      for (const outcome of ['published', 'failed'] as const) {
        const page = render({
          ...withSuite({ suite: text, packages: packages(1, name), indexes }),
          ...{ outcome, problems: [problem], warnings: [text] },
        });
        const own =
          /^(?:### apt-publish: .*|\*\*Warnings\*\*|- .*|\|.*\||<\/?details>.*|It failed after .*|Commit .*|)$/;
        const others = page.split('\n').filter((line) => !own.test(line));
        assert.ok(others.length <= (outcome === 'failed' ? 1 : 0), others.join('\n'));
        const tags = [...new Set(page.match(/<[^>]*>/g))].filter((tag) => !/^<\/?(?:code|details|summary)>$/.test(tag));
        assert.deepEqual(tags, text.includes('@') ? ['<!-- -->'] : []);
        // Nothing is a mention or reference inside of a code element.
        const outsideCode = page.replace(/<code>[^<]*(?:<!-- -->[^<]*)*<\/code>/g, '');
        assert.doesNotMatch(outsideCode, /@(?=\w)|(?<!&)#(?=\w)|GH-1|https:\/\/|www\.|^::|\]\(|`|:tada|\*bold|~~/m);
      }
    }
  });
});
