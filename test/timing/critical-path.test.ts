import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { criticalPath } from '../../src/timing/critical-path.ts';
import type { PhaseSpan, Span } from '../../src/timing/span.ts';
import { phase, request, sampleRecord, work } from './record-samples.ts';

function path(durationMs: number, phases: readonly PhaseSpan[], spans: readonly Span[]) {
  const parts = criticalPath({ ...sampleRecord, durationMs, phases, spans });
  assert.equal(
    parts.reduce((sum, { time }) => sum + time, 0),
    durationMs,
  );
  return parts.map(({ phase: name, what, time, requests }) => [name, what, time, requests]);
}

suite('the critical path', () => {
  const stage = phase(0, 'stage', 0, 100);

  test('goes through the request that ended last, not through those beside it', () => {
    const spans = [request(0, 0, 30), request(0, 0, 100), request(0, 30, 60)];
    assert.deepEqual(path(100, [stage], spans), [['stage', 'PUT pool', 100, 1]]);
  });

  test('names neighbours of one kind once, with their number', () => {
    const spans = [work(0, 0, 40), request(0, 40, 70), request(0, 70, 100)];
    assert.deepEqual(path(100, [stage], spans), [
      ['stage', 'hash', 40, 0],
      ['stage', 'PUT pool', 60, 2],
    ]);
  });

  test('blames a gap on the phase that began last, and one outside of all on none', () => {
    const phases = [phase(0, 'read', 0, 400), phase(1, 'index', 100, 200)];
    assert.deepEqual(path(500, phases, [request(0, 0, 110), request(0, 150, 400)]), [
      ['read', 'PUT pool', 110, 1],
      ['index', 'gap', 40, 0],
      ['read', 'PUT pool', 250, 1],
      [undefined, 'gap', 100, 0],
    ]);
  });

  test('gives a short pause to what follows it, or at the end to what was before', () => {
    assert.deepEqual(path(100, [stage], [request(0, 5, 40), request(0, 50, 95)]), [['stage', 'PUT pool', 100, 2]]);
  });

  test('of a run without spans is a gap, and of a run that took no time nothing', () => {
    assert.deepEqual(path(100, [stage], []), [['stage', 'gap', 100, 0]]);
    assert.deepEqual(path(0, [phase(0, 'plan', 0, 0)], [request(0, 0, 0)]), []);
  });
});
