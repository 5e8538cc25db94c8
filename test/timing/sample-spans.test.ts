import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseRunRecord } from '../../src/timing/parse-record.ts';
import { makeRunRecord, type OmittedSpans } from '../../src/timing/record.ts';
import { mostSpans, sampleSpans } from '../../src/timing/sample-spans.ts';
import type { Span } from '../../src/timing/span.ts';
import { phase, request, sampleRecord, work } from './record-samples.ts';

const many = (count: number): Span[] => Array.from({ length: count }, (_, index) => request(0, index, index + 1));
const count = (omitted: readonly OmittedSpans[]) => omitted.reduce((sum, { spans }) => sum + spans, 0);

suite('the spans of a record', () => {
  test('are all kept up to the limit', () => {
    const spans = many(1000);
    assert.deepEqual(sampleSpans(spans, 1000), { spans, omitted: [] });
  });

  test('are a sample beyond it, in their order, with what is left out counted by phase and verb', () => {
    const spans: Span[] = [...many(2000), ...Array.from({ length: 500 }, (_, index) => work(1, index, index + 1))];
    const { spans: kept, omitted } = sampleSpans(spans, 1000);
    assert.equal(kept.length, 1000);
    assert.deepEqual(
      kept,
      spans.filter((span) => kept.includes(span)),
    );
    assert.equal(count(omitted), 1500);
    assert.deepEqual(
      omitted.map(({ phase: id, verb }) => [id, verb]),
      [
        [0, 'PUT'],
        [1, undefined],
      ],
    );
    assert.equal(omitted[0]?.bytesUp, 100 * (omitted[0]?.spans ?? 0));
  });

  test('always hold every error and the slowest 200', () => {
    const slow = Array.from({ length: 200 }, () => request(0, 0, 10));
    const errors = Array.from({ length: 300 }, (_, index) => request(0, index, index, { outcome: 'server' }));
    const { spans } = sampleSpans([...many(5000), ...slow, ...many(5000), ...errors], 1000);
    assert.equal(spans.length, 1000);
    for (const span of [...slow, ...errors]) assert.ok(spans.includes(span));
  });

  test('hold more errors than the limit rather than lose one', () => {
    const errors = Array.from({ length: 1500 }, () => request(0, 0, 2, { outcome: 'timeout' }));
    assert.equal(sampleSpans([...many(10), ...errors], 1000).spans.length, 1500);
  });

  test('are drawn evenly from beginning to end, and the same ones every time', () => {
    const spans = many(100_000);
    const { spans: kept } = sampleSpans(spans, 10_000);
    const tenths = Array.from({ length: 10 }, (_, tenth) =>
      kept.filter(({ start }) => Math.floor(start / 10_000) === tenth),
    );
    for (const { length } of tenths.slice(1)) assert.ok(length > 850 && length < 1150, `${length}`);
    assert.deepEqual(sampleSpans(spans, 10_000).spans, kept);
  });
});

test('a record of more spans than it may keep can be read back', () => {
  const { schema: _, started: __, ...parts } = sampleRecord;
  const record = makeRunRecord({ ...parts, started: 0, phases: [phase(0, 'upload', 0, 60_000)], spans: many(60_000) });
  assert.equal(record.spans.length, mostSpans);
  assert.equal(count(record.omitted ?? []), 60_000 - mostSpans);
  assert.deepEqual(parseRunRecord(JSON.stringify(record)), record);
});
