import { createHash } from 'node:crypto';
import type { RunRecord } from '../timing/record.ts';
import type { PhaseSpan, Span } from '../timing/span.ts';

/** Receivers refuse larger messages: 4 MiB is what gRPC takes by default. Room is left for what encloses the spans. */
const largestBatch = 4_000_000 - 10_000;

/** Enum values of opentelemetry/proto/trace/v1/trace.proto; JSON has the numbers. */
const kinds = { internal: 1, client: 3 } as const;
const statusError = 2;
const ordinary: ReadonlySet<string> = new Set(['ok', 'not-found', 'precondition-failed', 'cancelled']);

type Value = { readonly stringValue: string } | { readonly intValue: string };
interface Attribute {
  readonly key: string;
  readonly value: Value;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code: number; readonly message: string };
}

/**
 * The run as OpenTelemetry spans, for Grafana, Jaeger and their like: one `ExportTraceServiceRequest` a line (OTLP file exporter), in
 * the JSON of OTLP: ids in hexadecimal, enums as numbers, lowerCamelCase, 64-bit numbers as decimal text. No line is larger than 4 MB.
 * The run is the root, its phases are below it, requests and work below their phases. Ids come from the record, so that
 * the same record gives the same trace. Attributes are a closed list, the same as in the record itself.
 */
export function renderOtlpTrace(record: RunRecord): string {
  return batches(otlpSpans(record))
    .map((spans) => `${JSON.stringify(exported(spans))}\n`)
    .join('');
}

function otlpSpans(record: RunRecord): OtlpSpan[] {
  const { started, durationMs, outcome, phases } = record;
  const traceId = hash(JSON.stringify([started, durationMs, outcome, phases]), 32);
  const id = (what: string) => hash(`${traceId} ${what}`, 16);
  const origin = BigInt(Date.parse(started)) * 1_000_000n;
  const nano = (ms: number) => String(origin + BigInt(Math.round(ms * 1000)) * 1000n);
  const times = ({ start, end }: { readonly start: number; readonly end: number }) => {
    return { startTimeUnixNano: nano(start), endTimeUnixNano: nano(end) };
  };
  const omitted = (record.omitted ?? []).reduce((sum, { spans }) => sum + spans, 0);
  const root: OtlpSpan = {
    traceId,
    spanId: id('run'),
    name: 'publish',
    kind: kinds.internal,
    ...times({ start: 0, end: durationMs }),
    attributes: attributes({ outcome, store: record.store.kind, suites: record.suites.length, omitted }),
    ...(outcome === 'failed' ? error(record.problems?.[0]?.code ?? 'failed') : {}),
  };
  return [
    root,
    ...phases.map((phase): OtlpSpan => {
      const spanId = id(`phase ${phase.id}`);
      return { traceId, spanId, parentSpanId: root.spanId, ...times(phase), ...describedPhase(phase) };
    }),
    ...record.spans.map((span, index): OtlpSpan => {
      const parentSpanId = id(`phase ${span.phase}`);
      return { traceId, spanId: id(`span ${index}`), parentSpanId, ...times(span), ...described(span) };
    }),
  ];
}

type Description = Pick<OtlpSpan, 'name' | 'kind' | 'attributes' | 'status'>;

function describedPhase({ name, suite, outcome }: PhaseSpan): Description {
  return {
    name,
    kind: kinds.internal,
    attributes: attributes({ suite, outcome }),
    ...(outcome === 'failed' ? error(outcome) : {}),
  };
}

function described(span: Span): Description {
  if (span.kind === 'work') {
    return { name: span.work, kind: kinds.internal, attributes: attributes({ bytes: span.bytes }) };
  }
  const { verb, object, outcome, bytesUp, bytesDown } = span;
  return {
    name: `${verb} ${object}`,
    kind: kinds.client,
    attributes: attributes({ verb, object, outcome, bytes_up: bytesUp, bytes_down: bytesDown }),
    ...(ordinary.has(outcome) ? {} : error(outcome)),
  };
}

function error(message: string): Pick<OtlpSpan, 'status'> {
  return { status: { code: statusError, message } };
}

function attributes(values: Readonly<Record<string, string | number | undefined>>): Attribute[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const told = typeof value === 'number' ? { intValue: String(value) } : { stringValue: value };
    return { key: `apt_publish.${name}`, value: told };
  });
}

/** Hexadecimal digits; never all zero, which would be no id (W3C Trace Context §3.2.2.3): a SHA-256 that begins so is not to be had. */
function hash(text: string, digits: 16 | 32): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

function batches(spans: readonly OtlpSpan[]): OtlpSpan[][] {
  const found: OtlpSpan[][] = [];
  let room = 0;
  for (const span of spans) {
    const size = Buffer.byteLength(JSON.stringify(span)) + 1;
    if (size > room) {
      found.push([]);
      room = largestBatch;
    }
    found.at(-1)?.push(span);
    room -= size;
  }
  return found;
}

function exported(spans: readonly OtlpSpan[]): object {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'apt-publish' } }] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'apt-publish' }, spans }] }] };
}
