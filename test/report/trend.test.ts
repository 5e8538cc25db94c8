import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderTrend } from '../../src/report/trend.ts';

const at = '2026-01-31T12:00:00.000Z';

describe('the trend of a suite', () => {
  it('has a table for each command, with the phases that its runs had', () => {
    const text = renderTrend('bookworm', [
      {
        command: 'publish',
        generation: 12,
        at,
        durationMs: 1500,
        phases: [
          { phase: 'read', ms: 40 },
          { phase: 'wait', ms: 900 },
        ],
      },
      { command: 'republish', generation: 11, at, durationMs: 300, phases: [{ phase: 'read', ms: 50 }] },
      { command: 'publish', generation: 10, at, durationMs: 800, phases: [{ phase: 'read', ms: 60 }] },
    ]);
    assert.deepEqual(text.split('\n').slice(2), [
      'publish',
      '  generation                        at  to commit   read    wait',
      '          12  2026-01-31T12:00:00.000Z      1.5 s  40 ms  900 ms',
      '          10  2026-01-31T12:00:00.000Z     800 ms  60 ms       –',
      '',
      'republish',
      '  generation                        at  to commit   read',
      '          11  2026-01-31T12:00:00.000Z     300 ms  50 ms',
      '',
    ]);
    assert.match(text, /not to judge by/);
  });

  it('says so where nothing is kept', () => {
    assert.equal(renderTrend('bookworm', []), 'No times of suite bookworm are kept.\n');
  });
});
