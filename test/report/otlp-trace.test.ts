import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import generated from '@opentelemetry/otlp-transformer/build/src/generated/root.js';
import { renderOtlpTrace } from '../../src/report/otlp-trace.ts';
import type { RunRecord } from '../../src/timing/record.ts';
import { request, sampleRecord } from '../timing/record-samples.ts';

/** What protobufjs makes of a message of OpenTelemetry's schema. */
interface MessageType {
  verify(message: object): string | null;
  fromObject(message: object): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): object;
}

/** The classes that OpenTelemetry generates from its own .proto files. */
const { opentelemetry } = generated as unknown as {
  opentelemetry: { proto: { collector: { trace: { v1: { ExportTraceServiceRequest: MessageType } } } } };
};
const { ExportTraceServiceRequest } = opentelemetry.proto.collector.trace.v1;

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status?: { readonly code: number; readonly message: string };
}

interface Batch {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
}

function batches(record: RunRecord): Batch[] {
  return renderOtlpTrace(record)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function spans(record: RunRecord): OtlpSpan[] {
  return batches(record).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
}

/** Ids are bytes in protobuf and, unlike in its ordinary JSON, hexadecimal digits in OTLP's. */
function mapIds(value: unknown, change: (id: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapIds(item, change));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, /Id$/.test(name) ? change(inner) : mapIds(inner, change)]),
  );
}

suite('the trace for OpenTelemetry', () => {
  test('survives the way through its protobuf messages without losing or changing a field', () => {
    const failed = {
      ...sampleRecord,
      outcome: 'failed',
      problems: [{ code: 'a', title: 'b', what: 'c', advice: 'd' }],
    } as const;
    for (const record of [sampleRecord, failed]) {
      for (const batch of batches(record)) {
        const message = mapIds(batch, (id) => Buffer.from(String(id), 'hex')) as object;
        const read = ExportTraceServiceRequest.fromObject(message);
        assert.equal(ExportTraceServiceRequest.verify(read), null);
        const decoded = ExportTraceServiceRequest.decode(ExportTraceServiceRequest.encode(read).finish());
        const plain = ExportTraceServiceRequest.toObject(decoded, { longs: String, enums: Number });
        const again = mapIds(plain, (id) => Buffer.from(id as Uint8Array).toString('hex'));
        assert.deepEqual(again, batch);
      }
    }
  });

  test('is a tree: the run, its phases, their requests and work', () => {
    const all = spans(sampleRecord);
    const byId = new Map(all.map((span) => [span.spanId, span]));
    assert.equal(byId.size, 1 + sampleRecord.phases.length + sampleRecord.spans.length);
    assert.deepEqual(new Set(all.map(({ traceId }) => traceId)).size, 1);
    const path = ({ name, parentSpanId }: OtlpSpan): string => {
      const parent = byId.get(parentSpanId ?? '');
      return parent === undefined ? name : `${path(parent)} > ${name}`;
    };
    assert.deepEqual(all.map(path), [
      'publish',
      'publish > read',
      'publish > scan',
      'publish > upload',
      'publish > read > GET record',
      'publish > scan > hash',
      'publish > read > GET index',
      'publish > upload > PUT pool',
      'publish > upload > PUT pool',
      'publish > upload > PUT pool',
    ]);
  });

  test('has ids of the right length, which are the same for the same record and others for another', () => {
    const ids = (record: RunRecord) => spans(record).map(({ traceId, spanId }) => `${traceId} ${spanId}`);
    for (const id of ids(sampleRecord)) assert.match(id, /^[0-9a-f]{32} [0-9a-f]{16}$/);
    assert.deepEqual(ids(sampleRecord), ids(structuredClone(sampleRecord)));
    assert.notDeepEqual(ids(sampleRecord), ids({ ...sampleRecord, started: '2026-01-02T03:04:05.001Z' }));
  });

  test('has times in nanoseconds since the epoch, as decimal text', () => {
    const [root] = spans(sampleRecord);
    assert.equal(root?.startTimeUnixNano, `${Date.parse(sampleRecord.started)}000000`);
    assert.equal(BigInt(root?.endTimeUnixNano ?? '') - BigInt(root?.startTimeUnixNano ?? ''), 1_000_000_000n);
  });

  test('marks as errors what got no answer, and not what was not found', () => {
    const outcomes = ['ok', 'not-found', 'precondition-failed', 'throttled', 'failed'] as const;
    const record = { ...sampleRecord, spans: outcomes.map((outcome) => request(0, 0, 1, { outcome })) };
    assert.deepEqual(
      spans(record)
        .slice(-5)
        .map(({ status }) => status?.message ?? ''),
      ['', '', '', 'throttled', 'failed'],
    );
  });

  test('says only what is in the closed list', () => {
    const keys = new Set(spans(sampleRecord).flatMap(({ attributes }) => attributes.map(({ key }) => key)));
    const allowed = [
      'outcome',
      'store',
      'suites',
      'omitted',
      'suite',
      'bytes',
      'verb',
      'object',
      'bytes_up',
      'bytes_down',
    ];
    assert.deepEqual([...keys].sort(), allowed.map((name) => `apt_publish.${name}`).sort());
  });

  test('comes in lines of less than 4 MB that hold everything', () => {
    const record = {
      ...sampleRecord,
      spans: Array.from({ length: 20_000 }, (_, index) => request(0, index, index + 1)),
    };
    const text = renderOtlpTrace(record);
    const sizes = text
      .trimEnd()
      .split('\n')
      .map((line) => Buffer.byteLength(line));
    assert.ok(sizes.length > 1 && sizes.every((size) => size < 4_000_000), sizes.join());
    assert.equal(spans(record).length, 1 + sampleRecord.phases.length + 20_000);
  });
});
