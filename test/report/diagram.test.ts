import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { diagramOf } from '../../src/report/diagram.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import { phaseNames } from '../../src/timing/span.ts';
import { phase, request, sampleRecord } from '../timing/record-samples.ts';

const bar = /^ {4}(?!section|dateFormat|axisFormat|todayMarker)(.+) :(?:done, |crit, )?(\d+), (\d+)$/gm;
const bars = (record: RunRecord) =>
  [...diagramOf(record).matchAll(bar)].map(([, label = '', start, end]) => [label, Number(start), Number(end)]);

suite('the diagram', () => {
  test('has a bar for the run, for every phase, and for every wave of a phase that has several', () => {
    assert.deepEqual(bars(sampleRecord), [
      ['run 1.0 s', 0, 1000],
      ['read 100 ms', 0, 100],
      ['wave 1 of 2, 1 request', 0, 40],
      ['wave 2 of 2, 1 request', 50, 90],
      ['scan 290 ms', 10, 300],
      ['upload 600 ms', 300, 900],
      ['wave 1 of 2, 1 request', 300, 360],
      ['wave 2 of 2, 2 requests', 400, 880],
    ]);
  });

  test('shows the same in characters, to scale', () => {
    const [, plain = ''] = /```text\n([\s\S]*?)```/.exec(diagramOf(sampleRecord)) ?? [];
    const widths = plain
      .trimEnd()
      .split('\n')
      .map((line) => line.match(/[█▒]/g)?.length ?? 0);
    assert.deepEqual(widths, [48, 5, 2, 2, 14, 29, 3, 23]);
    assert.equal(
      new Set(
        plain
          .trimEnd()
          .split('\n')
          .map((line) => line.length),
      ).size,
      1,
    );
  });

  test('marks what failed', () => {
    const failed = { ...phase(0, 'claim', 0, 900), outcome: 'failed' } as const;
    const record = { ...sampleRecord, outcome: 'failed', phases: [failed], spans: [] } as const;
    assert.match(
      diagramOf(record),
      /^ {4}run 1\.0 s :crit, 0, 1000\n {4}section claim\n {4}claim failed after 900 ms :crit, 0, 900$/m,
    );
  });

  test('puts the stretches of suites side by side into one bar', () => {
    const phases = [phase(0, 'stage', 0, 500), phase(1, 'stage', 100, 800)];
    assert.deepEqual(bars({ ...sampleRecord, phases, spans: [] })[1], ['stage 800 ms, 2 stretches', 0, 800]);
  });

  test('has at most 30 bars and 20,000 characters, whatever the run was', () => {
    const phases = Array.from({ length: 400 }, (_, index) =>
      phase(index, phaseNames[index % phaseNames.length] ?? 'read', index * 100, index * 100 + 90),
    );
    const spans = Array.from({ length: 20_000 }, (_, index) => request(index % 400, index * 2, index * 2 + 1));
    const record = { ...sampleRecord, durationMs: 4000, phases, spans };
    assert.equal(bars(record).length, 30);
    assert.ok(diagramOf(record).length < 20_000);
    assert.ok(bars({ ...record, phases: [phase(0, 'rename', 0, 4000)] }).length <= 30);
  });

  test('leaves out what is too short to be seen, and itself when there is nothing to show', () => {
    const phases = [phase(0, 'plan', 0, 1), phase(1, 'index', 1, 1000)];
    assert.deepEqual(
      bars({ ...sampleRecord, phases, spans: [] }).map(([label]) => label),
      ['run 1.0 s', 'index 999 ms'],
    );
    assert.equal(diagramOf({ ...sampleRecord, phases: [] }), '');
    assert.equal(diagramOf({ ...sampleRecord, durationMs: 0 }), '');
  });
});
