import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { historyLines, renderHistory } from '../../src/report/history.ts';

const made = { at: '2026-01-31T12:00:00.000Z', added: 0, replaced: 0, removed: 0, packages: [] };
const generations = [
  {
    number: 3,
    state: 'live',
    durationMs: 2100,
    headSha256: `ab${'0'.repeat(62)}`,
    made: {
      ...made,
      command: 'publish',
      by: 'octo-org/tool, run 1',
      added: 2,
      removed: 1,
      packages: ['hello', '@octocat'],
    },
  },
  { number: 2, state: 'kept', headSha256: 'c'.repeat(64), made: { ...made, command: 'republish' } },
  { number: 1, state: 'kept', headSha256: 'd'.repeat(64) },
] as const;

describe('the page of a history', () => {
  it('has a table for each suite and a row for each generation', () => {
    const page = renderHistory([
      ['bookworm', generations],
      ['trixie', generations.slice(2)],
    ]);
    assert.equal(page.match(/^## Generations of /gm)?.length, 2);
    assert.equal(page.match(/^\| [123]/gm)?.length, 4);
    assert.match(
      page,
      /^\| 3 \(live\) \| <code>2026-01-31T12&#58;00&#58;00\.000Z<\/code> .*publish: .*2 added, 1 removed \(hello, /m,
    );
    assert.match(page, /\| 2\.1 s \| <code>ab0000000000<\/code>/);
  });

  it('mentions nobody', () => {
    assert.doesNotMatch(renderHistory([['bookworm', generations]]), /@octocat/);
  });

  it('leaves out what is too much, and says where it is', () => {
    const many = Array.from({ length: 250 }, (_, index) => ({ ...generations[2], number: 250 - index }));
    const page = renderHistory([['bookworm', many]]);
    assert.equal(page.match(/^\| \d/gm)?.length, 200);
    assert.match(page, /50 older ones are in the output/);
  });
});

describe('the log of a history', () => {
  it('has a line for each generation', () => {
    assert.deepEqual(historyLines([['bookworm', generations]]), [
      'bookworm 3 (live) · 2026-01-31T12:00:00.000Z · publish · 2 added, 1 removed (hello, @octocat) · octo-org/tool, run 1 · ab0000000000',
      'bookworm 2 · 2026-01-31T12:00:00.000Z · republish · cccccccccccc',
      'bookworm 1 · made by another tool · dddddddddddd',
    ]);
  });
});
