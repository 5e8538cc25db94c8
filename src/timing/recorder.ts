import type { Clock } from './clock.ts';
import type { PhaseName, PhaseSpan, RequestSpan, Span, WorkSpan } from './span.ts';

/** Told of everything as it happens: the log's progress lines come from here. */
export interface RecorderListener {
  phaseStarted?(phase: { id: number; name: PhaseName; suite?: string; total?: number }): void;
  /** A request or a piece of work of this phase has ended; `done` counts those ended so far. */
  progress?(phase: { id: number; name: PhaseName; suite?: string; total?: number; done: number }): void;
  phaseEnded?(phase: PhaseSpan, spans: readonly Span[]): void;
}

/** The phase that is running, handed to the work inside it. */
export interface PhaseScope {
  readonly id: number;
  readonly name: PhaseName;
  /** Milliseconds since the run began. */
  now(): number;
  /** Records an ended request of this phase. */
  request(span: Omit<RequestSpan, 'kind' | 'phase'>): void;
  /** Times a piece of CPU work of this phase; `bytes` is how much it read. */
  work<T>(work: WorkSpan['work'], bytes: number, run: () => T | Promise<T>): Promise<T>;
  /** Says how many requests or pieces of work are to be expected, so that progress can say "3 of 28". */
  expect(total: number): void;
}

/** Collects phases and spans in memory. One recorder a run; phases may overlap. */
export class Recorder {
  readonly phases: PhaseSpan[] = [];
  readonly spans: Span[] = [];
  readonly #clock: Clock;
  readonly #origin: number;
  readonly #listener: RecorderListener;
  #nextId = 0;

  constructor(clock: Clock, listener: RecorderListener = {}) {
    this.#clock = clock;
    this.#origin = clock.monotonic();
    this.#listener = listener;
  }

  /** Milliseconds since the recorder was made. */
  now(): number {
    return this.#clock.monotonic() - this.#origin;
  }

  /** Runs `work` as one stretch of a phase; the stretch is recorded whether it ends well or throws. */
  async phase<T>(name: PhaseName, suite: string | undefined, work: (scope: PhaseScope) => Promise<T>): Promise<T> {
    const id = this.#nextId++;
    const start = this.now();
    const named = { id, name, ...(suite === undefined ? {} : { suite }) };
    let total: number | undefined;
    let done = 0;
    const own: Span[] = [];
    const ended = (span: Span) => {
      this.spans.push(span);
      own.push(span);
      done += 1;
      this.#listener.progress?.({ ...named, ...(total === undefined ? {} : { total }), done });
    };
    const scope: PhaseScope = {
      id,
      name,
      now: () => this.now(),
      request: (span) => ended({ kind: 'request', phase: id, ...span }),
      work: async (kind, bytes, run) => {
        const from = this.now();
        try {
          return await run();
        } finally {
          ended({ kind: 'work', phase: id, work: kind, start: from, end: this.now(), bytes });
        }
      },
      expect: (count) => {
        total = count;
      },
    };
    this.#listener.phaseStarted?.(named);
    let outcome: PhaseSpan['outcome'] = 'failed';
    try {
      const result = await work(scope);
      outcome = 'ok';
      return result;
    } finally {
      const span: PhaseSpan = { ...named, start, end: this.now(), outcome };
      this.phases.push(span);
      this.#listener.phaseEnded?.(span, own);
    }
  }
}
