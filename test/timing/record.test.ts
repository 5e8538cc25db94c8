import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Problem } from '../../src/problem.ts';
import { parseRunRecord } from '../../src/timing/parse-record.ts';
import { makeRunRecord } from '../../src/timing/record.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { sampleRecord } from './record-samples.ts';

const problem = new Problem({ code: 'x-y', title: 'T', what: 'W.', advice: 'A.', cause: new Error('secret') });

suite('a run record', () => {
  const { schema: _, started, ...parts } = sampleRecord;

  test('is made in the order in which things began, whatever was recorded first', () => {
    const reversed = { ...parts, phases: [...parts.phases].reverse(), spans: [...parts.spans].reverse() };
    assert.deepEqual(makeRunRecord({ ...reversed, started: Date.parse(started) }), sampleRecord);
  });

  test('has times in microseconds', () => {
    const odd = {
      ...parts,
      durationMs: 1 / 3,
      started: 0,
      spans: [],
      phases: [{ id: 0, name: 'read', start: 0.1 + 0.2, end: 2 / 3, outcome: 'ok' }],
    } as const;
    const record = makeRunRecord(odd);
    assert.deepEqual([record.durationMs, record.phases[0]?.start, record.phases[0]?.end], [0.333, 0.3, 0.667]);
  });

  test('tells a problem without its cause', () => {
    const record = makeRunRecord({ ...parts, started: 0, outcome: 'failed', problems: [problem] });
    assert.deepEqual(record.problems, [{ code: 'x-y', title: 'T', what: 'W.', advice: 'A.' }]);
    assert.doesNotMatch(JSON.stringify(record), /secret/);
  });

  test('of a recorder survives writing and reading', async () => {
    let now = 0;
    const clock = { now: () => 0, monotonic: () => (now += 1.5), sleep: async () => {} };
    const recorder = new Recorder(clock);
    await recorder.phase('scan', undefined, (scope) => scope.work('hash', 5, () => 1));
    await recorder.phase('upload', 'bookworm', async (scope) => {
      scope.request({
        verb: 'PUT',
        object: 'pool',
        start: scope.now(),
        end: scope.now(),
        bytesUp: 5,
        bytesDown: 0,
        outcome: 'ok',
      });
    });
    const record = makeRunRecord({
      ...parts,
      started: 0,
      phases: recorder.phases,
      spans: recorder.spans,
      durationMs: recorder.now(),
    });
    assert.deepEqual(parseRunRecord(JSON.stringify(record)), record);
    assert.equal(record.spans.length, 2);
  });
});

suite('reading a run record', () => {
  const problems = [{ code: 'a', title: 'b', what: 'c', advice: 'd' }];
  const failed = { ...sampleRecord, outcome: 'failed', problems };
  const before = { at: '2026-01-01T00:00:00.000Z', durationMs: 900, phases: [{ phase: 'read', ms: 80 }] };
  const refused = { ...sampleRecord, outcome: 'dry-run', problems };
  const hedged = { ...sampleRecord, hedges: { sent: 2, won: 1, wastedBytes: 4096 } };
  const beside = { ...sampleRecord, suites: sampleRecord.suites.map((suite) => ({ ...suite, before })) };

  test('gives back what was written', () => {
    for (const record of [sampleRecord, failed, refused, beside, hedged])
      assert.deepEqual(parseRunRecord(JSON.stringify(record)), record);
  });

  /** The sample as JSON with the value at a path (`spans.0.verb`) replaced, or taken away by undefined. */
  function changed(path: string, value: unknown): string {
    const copy = structuredClone<Record<string, unknown>>({ ...sampleRecord });
    const names = path.split('.');
    const last = names.pop() ?? '';
    let target = copy;
    for (const name of names) target = target[name] as Record<string, unknown>;
    target[last] = value;
    return JSON.stringify(copy);
  }

  const refusals: Record<string, [string, RegExp]> = {
    'text that is not JSON': ['{', /it is not JSON/],
    'no object': ['[]', /the whole is not an object/],
    'another schema': [changed('schema', 'apt-publish/run/2'), /schema is none of/],
    'a contributor of another unit': [
      changed('suites.0.indexes.0.contributors', [{ package: 'a', amount: 1, unit: 'files' }]),
      /suites\[0\]\.indexes\[0\]\.contributors\[0\]\.unit is none of bytes, paths/,
    ],
    'spans left out of no phase': [
      changed('omitted', [{ phase: 9, spans: 1, bytesUp: 0, bytesDown: 0 }]),
      /omitted\[0\]\.phase is the id of no phase/,
    ],
    'a missing field': [changed('durationMs', undefined), /durationMs is missing/],
    'an unknown field': [changed('bucket', 'mine'), /bucket is not a field/],
    'an unknown field deep inside': [changed('spans.0.url', 'https://'), /spans\[0\]\.url is not a field/],
    'a field of another kind of span': [changed('spans.1.verb', 'GET'), /spans\[1\]\.verb is not a field/],
    'a verb that is none': [changed('spans.0.verb', 'POST'), /spans\[0\]\.verb is none of GET/],
    'a kind of span that is none': [changed('spans.0.kind', 'cpu'), /spans\[0\]\.kind is none of request/],
    'half a hedge': [changed('hedges', { sent: 0.5, won: 0, wastedBytes: 0 }), /hedges\.sent is not a whole number/],
    'a negative time': [changed('durationMs', -1), /durationMs is not a number from 0 up/],
    'a time that is text': [changed('durationMs', '1000'), /durationMs is not a number/],
    'a time that is null, as JSON writes NaN': [changed('durationMs', null), /durationMs is not a number/],
    'half a byte': [changed('spans.0.bytesUp', 0.5), /bytesUp is not a whole number/],
    'a date without a zone': [changed('started', '2026-01-02T03:04:05'), /started is not a moment/],
    'a date that does not exist': [changed('started', '2026-13-02T03:04:05Z'), /started is not a moment/],
    'a list that is none': [changed('warnings', 'x'), /warnings is not a list/],
    'a flag that is text': [changed('suites.0.changed', 'yes'), /suites\[0\]\.changed is neither/],
    'a name that is a number': [changed('suites.0.suite', 12), /suites\[0\]\.suite is not text/],
    'a span of no phase': [changed('spans.0.phase', 99), /phase is the id of no phase/],
    'a span that ends before it begins': [changed('spans.2.start', 95), /spans\[2\]\.end lies before/],
    'a phase that ends before it begins': [changed('phases.1.end', 5), /phases\[1\]\.end lies before/],
    'two phases of one id': [changed('phases.1.id', 0), /phases\[1\]\.id is that of another phase/],
    'problems where nothing failed': [changed('problems', problems), /problems goes with no failure/],
    'problems that are none': [JSON.stringify({ ...failed, problems: [] }), /problems is empty/],
    'times of a phase that is none': [
      changed('suites.0.before', { ...before, phases: [{ phase: 'lunch', ms: 1 }] }),
      /suites\[0\]\.before\.phases\[0\]\.phase is none of read/,
    ],
  };
  for (const [name, [json, words]] of Object.entries(refusals)) {
    test(`refuses ${name}`, () => {
      assert.throws(
        () => parseRunRecord(json),
        (error: Problem) => {
          assert.equal(error.code, 'run-record-invalid');
          assert.match(error.what, words);
          return true;
        },
      );
    });
  }

  test('refuses a forged prototype', () => {
    const json = JSON.stringify(sampleRecord).replace('{', '{"__proto__":{"x":1},');
    assert.throws(() => parseRunRecord(json), /__proto__ is not a field/);
  });
});
