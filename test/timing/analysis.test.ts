import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { analyse, type PhaseAnalysis } from '../../src/timing/analysis.ts';
import type { PhaseSpan, Span } from '../../src/timing/span.ts';
import { phase, request, sampleRecord, work } from './record-samples.ts';

function analysed(phases: readonly PhaseSpan[], spans: readonly Span[], durationMs = 1000): PhaseAnalysis {
  const [first, ...more] = analyse({ ...sampleRecord, durationMs, phases, spans }).phases;
  assert.ok(first !== undefined && more.length === 0);
  return first;
}

suite('the time of a phase', () => {
  test('is that of its stretches without counting overlaps twice', () => {
    const { wall, share } = analysed(
      [phase(0, 'stage', 0, 100), phase(1, 'stage', 50, 200), phase(2, 'stage', 300, 400)],
      [],
    );
    assert.equal(wall, 300);
    assert.equal(share, 0.3);
  });

  test('is 0 % of a run that took no time', () => {
    assert.equal(analysed([phase(0, 'plan', 0, 0)], [], 0).share, 0);
  });

  test('and what lies outside all phases add up to the run', () => {
    const { phases, outside } = analyse(sampleRecord);
    assert.deepEqual(
      phases.map(({ name, wall }) => [name, wall]),
      [
        ['read', 100],
        ['scan', 290],
        ['upload', 600],
      ],
    );
    assert.equal(outside, 100);
  });

  test('phases come in the order of the transaction', () => {
    const phases = [phase(0, 'commit', 0, 1), phase(1, 'read', 5, 6)];
    assert.deepEqual(
      analyse({ ...sampleRecord, phases, spans: [] }).phases.map(({ name }) => name),
      ['read', 'commit'],
    );
  });
});

suite('requests', () => {
  test('are counted by verb with their bytes', () => {
    const { requests, bytesUp, bytesDown } = analysed(
      [phase(0, 'read', 0, 100)],
      [
        request(0, 0, 10),
        request(0, 0, 10, { verb: 'GET', bytesUp: 0, bytesDown: 7 }),
        request(0, 0, 10, { verb: 'GET', bytesUp: 0, bytesDown: 8 }),
      ],
    );
    assert.deepEqual(
      [...requests],
      [
        ['GET', 2],
        ['PUT', 1],
      ],
    );
    assert.deepEqual([bytesUp, bytesDown], [100, 15]);
  });

  test('that may be repeated are retries, those that may not are errors, and answers are neither', () => {
    const outcomes = [
      'throttled',
      'timeout',
      'connection',
      'server',
      'failed',
      'not-found',
      'precondition-failed',
      'ok',
    ] as const;
    const { retries, errors } = analysed(
      [phase(0, 'read', 0, 9)],
      outcomes.map((outcome) => request(0, 0, 1, { outcome })),
    );
    assert.deepEqual([retries, errors], [4, 1]);
  });

  test('have percentiles that were really measured', () => {
    const spans = Array.from({ length: 100 }, (_, index) => request(0, 0, index + 1));
    assert.deepEqual(analysed([phase(0, 'upload', 0, 100)], spans).time, { p50: 50, p95: 95, max: 100 });
    assert.deepEqual(analysed([phase(0, 'upload', 0, 9)], [request(0, 2, 9)]).time, { p50: 7, p95: 7, max: 7 });
    assert.equal(analysed([phase(0, 'upload', 0, 9)], []).time, undefined);
  });

  test('that the record leaves out count, with their bytes, and are not timed', () => {
    const omitted = [
      { phase: 0, verb: 'PUT', spans: 90, bytesUp: 900, bytesDown: 0 },
      { phase: 0, spans: 5, bytesUp: 0, bytesDown: 0 },
    ] as const;
    const record = { ...sampleRecord, phases: [phase(0, 'upload', 0, 100)], spans: [request(0, 0, 10)], omitted };
    const [upload] = analyse(record).phases;
    assert.deepEqual([upload?.requests.get('PUT'), upload?.bytesUp, upload?.waves], [91, 1000, 1]);
  });

  test('of other phases do not count', () => {
    const phases = [phase(0, 'read', 0, 10), phase(1, 'stage', 10, 20)];
    const [read] = analyse({ ...sampleRecord, phases, spans: [request(1, 10, 20)] }).phases;
    assert.equal(read?.requests.size, 0);
  });
});

suite('depth', () => {
  const depth = (spans: readonly Span[]) => {
    const { waves, highestInFlight } = analysed([phase(0, 'stage', 0, 1000)], spans);
    return { waves, highestInFlight };
  };

  test('of requests side by side is one', () => {
    const spans = Array.from({ length: 8 }, (_, index) => request(0, index, 50 + index));
    assert.deepEqual(depth(spans), { waves: 1, highestInFlight: 8 });
  });

  test('of requests one after another is their number, also when they touch', () => {
    const spans = Array.from({ length: 8 }, (_, index) => request(0, index * 10, index * 10 + 10));
    assert.deepEqual(depth(spans), { waves: 8, highestInFlight: 1 });
  });

  test('is that of the longest chain, whatever one long request does beside it', () => {
    const spans = [
      request(0, 0, 500),
      ...Array.from({ length: 5 }, (_, index) => request(0, index * 20, index * 20 + 20)),
    ];
    assert.deepEqual(depth(spans), { waves: 5, highestInFlight: 2 });
  });

  test('times the round trip is the least possible time', () => {
    const spans = [
      request(0, 0, 10),
      request(0, 10, 30),
      request(0, 30, 60),
      request(0, 0, 900, { bytesUp: 1_000_000 }),
    ];
    const { roundTrip, phases } = analyse({ ...sampleRecord, phases: [phase(0, 'stage', 0, 900)], spans });
    assert.equal(roundTrip, 10);
    assert.equal(phases[0]?.least, 30);
  });

  test('has no least time when no small request was answered', () => {
    const spans = [request(0, 0, 10, { verb: 'LIST' }), request(0, 0, 10, { outcome: 'timeout' })];
    const { roundTrip, phases } = analyse({ ...sampleRecord, phases: [phase(0, 'stage', 0, 900)], spans });
    assert.equal(roundTrip, undefined);
    assert.ok(phases[0] && !('least' in phases[0]));
  });
});

suite('stragglers', () => {
  const many = (inPhase: number, start: number) =>
    Array.from({ length: 19 }, () => request(inPhase, start, start + 10));

  test('cost what the last twentieth takes longer', () => {
    const spans = [...many(0, 0), request(0, 0, 90)];
    const last = request(0, 0, 90);
    assert.deepEqual(analysed([phase(0, 'upload', 0, 120)], spans).stragglers, { cost: 80, requests: 1, last });
  });

  test('are added up over a phase that was repeated', () => {
    const spans = [...many(0, 0), request(0, 0, 90), ...many(1, 200), request(1, 200, 230)];
    const { stragglers } = analysed([phase(0, 'upload', 0, 100), phase(1, 'upload', 200, 300)], spans);
    assert.deepEqual(stragglers, { cost: 100, requests: 2, last: request(0, 0, 90) });
  });

  test('of suites side by side are one wait', () => {
    const spans = [...many(0, 0), request(0, 0, 90), ...many(1, 0), request(1, 0, 90)];
    const { stragglers } = analysed([phase(0, 'upload', 0, 100), phase(1, 'upload', 0, 100)], spans);
    assert.equal(stragglers.cost, 80);
    assert.equal(stragglers.requests, 2);
  });

  test('are two of 28, one of nine, and none of one', () => {
    const late = (number: number, of: number) => [
      ...Array.from({ length: of - number }, () => request(0, 0, 100)),
      ...Array.from({ length: number }, () => request(0, 0, 580)),
    ];
    const found = (spans: readonly Span[]) => analysed([phase(0, 'rename', 0, 580)], spans).stragglers;
    assert.deepEqual([found(late(2, 28)).cost, found(late(2, 28)).requests], [480, 2]);
    assert.deepEqual([found(late(1, 9)).cost, found(late(1, 9)).requests], [480, 1]);
    assert.deepEqual(found(late(1, 1)), { cost: 0, requests: 0 });
  });

  test('are not requests that only began later', () => {
    const spans = Array.from({ length: 9 }, (_, index) => request(0, index * 100, index * 100 + 100));
    assert.deepEqual(analysed([phase(0, 'rename', 0, 900)], spans).stragglers, { cost: 0, requests: 0 });
  });
});

suite('idle time', () => {
  test('is where neither a request nor work was going on for 20 ms', () => {
    const spans = [request(0, 10, 20), request(0, 15, 40), work(0, 60, 100), request(0, 119, 130)];
    assert.deepEqual(analysed([phase(0, 'index', 0, 160)], spans).idle, { gaps: 2, total: 50 });
  });

  test('is not the time between two stretches of the phase', () => {
    const phases = [phase(0, 'claim', 0, 10), phase(1, 'claim', 500, 510)];
    assert.deepEqual(analysed(phases, [request(0, 0, 10), request(1, 500, 510)]).idle, { gaps: 0, total: 0 });
  });

  test('is the whole of a phase that recorded nothing', () => {
    assert.deepEqual(analysed([phase(0, 'wait', 100, 400)], []).idle, { gaps: 1, total: 300 });
  });
});
