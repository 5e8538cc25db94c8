import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { renderChromeTrace } from '../../src/report/chrome-trace.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import type { Span } from '../../src/timing/span.ts';
import { Generator } from '../debian/generator.ts';
import { phase, request, sampleRecord, work } from '../timing/record-samples.ts';

interface Event {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

function events(record: RunRecord, ph: string): Event[] {
  const trace: { traceEvents: Event[] } = JSON.parse(renderChromeTrace(record));
  return trace.traceEvents.filter((event) => event.ph === ph);
}

function slices(record: RunRecord): Event[] {
  return events(record, 'X');
}

/** A run of many requests and pieces of work at random, some of no length, in whole and broken milliseconds. */
function busyRun(): RunRecord {
  const random = new Generator(7);
  const spans = Array.from({ length: 2000 }, (_, index): Span => {
    const start = random.below(4000) / 4;
    const end = start + random.below(4) * random.below(40) * 0.25;
    return index % 3 === 0 ? work(index % 5, start, end) : request(index % 5, start, end);
  });
  const phases = Array.from({ length: 5 }, (_, id) => ({ ...phase(id, 'upload', id, 1100 - id), suite: `s${id}` }));
  return { ...sampleRecord, durationMs: 1100, phases, spans };
}

suite('the trace for viewers', () => {
  test('has a slice for every phase, request and piece of work, in microseconds', () => {
    const found = slices(sampleRecord);
    assert.equal(found.length, sampleRecord.phases.length + sampleRecord.spans.length);
    assert.deepEqual(
      found.filter(({ pid }) => pid === 1).map(({ name, ts, dur }) => [name, ts, dur]),
      [
        ['read', 0, 100_000],
        ['upload bookworm', 300_000, 600_000],
        ['scan', 10_000, 290_000],
      ],
    );
    assert.ok(found.every(({ ts, dur }) => Number.isInteger(ts) && Number.isInteger(dur)));
  });

  test('never lets two slices of one track overlap or share their moment', () => {
    const tracks = Map.groupBy(slices(busyRun()), ({ pid, tid }) => `${pid} ${tid}`);
    assert.ok(tracks.size > 10);
    for (const track of tracks.values()) {
      for (const [index, { ts }] of track.entries()) {
        const before = track[index - 1];
        if (before !== undefined) assert.ok(before.ts + Math.max(1, before.dur) <= ts);
      }
    }
  });

  test('has no more tracks than there are slices side by side', () => {
    const spans = Array.from({ length: 300 }, (_, index) => request(0, index, index + 7.5));
    const tracks = new Set(
      slices({ ...sampleRecord, spans })
        .filter(({ pid }) => pid === 2)
        .map(({ tid }) => tid),
    );
    assert.equal(tracks.size, 8);
  });

  test('names every process and track that it uses', () => {
    const named = new Set(events(busyRun(), 'M').map(({ pid, tid, name }) => `${name} ${pid} ${tid ?? ''}`.trim()));
    for (const { pid, tid } of slices(busyRun())) {
      assert.ok(named.has(`process_name ${pid}`));
      assert.ok(named.has(`thread_name ${pid} ${tid}`));
    }
  });

  test('counts the requests in flight, and bytes that add up to what was sent', () => {
    const counters = events(busyRun(), 'C');
    const last = counters.filter(({ name }) => name === 'in flight').at(-1);
    assert.deepEqual(last?.args, { requests: 0 });
    const rates = events(sampleRecord, 'C').filter(({ name }) => name === 'bytes a second');
    const sum = (way: string) => rates.reduce((total, { args }) => total + Number(args[way]) * 0.002, 0);
    assert.ok(Math.abs(sum('down') - 800_500) < 1000, `${sum('down')}`);
    // The attempt that was throttled sent its bytes for nothing.
    assert.ok(Math.abs(sum('up') - 53_100) < 100, `${sum('up')}`);
  });

  test('says only what is in the closed list', () => {
    const allowed = ['outcome', 'suite', 'phase', 'bytes', 'bytesUp', 'bytesDown'];
    for (const { args } of slices(busyRun()))
      for (const name of Object.keys(args)) assert.ok(allowed.includes(name), name);
  });

  test('is whole for a run without spans', () => {
    assert.deepEqual(slices({ ...sampleRecord, phases: [], spans: [] }), []);
  });
});
