import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { clip, code, fence, type Inline, md, prose, tableHead, tableRow, unbroken } from '../../src/report/markdown.ts';

/** What somebody could put into a package name, a version, or the answer of a server. */
const hostile = [
  'plain text, with 1:2.3-4+b1~rc1',
  'a | b || c \\| d',
  '`code` ``more`` `',
  '<script>alert(1)</script><img src=x onerror=y>',
  '</code></td></table><h1>x',
  '<!-- hidden',
  '&lt;b&gt; &#64;user &amp;',
  '@user and @org/team, mail me@example.org',
  '#123, GH-45, owner/repo#6',
  '[link](https://evil.example) ![image](x.png)',
  'https://evil.example and www.evil.example',
  '**bold** _it_ ~~gone~~ __x__ *',
  'line\nbreak\r\n# heading\n\n| a | b |\n|---|---|\n',
  '::error file=x::message',
  '::set-output name=x::y',
  '##[error]message',
  '# heading',
  '- item',
  '1. item',
  '1) item',
  '+ item',
  '> quote',
  '===',
  '---',
  ':smile: $x^2$ $$y$$',
  'back\\slash \\* \\',
  '\u202Egnp.exe',
  'zero\u200Bwidth\u0000\u001b[31m',
  '[x]: http://evil.example',
  '[^1] {.class}',
  '    indented',
  '',
];

/** What a reader is meant to see of it: one line, and no character that is not seen. */
const seen = (text: string) => text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '\uFFFD').trim();

const cmark = spawnSync('cmark-gfm', ['--version']).error === undefined;
const skip = cmark ? false : 'cmark-gfm is not installed';

/** Rendered as GitHub does it: with its extensions, and raw HTML let through. */
function rendered(markdown: string): string {
  const extensions = ['table', 'autolink', 'strikethrough', 'tasklist'].flatMap((name) => ['-e', name]);
  const result = spawnSync('cmark-gfm', ['--unsafe', ...extensions], { input: markdown, encoding: 'utf8' });
  assert.equal(result.status, 0, result.stderr);
  return result.stdout;
}

/** The text of a page without the marks that break mentions, whose own text is `tags` removed. */
function textOf(html: string, tags: RegExp): string {
  const named: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' };
  return html
    .replace(tags, '')
    .replaceAll('<!-- -->', '')
    .replace(/&(lt|gt|amp|quot);/g, (entity) => named[entity] ?? entity)
    .replaceAll('\u200B', '')
    .replace(/\s+/g, ' ')
    .trim();
}

suite('cmark-gfm shows hostile text as that text', { skip }, () => {
  test('in prose, at the beginning of a paragraph and of a list item', () => {
    for (const text of hostile) {
      assert.equal(textOf(rendered(`${prose(text)}\n`), /<\/?p>/g), seen(text));
      assert.equal(textOf(rendered(`- ${prose(text)}\n`), /<\/?(ul|li)>/g), seen(text));
    }
  });

  test('in code', () => {
    for (const text of hostile) {
      const html = rendered(`x ${code(text)} y\n`);
      assert.equal(textOf(html, /<\/?(p|code)>/g), `x ${seen(text)} y`.replace(/\s+/g, ' '));
      assert.equal(html.match(/<code>/g)?.length, 1);
    }
  });

  test('in the cells of a table, which stay where they are', () => {
    const columns = [{ title: prose('a') }, { title: prose('b'), align: 'right' as const }];
    const rows = hostile.map((text) => tableRow(columns, [prose(text), code(text)]));
    const html = rendered(`${tableHead(columns)}${rows.join('')}`);
    const cells = [...html.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => textOf(cell ?? '', /<\/?code>/g));
    assert.deepEqual(
      cells,
      hostile.flatMap((text) => [seen(text), seen(text)]),
    );
    assert.doesNotMatch(html, /<(a|h1|script|img|em|strong|del)\b/);
  });

  test('in a fence, line by line', () => {
    const text = '```\n````x\n# a\n<b>\n@user\n';
    const html = rendered(fence(text));
    assert.equal(html, '<pre><code class="language-text">```\n````x\n# a\n&lt;b&gt;\n@user\n</code></pre>\n');
  });
});

suite('what GitHub seeks in the finished page is broken', () => {
  const decoded = (text: string) =>
    prose(text).replace(/&#(\d+);/g, (_, digits: string) => String.fromCodePoint(Number(digits)));

  test('mentions, also in mail addresses', () => {
    assert.doesNotMatch(decoded('@user @org/team a@b.example'), /@\w/);
  });

  test('references to issues', () => {
    assert.doesNotMatch(decoded('#1 x/y#2 GH-3 gh-4'), /#\d|gh-\d/i);
  });

  test('addresses', () => {
    assert.doesNotMatch(decoded('https://a www.b ftp://c'), /:\/\/|www\./);
  });

  test('emoji', () => {
    assert.doesNotMatch(decoded(':+1: :smile:'), /:smile:/);
  });
});

suite('no line is a command to the runner', () => {
  for (const text of [
    '::error::x',
    '  ::error::x',
    '\t::add-mask::x',
    'a\n::stop-commands::x',
    '##[error]x',
    'a\n##[group]x',
  ]) {
    test(JSON.stringify(text), () => {
      for (const page of [prose(text), code(text), fence(text)]) assert.doesNotMatch(page, /^\s*::|##\[/m);
    });
  }
});

suite('a table proves its columns', () => {
  const columns = [{ title: prose('a') }, { title: prose('b') }];

  test('a row of another length is a defect', () => {
    assert.throws(() => tableRow(columns, [prose('1')]), /1 cells in a table of 2/);
    assert.throws(() => tableRow(columns, ['1', '2', '3'].map(prose)), /3 cells in a table of 2/);
  });

  test('a cell that would break out is a defect', () => {
    for (const raw of ['a|b', 'a\nb', 'a\rb']) {
      assert.throws(() => tableRow(columns, [prose('1'), raw as Inline]), /Cell 2 of a table row/);
    }
  });
});

test('fences keep text as it is but for line ends, trailing lines and what cannot be seen', () => {
  assert.equal(fence('Types: deb\r\nSuites: x\n\n\n'), '```text\nTypes: deb\nSuites: x\n```\n');
  assert.equal(fence('\ttab\u0000\u202E'), '```text\n\ttab\uFFFD\uFFFD\n```\n');
});

test('a cell that must not break has no blank to break at, and is escaped all the same', () => {
  assert.equal(unbroken('1.2 kB | x'), '1.2&nbsp;kB&nbsp;&#124;&nbsp;x');
});

test('clipping cuts no character in two', () => {
  assert.equal(clip('abc', 3), 'abc');
  assert.equal(clip('abcd', 3), 'ab…');
  assert.equal(clip('a😀bc', 3), 'a…');
});

test('md joins what is escaped to markup of our own', () => {
  assert.equal(md`**${prose('a*b')}** ${code('c')}`, '**a&#42;b** <code>c</code>');
});
