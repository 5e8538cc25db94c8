import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { holdUpsOf } from '../../src/report/hold-ups.ts';
import { analyse } from '../../src/timing/analysis.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import type { PhaseSpan, Span } from '../../src/timing/span.ts';
import { phase, request, sampleRecord, work } from '../timing/record-samples.ts';

const copy = { verb: 'COPY', object: 'index', bytesUp: 0 } as const;

/** The lines that a run gives rise to, with blanks where GitHub shows blanks. */
function lines(durationMs: number, phases: readonly PhaseSpan[], spans: readonly Span[]): string[] {
  const record: RunRecord = { ...sampleRecord, durationMs, phases, spans };
  const told = holdUpsOf(record, analyse(record)).replaceAll('&nbsp;', ' ');
  return told.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
}

const probe = [phase(9, 'probe', 0, 100), request(9, 0, 100)] as const;

suite('what held a run up', () => {
  test('is its critical path, with the requests that followed one another', () => {
    const phases = [probe[0], phase(0, 'index', 100, 200), phase(1, 'stage', 200, 400)];
    const [path] = lines(400, phases, [probe[1], work(0, 100, 200), request(1, 200, 300), request(1, 300, 400)]);
    assert.equal(
      path,
      'Critical path: probe: PUT pool 25 % → index: hash 25 % → stage: 2 × PUT pool 50 %. 3 requests followed one another on it, which takes at least 300 ms of the 400 ms.',
    );
  });

  test('is a few late requests', () => {
    const spans = Array.from({ length: 28 }, (_, index) => request(0, 100, index < 26 ? 200 : 680, copy));
    const found = lines(700, [probe[0], phase(0, 'rename', 100, 680)], [probe[1], ...spans]);
    assert.ok(
      found.includes('rename waited 480 ms for 2 of 28 requests, the last of them COPY index, which took 580 ms.'),
      found.join('\n'),
    );
  });

  test('is depth that more requests in flight would take away', () => {
    const spans = Array.from({ length: 9 }, (_, index) => request(0, 100 + index * 100, 200 + index * 100, copy));
    const found = lines(1000, [probe[0], phase(0, 'rename', 100, 1000)], [probe[1], ...spans]);
    assert.equal(found[1], 'Near the ceiling of its depth: probe and rename.');
    assert.equal(
      found[2],
      'rename took 900 ms: 9 requests, at most 1 in flight, make 9 waves, which take at least 900 ms. It was near the ceiling of its depth; a higher `rename-concurrency` would make it less deep.',
    );
  });

  test('is not the depth of a phase that no input changes', () => {
    const spans = Array.from({ length: 4 }, (_, index) => request(0, 100 + index * 100, 200 + index * 100));
    const found = lines(500, [probe[0], phase(0, 'commit', 100, 500)], [probe[1], ...spans]);
    assert.equal(found.length, 2);
  });

  test('is requests that take many round trips', () => {
    const spans = Array.from({ length: 4 }, () => request(0, 100, 600, { bytesUp: 5_000_000 }));
    const found = lines(600, [probe[0], phase(0, 'upload', 100, 600)], [probe[1], ...spans]);
    assert.match(
      found[1] ?? '',
      /^Near the ceiling of its depth: probe; not near it: upload \(500 ms of at least 100 ms\)\.$/,
    );
    assert.match(found[2] ?? '', /^In upload, a request took 500 ms at the median, 5\.0 round trips/);
  });

  test('is idle time, but not the time of a phase that is made of waiting', () => {
    const phases = [phase(0, 'index', 0, 500), phase(1, 'wait', 500, 1000)];
    assert.deepEqual(lines(1000, phases, [work(0, 0, 100), work(0, 200, 400)]).slice(1), [
      'index had 2 gaps of 200 ms in all without a request or recorded work.',
    ]);
  });

  test('is every attempt that came to nothing, however little it cost', () => {
    const spans = [
      request(0, 0, 1, { outcome: 'throttled' }),
      request(0, 1, 2, { outcome: 'timeout' }),
      request(0, 2, 9_000),
    ];
    assert.match(
      lines(9000, [phase(0, 'upload', 0, 9000)], spans).join('\n'),
      /^In upload, 2 attempts did not get an answer that counts: 1 × throttled, 1 × timeout\.$/m,
    );
  });

  test('is nothing in a run that took no time or had no phase', () => {
    const record = { ...sampleRecord, phases: [], spans: [] };
    assert.equal(holdUpsOf(record, analyse(record)), '');
    const instant = { ...sampleRecord, durationMs: 0 };
    assert.equal(holdUpsOf(instant, analyse(instant)), '');
  });

  test('tells of requests that were sent a second time, and not of copies that were given up', () => {
    const spans = [probe[1], request(0, 100, 600, { outcome: 'cancelled' }), request(0, 500, 600)];
    const hedges = { sent: 1, won: 1, wastedBytes: 4096 };
    const record: RunRecord = {
      ...sampleRecord,
      durationMs: 600,
      phases: [probe[0], phase(0, 'upload', 100, 600)],
      spans,
    };
    const told = (some: RunRecord) => holdUpsOf(some, analyse(some)).replaceAll('&nbsp;', ' ');
    assert.match(
      told({ ...record, hedges }),
      /1 late request was sent a second time, and 1 of them answered sooner for it; 4.1 kB were sent in vain\./,
    );
    assert.doesNotMatch(told(record), /sent a second time|did not get an answer/);
  });
});
