import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assess } from '../../src/perf/assess.ts';
import { change, type PerfState, renderPerfComment } from '../../src/report/perf-comment.ts';
import { base, head, pairing, sampleComparison, sampleScenario } from './comparison-samples.ts';

const subject = { base, head, pairing };
const done = (record: Parameters<typeof assess>[0]): PerfState => ({ state: 'done', ...assess(record, []) });
const plain = (text: string) =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).replaceAll('\u200B', '');

describe('the comment that answers /apt-perf', () => {
  it('has the whole answer in its first line: verdict, size, interval, band', () => {
    const text = plain(renderPerfComment(subject, done(sampleComparison([14, 15, 16, 15, 14, 16]))));
    assert.match(
      text,
      /^## apt-perf: slower: incremental \+15\.0 % \(95 % \+14\.0 % … \+16\.0 %\), noise band ±10\.0 %\n/,
    );
    assert.match(text, /\| Could detect \| a slowdown of \d+\.\d % or more \(four times in five\) \|/);
    assert.match(text, /\| incremental, judged \| 1\.0 s \| 1\.1 s \| \+15\.0 % \|/);
    assert.match(text, /\| incremental: requests \| 18 \| 18 \| same \|/);
    assert.match(text, /read ±0 ms · upload \+80 ms/);
    assert.match(text, /\+ means that the head takes longer/);
  });

  it('says how near both sides came to the ceiling, and what binds them', () => {
    const ceiling = { roundTripMs: 20, requests: 400, bytes: 90e6 };
    const text = (record: Parameters<typeof assess>[0]) => plain(renderPerfComment(subject, done(record)));
    const chain = { depth: 47, cpuMs: 950 };
    const scenarios = [sampleScenario('incremental', [0, 0, 0, 0, 0, 0], chain, { depth: 30 })];
    const told = text(sampleComparison([], { scenarios, ceiling }));
    assert.match(told, /The base runs at 60 % of the ceiling, bound by round trips; the head at 94 % of the ceiling/);
    assert.match(told, /took 1\.0 s, and 600 ms of that no client could save: bandwidth 3\.3 ms · requests 45 ms · /);
    assert.match(told, /The store gives 90 MB and 400 small writes a second, 20 ms a round trip\./);
    assert.doesNotMatch(told, /near the ceiling|keeps a processor busy/);
    const near = [sampleScenario('incremental', [0, 0, 0, 0, 0, 0], {}, chain)];
    assert.match(text(sampleComparison([], { scenarios: near, ceiling })), /- The base is near the ceiling/);
    assert.match(text(sampleComparison([], { scenarios: near })), /- The base keeps a processor busy/);
    assert.doesNotMatch(text(sampleComparison([], { scenarios: near })), /The base runs at|near the ceiling/);
    const slowLine = { ...ceiling, bytes: 400_000 };
    assert.match(
      text(sampleComparison([], { scenarios: near, ceiling: { ...slowLine, roundTripMs: 1 } })),
      /bound by bandwidth/,
    );
    const busy = [sampleScenario('incremental', [0, 0, 0, 0, 0, 0], { cpuMs: 3600 }, { cpuMs: 3600 })];
    assert.match(
      text(sampleComparison([], { scenarios: busy, ceiling })),
      /at 90 % of the ceiling, bound by processor/,
    );
  });

  it('says what size of change could hide behind a result that names no direction', () => {
    for (const percents of [
      [1, -1, 2, -2, 1, -1],
      [-20, 30, 10, -15, 25, -5],
    ]) {
      const text = plain(renderPerfComment(subject, done(sampleComparison(percents))));
      assert.match(text, /^## apt-perf: (within noise|inconclusive): /);
      const largest = Math.max(...percents.map((percent) => 100 * Math.expm1(Math.abs(Math.log1p(percent / 100)))));
      assert.ok(text.includes(`a change of ${largest.toFixed(1)} % could hide`), text);
    }
  });

  it('says of one pair that a change of any size could hide behind it', () => {
    // What another project once called "slower" and "within noise".
    for (const percent of [8.4, -1.7]) {
      const text = plain(renderPerfComment(subject, done(sampleComparison([percent]))));
      assert.match(text, /^## apt-perf: inconclusive: incremental [+−]\d\.\d % \(no interval\)/);
      assert.match(text, /with 1 pair a change of any size could hide; six are needed/);
      assert.match(text, /Fewer than six pairs: no verdict is possible/);
    }
  });

  it('judges nothing, and shows no change, where the sides did different work', () => {
    const scenarios = [sampleScenario('incremental', [9, 9, 9, 9, 9, 9], { repository: 'c'.repeat(64) })];
    const text = plain(renderPerfComment(subject, done(sampleComparison([], { scenarios }))));
    assert.match(text, /^## apt-perf: not comparable\n/);
    assert.match(text, /did not publish the same repository/);
    assert.doesNotMatch(text, /9\.0 %/);
  });

  it('has words for every other state', () => {
    const states: [PerfState, string][] = [
      [{ state: 'queued' }, 'queued'],
      [{ state: 'building' }, 'building both sides'],
      [{ state: 'running', runs: 3, of: 12 }, 'running, 3 of 12 runs done'],
      [{ state: 'failed', stage: 'measure', what: 'It broke.', advice: 'Mend it.' }, 'failed (measure)'],
      [{ state: 'refused', what: 'No.', advice: 'Ask.' }, 'refused'],
      [{ state: 'superseded' }, 'superseded'],
    ];
    for (const [state, words] of states) {
      assert.match(
        plain(renderPerfComment(subject, state)),
        new RegExp(`^## apt-perf: ${words.replaceAll(/[()]/g, '\\$&')}\n`),
      );
    }
  });

  it('fits into a comment with every run of every workload, and is safe to show', () => {
    const pairs = Array.from({ length: 12 }, (_, index) => index);
    const scenarios = (['incremental', 'cold', 'large', 'no-op', 'prune'] as const).map((name) =>
      sampleScenario(name, pairs),
    );
    const text = renderPerfComment({ ...subject, pairing: '@octocat <b>' }, done(sampleComparison([], { scenarios })));
    assert.ok(text.length < 60_000);
    assert.doesNotMatch(text, /@octocat|<b>/);
  });

  it('writes changes with their direction', () => {
    assert.deepEqual([0.0763, -0.0763, 0, 0.0001].map(change), ['+7.9 %', '−7.3 %', '±0.0 %', '±0.0 %']);
  });
});
