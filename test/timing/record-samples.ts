import type { RunRecord } from '../../src/timing/record.ts';
import type { PhaseSpan, RequestSpan, WorkSpan } from '../../src/timing/span.ts';

export function phase(id: number, name: PhaseSpan['name'], start: number, end: number): PhaseSpan {
  return { id, name, start, end, outcome: 'ok' };
}

export function request(inPhase: number, start: number, end: number, more: Partial<RequestSpan> = {}): RequestSpan {
  const plain = { kind: 'request', verb: 'PUT', object: 'pool', bytesUp: 100, bytesDown: 0, outcome: 'ok' } as const;
  return { ...plain, phase: inPhase, start, end, ...more };
}

export function work(inPhase: number, start: number, end: number): WorkSpan {
  return { kind: 'work', phase: inPhase, work: 'hash', start, end, bytes: 1000 };
}

/** A run of three phases that published one package and replaced another. */
export const sampleRecord: RunRecord = {
  schema: 'apt-publish/run/1',
  started: '2026-01-02T03:04:05.000Z',
  durationMs: 1000,
  outcome: 'published',
  store: { kind: 's3', conditions: 'enforced' },
  suites: [
    {
      suite: 'bookworm',
      changed: true,
      generation: 7,
      packages: [
        {
          change: 'added',
          package: 'hello',
          version: '1:2.10-3+b1~bpo12',
          architecture: 'amd64',
          component: 'main',
          size: 53_100,
        },
        { change: 'replaced', package: 'libfoo++', version: '2', architecture: 'all', component: 'main', size: 900 },
      ],
      indexes: [
        {
          path: 'main/binary-amd64/Packages.gz',
          size: 1200,
          previousSize: 1100,
          contributors: [{ package: 'hello', amount: 700, unit: 'bytes' }],
        },
        { path: 'main/binary-amd64/Packages.xz', size: 1000 },
      ],
    },
  ],
  phases: [phase(0, 'read', 0, 100), phase(1, 'scan', 10, 300), { ...phase(2, 'upload', 300, 900), suite: 'bookworm' }],
  spans: [
    request(0, 0, 40, { verb: 'GET', object: 'record', bytesUp: 0, bytesDown: 500 }),
    work(1, 10, 290),
    request(0, 50, 90, { verb: 'GET', object: 'index', bytesUp: 0, bytesDown: 800_000 }),
    request(2, 300, 360, { outcome: 'throttled' }),
    request(2, 400, 440),
    request(2, 410, 880, { bytesUp: 53_000 }),
  ],
  warnings: ['Signing key ABCD expires on 2026-02-01, in 30 days.'],
};
